package hosts

import (
	"bytes"
	"encoding/json"

	"github.com/mcpctl/mcpctl/runtime/internal/jsonedit"
)

// members is a JSON object in the making, in the order in which its members are set.
type members struct {
	names  []string
	values map[string]json.RawMessage
}

// set adds or replaces a member; an empty text, list or map adds none.
func (m *members) set(name string, value any) {
	raw := encode(value)
	if name == "" || raw == nil {
		return
	}
	if _, ok := m.values[name]; !ok {
		m.names = append(m.names, name)
	}
	if m.values == nil {
		m.values = map[string]json.RawMessage{}
	}
	m.values[name] = raw
}

// remove deletes a member.
func (m *members) remove(name string) {
	for i := range m.names {
		if m.names[i] == name {
			m.names = append(m.names[:i:i], m.names[i+1:]...)
			break
		}
	}
	delete(m.values, name)
}

// raw returns the object.
func (m *members) raw() json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range m.names {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(encode(name))
		b.WriteByte(':')
		b.Write(m.values[name])
	}
	b.WriteByte('}')
	return b.Bytes()
}

// pairs is a map of texts that keeps its order.
type pairs []pair

type pair struct{ name, value string }

// encode returns a value as JSON with <, > and & as they are, nil for what is empty.
func encode(value any) json.RawMessage {
	switch v := value.(type) {
	case json.RawMessage:
		if len(v) == 0 {
			return nil
		}
		return v
	case pairs:
		if len(v) == 0 {
			return nil
		}
		var m members
		for _, p := range v {
			m.values = setOnce(m.values)
			m.names = append(m.names, p.name)
			m.values[p.name] = encodeText(p.value)
		}
		return m.raw()
	case []string:
		if len(v) == 0 {
			return nil
		}
	case string:
		if v == "" {
			return nil
		}
		return encodeText(v)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(value) != nil {
		return nil
	}
	return bytes.TrimSpace(b.Bytes())
}

func setOnce(m map[string]json.RawMessage) map[string]json.RawMessage {
	if m == nil {
		m = map[string]json.RawMessage{}
	}
	return m
}

func encodeText(s string) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string has a JSON form
	return bytes.TrimSpace(b.Bytes())
}

// Replace returns an object with another text at a path of member names.
func Replace(object json.RawMessage, text string, path ...string) (json.RawMessage, error) {
	doc, err := jsonedit.Parse(object)
	if err != nil {
		return nil, err
	}
	doc, err = doc.Set(encodeText(text), path...)
	if err != nil {
		return nil, err
	}
	return jsonedit.Standard(*doc.Root()), nil
}
