package gogen

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/runtime"
)

// sortTools sorts by name and drops repetitions of the same definition. Two
// different tools of one name are an error: the second could not be called.
func sortTools(tools []runtime.Tool) ([]runtime.Tool, error) {
	type entry struct {
		tool runtime.Tool
		text string
	}
	var all []entry
	for _, t := range tools {
		if t.Raw == nil {
			raw, err := json.Marshal(t)
			if err != nil {
				return nil, &Error{Tool: t.Name, Reason: err.Error()}
			}
			t.Raw = raw
		}
		var b bytes.Buffer
		v, err := parseJSON(t.Raw)
		if err == nil {
			err = writeJSON(&b, v, "")
		}
		if err != nil {
			return nil, &Error{Tool: t.Name, Reason: err.Error()}
		}
		all = append(all, entry{t, b.String()})
	}
	slices.SortFunc(all, func(a, b entry) int {
		return cmpOr(strings.Compare(a.tool.Name, b.tool.Name), strings.Compare(a.text, b.text))
	})
	all = slices.CompactFunc(all, func(a, b entry) bool { return a.text == b.text })
	out := make([]runtime.Tool, 0, len(all))
	for i, e := range all {
		if i > 0 && e.tool.Name == all[i-1].tool.Name {
			return nil, &Error{Tool: e.tool.Name, Reason: "the server lists two different tools of this name"}
		}
		out = append(out, e.tool)
	}
	return out, nil
}

func cmpOr(a, b int) int {
	if a != 0 {
		return a
	}
	return b
}

// canonicalTools gives the tools file, members sorted and indented, and the
// digest of the tools in it: "sha256:" and hex.
func canonicalTools(impl runtime.Implementation, tools []runtime.Tool) (file []byte, digest string, err error) {
	list := make([]any, 0, len(tools))
	for _, t := range tools {
		v, err := parseJSON(t.Raw)
		if err != nil {
			return nil, "", &Error{Tool: t.Name, Reason: err.Error()}
		}
		list = append(list, v)
	}
	var b bytes.Buffer
	if err := writeJSON(&b, list, ""); err != nil {
		return nil, "", err
	}
	sum := sha256.Sum256(b.Bytes())
	doc := map[string]any{"tools": list}
	if impl.Name != "" || impl.Version != "" {
		doc["_meta"] = map[string]any{metaServer: map[string]any{"name": impl.Name, "version": impl.Version}}
	}
	b.Reset()
	if err := writeJSON(&b, doc, "  "); err != nil {
		return nil, "", err
	}
	return b.Bytes(), "sha256:" + hex.EncodeToString(sum[:]), nil
}

// parseJSON decodes with numbers kept as they are written.
func parseJSON(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("more than one JSON value")
	}
	return v, nil
}

// writeJSON encodes what parseJSON gives: members sorted by encoding/json,
// no HTML escapes, a newline at the end.
func writeJSON(w io.Writer, v any, indent string) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	return e.Encode(v)
}

// jsonText is the compact form of a decoded value.
func jsonText(v any) string {
	var b bytes.Buffer
	if err := writeJSON(&b, v, ""); err != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}
