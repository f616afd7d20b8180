package catalog

import (
	"bytes"

	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
)

// Text is one text of a server, and the edits that it needs. It is used by one goroutine.
type Text struct {
	Of    []byte
	Edits []rawjson.Edit
	// Name returns what clients call a URI of the server.
	Name func(uri string) string
}

// Content finds those of a result of tools/call or prompts/get. Those in text and in
// structuredContent cannot be told from other text.
func (t *Text) Content(method string) {
	member := "content"
	if method == revision.MethodPromptsGet {
		member = "messages"
	}
	var at [2]rawjson.Span
	if rawjson.Fields(t.Of, at[:], member, "_meta") != nil {
		return
	}
	blocks, _ := rawjson.ElementsAt(t.Of, at[0]) // what is no array is for the client to judge
	for _, block := range blocks {
		if method == revision.MethodPromptsGet {
			content, err := rawjson.Field(block.Of(t.Of), "content")
			if err != nil || !content.Present() {
				continue
			}
			block = moved(block, content)
		}
		t.block(block)
	}
	if at[1].Present() {
		t.Meta(at[1])
	}
}

// moved returns the place in the whole of a span of a part.
func moved(part, span rawjson.Span) rawjson.Span {
	return rawjson.Span{Start: part.Start + span.Start, End: part.Start + span.End}
}

// block exposes the URI of a resource_link or an embedded resource.
func (t *Text) block(at rawjson.Span) {
	var in [2]rawjson.Span
	if rawjson.Fields(at.Of(t.Of), in[:], "type", "resource") != nil {
		return
	}
	switch kind, _ := rawjson.String(at.Of(t.Of), in[0]); {
	case kind == "resource_link":
		t.Member(at, "uri")
	case kind == "resource" && in[1].Present():
		t.Member(moved(at, in[1]), "uri")
	}
}

// Member exposes the URI that is a member of an object.
func (t *Text) Member(object rawjson.Span, name string) {
	if at, err := rawjson.Field(object.Of(t.Of), name); err == nil && at.Present() {
		t.uri(moved(object, at))
	}
}

func (t *Text) uri(at rawjson.Span) {
	uri, ok := rawjson.String(t.Of, at)
	if !ok {
		return
	}
	if name := t.Name(uri); name != uri {
		t.Edits = append(t.Edits, rawjson.Edit{Span: at, New: rawjson.Quote(nil, name)})
	}
}

// Meta exposes the URI of a tool's user interface: _meta.ui.resourceUri, and
// the flat member of older servers (MCP Apps).
func (t *Text) Meta(at rawjson.Span) {
	var in [2]rawjson.Span
	if rawjson.Fields(at.Of(t.Of), in[:], "ui", "ui/resourceUri") != nil {
		return
	}
	if in[0].Present() {
		t.Member(moved(at, in[0]), "resourceUri")
	}
	if in[1].Present() {
		t.uri(moved(at, in[1]))
	}
}

// UnsafeIcons returns the edits that remove icons whose source is neither https nor
// data (2025-11-25, Icons).
func UnsafeIcons(item []byte) []rawjson.Edit {
	if !bytes.Contains(item, []byte(`"icons"`)) {
		return nil
	}
	spans, err := rawjson.List(item, rawjson.Whole(item), "icons")
	if err != nil {
		return nil
	}
	return rawjson.Removals(spans, func(i int) bool {
		icon := spans[i].Of(item)
		src, err := rawjson.Field(icon, "src")
		if err != nil {
			return true
		}
		uri, _ := rawjson.String(icon, src)
		scheme, _ := SchemeOf(uri)
		return scheme != "https" && scheme != "data"
	})
}
