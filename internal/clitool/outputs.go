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
	keptFor  = 10 * time.Minute
	keptMost = 4 // outputs; the oldest goes when there is one more
)

// outputs are the whole of outputs that a result has a part of.
type outputs struct {
	last int
	kept []output
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
	o.kept = append(o.kept, output{o.last, text, time.Now().Add(keptFor)})
	if len(o.kept) > keptMost {
		o.kept = append([]output(nil), o.kept[1:]...)
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
	for len(t.outputs.kept) > 0 && time.Now().After(t.outputs.kept[0].until) {
		t.outputs.kept = t.outputs.kept[1:]
	}
	return append([]output(nil), t.outputs.kept...)
}

// resources answers the methods of resources.
func (t *Transport) resources(req *runtime.Request) (json.RawMessage, error) {
	switch req.Method {
	case revision.MethodResourceTemplatesList:
		var o object
		o.add("uriTemplate", t.uriStart()+"{number}")
		o.add("name", "output")
		o.add("description", fmt.Sprintf("The whole output of a call whose result has a part of it, for %s.", keptFor))
		return quote(map[string]any{"resourceTemplates": []json.RawMessage{o.raw()}}), nil
	case revision.MethodResourcesList:
		list := []json.RawMessage{}
		for _, kept := range t.living() {
			var o object
			o.add("uri", t.uri(kept.number))
			o.add("name", fmt.Sprintf("output %d", kept.number))
			o.add("size", len(kept.text))
			list = append(list, o.raw())
		}
		return quote(map[string]any{"resources": list}), nil
	}
	var p struct{ URI string }
	if err := json.Unmarshal(req.Params, &p); err != nil {
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "params: " + err.Error()}
	}
	for _, kept := range t.living() {
		if t.uri(kept.number) != p.URI {
			continue
		}
		var o object
		o.add("uri", p.URI)
		if utf8.Valid(kept.text) {
			o.add("mimeType", "text/plain")
			o.add("text", string(kept.text))
		} else {
			o.add("mimeType", "application/octet-stream")
			o.add("blob", base64.StdEncoding.EncodeToString(kept.text))
		}
		return quote(map[string]any{"contents": []json.RawMessage{o.raw()}}), nil
	}
	return nil, &runtime.Error{Code: runtime.CodeResourceNotFound, Message: "no such output, or no longer: " + strings.ToValidUTF8(p.URI, "\uFFFD")}
}
