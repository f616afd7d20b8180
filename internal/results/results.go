// Package results makes the result of a tool shorter: it keeps some members of its JSON,
// and cuts what is still too long into pages. Elements stay whole: a line of a text, an
// element of an array, a member of an object, a block of content. All bytes that are kept
// are those of the server; numbers keep their digits.
//
// The package does no I/O and keeps nothing. Its functions may be called concurrently.
package results

import (
	"bytes"

	"github.com/mcpctl/mcpctl/internal/rawjson"
)

// Shape is what is done to the results of a tool. It is immutable; nil does nothing.
type Shape struct {
	// MaxTokens is how many tokens a result may be, about; 0 is any number.
	MaxTokens int
	// Fields are the members that are kept, nil for all.
	Fields *Fields
}

// Pages reports whether results can be cut.
func (s *Shape) Pages() bool { return s != nil && s.MaxTokens > 0 }

// Texts are the texts of a result, whole. They are not to be changed.
type Texts [][]byte

// Size returns how many bytes they are.
func (t Texts) Size() (n int) {
	for _, text := range t {
		n += len(text)
	}
	return n
}

// Long is the result of a tools/call that is too long.
type Long struct {
	// Texts are those of its blocks, and of its structured content where no block has that.
	Texts Texts
	// Page is what of them is shown: the beginning, or the end of an error.
	Page Page

	raw     []byte
	content rawjson.Span // zero for none
	blocks  []rawjson.Span
	of      []place // of Texts, those of blocks
}

// place is where a text stands: in which block, and where in the result as a JSON string.
type place struct {
	block int
	at    rawjson.Span
}

// Cut returns what of a result is shown in at most some tokens, nil where it is no longer
// than that or no result of a tool.
func Cut(result []byte, most int) *Long {
	if most <= 0 || len(result) <= most { // a token is a byte at least
		return nil
	}
	var at [3]rawjson.Span
	if rawjson.Fields(result, at[:], "content", "structuredContent", "isError") != nil {
		return nil
	}
	l := &Long{raw: result, content: at[0]}
	if l.content.Present() {
		var err error
		if l.blocks, err = rawjson.ElementsAt(result, l.content); err != nil {
			return nil
		}
	}
	for i, block := range l.blocks {
		if text := textOf(result, block); text.Present() {
			l.Texts, l.of = append(l.Texts, rawjson.Unquote(nil, text.Of(result))), append(l.of, place{i, text})
		}
	}
	if structured := at[1].Of(result); structured != nil && !l.Texts.have(structured) {
		l.Texts = append(l.Texts, bytes.Clone(structured))
	}
	l.Page = l.Texts.Page(Query{Most: most, Last: string(at[2].Of(result)) == "true"})
	if l.Page.Shown == l.Page.Of {
		return nil
	}
	return l
}

// textOf returns where the text of a block stands, as a JSON string: of one of text, or of
// an embedded resource. It is zero for others, as images.
func textOf(result []byte, block rawjson.Span) rawjson.Span {
	var at [3]rawjson.Span
	if rawjson.Fields(block.Of(result), at[:], "type", "text", "resource") != nil {
		return rawjson.Span{}
	}
	kind, _ := rawjson.String(block.Of(result), at[0])
	text := at[1]
	switch kind {
	case "resource":
		inner, err := rawjson.Field(at[2].Of(block.Of(result)), "text")
		if err != nil || !inner.Present() {
			return rawjson.Span{}
		}
		text = rawjson.Span{Start: at[2].Start + inner.Start, End: at[2].Start + inner.End}
	case "text":
	default:
		return rawjson.Span{}
	}
	if !rawjson.IsString(text.Of(block.Of(result))) {
		return rawjson.Span{}
	}
	return rawjson.Span{Start: block.Start + text.Start, End: block.Start + text.End}
}

// have reports whether structured content is one of the texts, too, or the only member of it
// is: several frameworks wrap what is no object.
func (t Texts) have(structured []byte) bool {
	normal := rawjson.Normal(structured)
	inner := rawjson.Normal(unwrapped(structured))
	for _, text := range t {
		if IsDocument(text) {
			if n := rawjson.Normal(text); bytes.Equal(n, normal) || bytes.Equal(n, inner) {
				return true
			}
		}
	}
	return false
}

// wrapper is the name under which lists and plain values are put into an object.
const wrapper = "result"

// unwrapped returns the value of the only member of an object that is called result, and
// other values as they are.
func unwrapped(value []byte) []byte {
	entries, err := rawjson.Entries(value)
	if err != nil || len(entries) != 1 || entries[0].Name != wrapper {
		return value
	}
	return entries[0].Value.Of(value)
}

// IsDocument reports whether a text is one object or array of JSON.
func IsDocument(text []byte) bool {
	text = bytes.TrimLeft(text, " \t\r\n")
	return len(text) > 0 && (text[0] == '{' || text[0] == '[') && rawjson.Valid(text) == nil
}

// Answer returns the result with what is shown, and with other blocks after that, each raw.
// It has no structured content. What is no text stays.
func (l *Long) Answer(more ...[]byte) []byte {
	content := []byte{'['}
	add := func(block []byte) {
		if len(content) > 1 {
			content = append(content, ',')
		}
		content = append(content, block...)
	}
	texts := map[int]int{} // by block
	for i, p := range l.of {
		texts[p.block] = i
	}
	for i, block := range l.blocks {
		text, ok := texts[i]
		switch {
		case !ok:
			add(block.Of(l.raw))
		case l.Page.Texts[text] != nil:
			at := l.of[text].at
			add(rawjson.Splice(nil, block.Of(l.raw), rawjson.Edit{
				Span: rawjson.Span{Start: at.Start - block.Start, End: at.End - block.Start}, New: rawjson.Quote(nil, string(l.Page.Texts[text])),
			}))
		}
	}
	for _, text := range l.Page.Texts[len(l.of):] {
		if text != nil {
			add(TextBlock(text))
		}
	}
	for _, block := range more {
		add(block)
	}
	content = append(content, ']')
	out := l.raw
	if l.content.Present() {
		out = rawjson.Splice(nil, out, rawjson.Edit{Span: l.content, New: content})
	} else {
		out = rawjson.Splice(nil, out, rawjson.Insertion(out, rawjson.Span{Start: rawjson.Bracket(out), End: len(out)}, "content", content))
	}
	if short, err := rawjson.Without(out, func(name string) bool { return name == "structuredContent" }); err == nil {
		return short
	}
	return out
}

// TextBlock returns a text as a block of content.
func TextBlock(text []byte) []byte {
	return append(rawjson.Quote([]byte(`{"type":"text","text":`), string(text)), '}')
}
