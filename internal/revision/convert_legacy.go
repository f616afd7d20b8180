package revision

import (
	"bytes"
	"cmp"
	"fmt"

	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime"
)

// Revisions that brought content which older clients do not understand.
const (
	sinceAudio = "2025-03-26" // audio content
	sinceLinks = "2025-06-18" // resource_link, structuredContent, outputSchema
)

// hasNewerContent reports whether a legacy result holds anything that an older
// client does not understand. It allocates nothing.
func (c *Conversion) hasNewerContent(raw []byte) bool {
	return c.olderContent(raw) || c.to() < sinceLinks && bytes.Contains(raw, []byte(`"structuredContent"`))
}

// toLegacy returns the edits for a client of the handshake era; members of the
// result itself are changed in o.
func (c *Conversion) toLegacy(raw []byte, o *rawjson.Object) ([]rawjson.Edit, error) {
	if e := o.Get(MemberResultType); e != nil && IsModern(c.From) {
		if kind, _ := rawjson.String(raw, e.Value); kind != ResultComplete {
			return nil, &runtime.ProtocolError{Reason: fmt.Sprintf(
				"%s: the server answers with a result of type %q, which revision %s cannot express", c.Method, kind, c.to())}
		}
	}
	var edits []rawjson.Edit
	if IsModern(c.From) {
		o.Remove(MemberResultType)
		o.Remove(MemberTTL)
		o.Remove(MemberCacheScope)
		meta, err := c.setServerInfo(raw, o)
		if err != nil {
			return nil, err
		}
		edits = meta
	}
	switch c.Method {
	case MethodToolsCall:
		if e := o.Get("content"); e != nil {
			edits = append(edits, c.blocks(raw, e.Value, "")...)
		}
		c.structuredContent(raw, o, &edits)
	case MethodPromptsGet:
		if e := o.Get("messages"); e != nil {
			edits = append(edits, c.blocks(raw, e.Value, "content")...)
		}
	}
	return edits, nil
}

// structuredContent wraps structured content that is no object, or whose schema is
// exposed wrapped, and repeats it as text where no block does: older clients
// and models read that alone.
func (c *Conversion) structuredContent(raw []byte, o *rawjson.Object, edits *[]rawjson.Edit) {
	e := o.Get("structuredContent")
	if e == nil {
		return
	}
	value := e.Value.Of(raw)
	if IsModern(c.From) && (c.Wrap || value[0] != '{') {
		o.Replace(e, fmt.Appendf(nil, `{"result":%s}`, value))
	}
	block := append(rawjson.Quote([]byte(`{"type":"text","text":`), string(value)), '}')
	content := o.Get("content")
	if content == nil || raw[content.Value.Start] != '[' {
		if content != nil {
			o.Remove("content")
		}
		o.Add("content", append(append([]byte{'['}, block...), ']'))
		return
	}
	list := content.Value.Of(raw)
	spans, err := rawjson.Elements(list)
	if err != nil {
		return
	}
	for _, s := range spans {
		if kind, _ := rawjson.FieldString(s.Of(list), "type"); kind == "text" {
			return
		}
	}
	if len(spans) > 0 {
		block = append([]byte{','}, block...)
	}
	end := content.Value.End - 1
	*edits = append(*edits, rawjson.Edit{Span: rawjson.Span{Start: end, End: end}, New: block})
}

// blocks returns the edits for the content blocks of a list: its elements, or a
// member of each.
func (c *Conversion) blocks(raw []byte, at rawjson.Span, member string) []rawjson.Edit {
	if !c.olderContent(at.Of(raw)) {
		return nil
	}
	spans, err := rawjson.ElementsAt(raw, at)
	if err != nil {
		return nil
	}
	var edits []rawjson.Edit
	for _, s := range spans {
		if member != "" {
			content, err := rawjson.Field(s.Of(raw), member)
			if err != nil || !content.Present() {
				continue
			}
			s = rawjson.Span{Start: s.Start + content.Start, End: s.Start + content.End}
		}
		edits = append(edits, c.block(raw, s)...)
	}
	return edits
}

// olderContent reports whether content may hold a block that the client does
// not understand.
func (c *Conversion) olderContent(content []byte) bool {
	to := c.to()
	return to < sinceLinks && bytes.Contains(content, []byte(`"resource_link"`)) || to < sinceAudio && bytes.Contains(content, []byte(`"audio"`))
}

// block turns one content block into text where the client's revision does not
// know its kind. Its other members stay, but for the sound itself.
func (c *Conversion) block(raw []byte, at rawjson.Span) []rawjson.Edit {
	o, err := rawjson.ObjectAt(raw, at)
	if err != nil {
		return nil
	}
	kind := o.Get("type")
	if kind == nil {
		return nil
	}
	member := func(name string) string {
		e := o.Get(name)
		if e == nil {
			return ""
		}
		s, _ := rawjson.String(raw, e.Value)
		return s
	}
	var text string
	switch name, _ := rawjson.String(raw, kind.Value); {
	case name == "resource_link" && c.to() < sinceLinks:
		text = linkText(member)
	case name == "audio" && c.to() < sinceAudio:
		text = audioText(member("mimeType"), len(member("data")))
		o.Remove("data")
	default:
		return nil
	}
	o.Replace(kind, []byte(`"text"`))
	o.Remove("text")
	o.Add("text", rawjson.Quote(nil, text))
	return o.Edits()
}

// linkText describes in words what a resource_link leads to: its title or name,
// its URI, its type, and on a line of its own its description.
func linkText(member func(string) string) string {
	text, uri := cmp.Or(member("title"), member("name")), member("uri")
	switch {
	case text == "":
		text = uri
	case uri != "":
		text += ": " + uri
	}
	if kind := member("mimeType"); kind != "" {
		text += " (" + kind + ")"
	}
	if d := member("description"); d != "" {
		text += "\n" + d
	}
	return text
}

// audioText describes the sound that has been left out; encoded is the length
// of its base64 text.
func audioText(kind string, encoded int) string {
	return fmt.Sprintf("[%s, %d bytes, left out: this client's protocol revision has no audio]", cmp.Or(kind, "audio"), encoded/4*3)
}
