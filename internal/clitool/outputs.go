package clitool

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
)

const (
	storedFor = 10 * time.Minute
	maxStored = 4 // outputs; the oldest goes when there is one more
)

// outputs are the whole of outputs that a result has a part of.
type outputs struct {
	last   int
	stored []output
}

type output struct {
	number int
	text   []byte
	until  time.Time
}

// keep keeps an output for a while, and returns its URI.
func (t *Transport) keep(text []byte) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	o := &t.outputs
	o.last++
	o.stored = append(o.stored, output{o.last, text, time.Now().Add(storedFor)})
	if len(o.stored) > maxStored {
		o.stored = append([]output(nil), o.stored[1:]...)
	}
	return t.uri(o.last)
}

// uri returns the URI of an output.
func (t *Transport) uri(number int) string { return fmt.Sprintf("%s%d", t.uriStart(), number) }

func (t *Transport) uriStart() string { return "cli-output://" + url.PathEscape(t.o.Name) + "/" }

// living returns the outputs whose time is not over.
func (t *Transport) living() []output {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.outputs.stored) > 0 && time.Now().After(t.outputs.stored[0].until) {
		t.outputs.stored = t.outputs.stored[1:]
	}
	return append([]output(nil), t.outputs.stored...)
}

// resources answers the methods of resources.
func (t *Transport) resources(req *runtime.Request) (json.RawMessage, error) {
	switch req.Method {
	case revision.MethodResourceTemplatesList:
		var o object
		o.add("uriTemplate", t.uriStart()+"{number}")
		o.add("name", "output")
		o.add("description", fmt.Sprintf("The whole output of a call whose result has a part of it, for %s.", storedFor))
		return quote(map[string]any{"resourceTemplates": []json.RawMessage{o.raw()}}), nil
	case revision.MethodResourcesList:
		list := []json.RawMessage{}
		for _, stored := range t.living() {
			var o object
			o.add("uri", t.uri(stored.number))
			o.add("name", fmt.Sprintf("output %d", stored.number))
			o.add("size", len(stored.text))
			list = append(list, o.raw())
		}
		return quote(map[string]any{"resources": list}), nil
	}
	var p struct{ URI string }
	if err := json.Unmarshal(req.Params, &p); err != nil {
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "params: " + err.Error()}
	}
	for _, stored := range t.living() {
		if t.uri(stored.number) != p.URI {
			continue
		}
		var o object
		o.add("uri", p.URI)
		if utf8.Valid(stored.text) {
			o.add("mimeType", "text/plain")
			o.add("text", string(stored.text))
		} else {
			o.add("mimeType", "application/octet-stream")
			o.add("blob", base64.StdEncoding.EncodeToString(stored.text))
		}
		return quote(map[string]any{"contents": []json.RawMessage{o.raw()}}), nil
	}
	return nil, &runtime.Error{Code: runtime.CodeResourceNotFound, Message: "no such output, or no longer: " + strings.ToValidUTF8(p.URI, "\uFFFD")}
}
