package runtimetest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpctl/mcpctl/runtime"
)

// checkHeaders compares the headers that repeat a message which claims a revision.
// Schema returns the raw input schema of a tool, nil for none.
func checkHeaders(h http.Header, m wireMessage, claim string, schema func(tool string) json.RawMessage) error {
	want := map[string]string{"Mcp-Protocol-Version": claim, "Mcp-Method": m.Method}
	switch m.Method {
	case "tools/call", "prompts/get":
		want["Mcp-Name"] = wireField(m.Params, "name")
	case "resources/read":
		want["Mcp-Name"] = wireField(m.Params, "uri")
	case "tasks/get", "tasks/update", "tasks/cancel":
		want["Mcp-Name"] = wireField(m.Params, "taskId")
	}
	if m.ID == nil {
		want = map[string]string{"Mcp-Protocol-Version": claim}
	}
	for name, value := range want {
		if err := same(h, name, value); err != nil {
			return err
		}
	}
	if m.Method != "tools/call" {
		return nil
	}
	return checkParams(h, schema(want["Mcp-Name"]), wireMember(m.Params, "arguments"))
}

// same says why a header does not say value, nil where it does.
func same(h http.Header, name, value string) error {
	got := h.Values(name)
	if len(got) != 1 {
		return mismatch("%d headers %s, want one", len(got), name)
	}
	plain, ok := unwrap(got[0])
	if !ok || plain != value {
		return mismatch("%s %q does not match body %q", name, got[0], value)
	}
	if got[0] == value && mustWrap(value) {
		return mismatch("%s %q must be encoded", name, got[0])
	}
	return nil
}

func mismatch(format string, a ...any) error {
	return &runtime.Error{Code: runtime.CodeHeaderMismatch, Message: fmt.Sprintf(format, a...)}
}

const wrapStart, wrapEnd = "=?base64?", "?="

// unwrap decodes a header's value.
func unwrap(v string) (string, bool) {
	if !strings.HasPrefix(v, wrapStart) || !strings.HasSuffix(v, wrapEnd) {
		return v, true
	}
	b, err := base64.StdEncoding.DecodeString(v[len(wrapStart) : len(v)-len(wrapEnd)])
	return string(b), err == nil
}

// mustWrap reports whether a value has no plain form in a header.
func mustWrap(v string) bool {
	return strings.ContainsFunc(v, func(r rune) bool { return r < 0x20 || r > 0x7e }) || strings.Trim(v, " \t") != v ||
		strings.HasPrefix(v, wrapStart) && strings.HasSuffix(v, wrapEnd)
}

// checkParams compares Mcp-Param-* headers with the arguments whose schema has
// x-mcp-header.
func checkParams(h http.Header, schema, args json.RawMessage) error {
	var p struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	_ = json.Unmarshal(schema, &p) // what is no object has no properties
	for name, s := range p.Properties {
		value := wireMember(args, name)
		if head := wireField(s, "x-mcp-header"); head != "" {
			if err := checkParam(h, "Mcp-Param-"+head, value); err != nil {
				return err
			}
		}
		if err := checkParams(h, s, value); err != nil {
			return err
		}
	}
	return nil
}

func checkParam(h http.Header, name string, value json.RawMessage) error {
	if value == nil || string(value) == "null" {
		if h.Values(name) != nil {
			return mismatch("%s without a value in the body", name)
		}
		return nil
	}
	var text string
	if json.Unmarshal(value, &text) == nil {
		return same(h, name, text)
	}
	got, err := strconv.ParseFloat(h.Get(name), 64)
	if want, bad := strconv.ParseFloat(string(value), 64); bad == nil {
		if err != nil || got != want {
			return mismatch("%s %q does not match body %s", name, h.Get(name), value)
		}
		return nil
	}
	if !slices.Equal(h.Values(name), []string{string(value)}) {
		return mismatch("%s %q does not match body %s", name, h.Get(name), value)
	}
	return nil
}
