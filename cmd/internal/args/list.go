package args

import (
	"bytes"
	"strings"

	"github.com/mcpctl/mcpctl/runtime/schema"
)

// single is an array that one a=text has begun.
type single struct {
	key, text string
	place     place
}

// asJSON returns a text that is the JSON of an array or an object, where the schema wants one
// and no string. It reports false for a text that does not look like that.
func asJSON(n schema.Node, text string) (raw []byte, ok bool, err error) {
	raw = bytes.TrimSpace([]byte(text))
	k := n.Kinds()
	if len(raw) == 0 || k&schema.String != 0 || !(raw[0] == '[' && k&schema.Array != 0 || raw[0] == '{' && k&schema.Object != 0) {
		return nil, false, nil
	}
	return raw, true, checkJSON(raw)
}

// commas looks at arrays of one text with a comma: whoever wrote a=x,y may have meant two.
func (b *builder) commas() error {
	for _, s := range b.singles {
		n, item := s.place.n, s.place.schema.Item(0)
		if len(n.items) != 1 || !strings.Contains(s.text, ",") || item.Enum() != nil {
			continue
		}
		var parts []string
		for part := range strings.SplitSeq(s.text, ",") {
			parts = append(parts, strings.TrimSpace(part))
		}
		several := s.key + "=" + strings.Join(parts, " "+s.key+"=")
		if item.Kinds()&schema.String == 0 {
			e := errorf("argument %s: %q is not one value of an array", short(s.key), short(s.text))
			e.Remedy = "write " + several
			return e
		}
		if b.src.Several == nil {
			e := errorf("argument %s: %q is one value of an array, or several", short(s.key), short(s.text))
			e.Remedy = "for one write " + s.key + "[]=" + s.text + ", for several " + several
			return e
		}
		split, err := b.src.Several(s.key, parts)
		if err != nil {
			return err
		}
		if !split {
			continue
		}
		n.items = nil
		for _, part := range parts {
			b.element(&s.place, textValue{text: part})
		}
	}
	return nil
}

// notJSON is the error of a text that looks like the JSON of an array and is not.
func notJSON(key, value string, cause error) error {
	e := errorf("argument %s: it begins as a JSON array and is not valid JSON: %w", short(key), cause)
	e.Remedy = "write " + short(key) + `:=["…","…"], or for this text as one element ` + short(key) + "[]=" + short(value)
	return e
}
