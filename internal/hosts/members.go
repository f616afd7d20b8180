package hosts

import (
	"encoding/json"
	"strconv"

	"github.com/mcpctl/mcpctl/internal/jsonedit"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// members is a JSON object in the making, in the order in which its members are set.
type members struct {
	names  []string
	values map[string]json.RawMessage
}

// set adds or replaces a member; an empty text, list or map adds none.
func (m *members) set(name string, value any) {
	if raw := encode(value); name != "" && raw != nil {
		m.put(name, raw)
	}
}

func (m *members) put(name string, raw json.RawMessage) {
	if m.values == nil {
		m.values = map[string]json.RawMessage{}
	}
	if m.values[name] == nil {
		m.names = append(m.names, name)
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
	b := []byte{'{'}
	for i, name := range m.names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(rawjson.Quote(b, name), ':'), m.values[name]...)
	}
	return append(b, '}')
}

// pairs is a map of texts that keeps its order.
type pairs []pair

type pair struct{ name, value string }

// encode returns a value as JSON, nil for what is empty.
func encode(value any) json.RawMessage {
	switch v := value.(type) {
	case json.RawMessage:
		return v
	case bool:
		return strconv.AppendBool(nil, v)
	case string:
		if v != "" {
			return rawjson.Quote(nil, v)
		}
	case []string:
		if len(v) > 0 {
			return list(v)
		}
	case config.ToolFilter:
		var m members
		if v.Allow != nil { // an empty list allows nothing
			m.put("allow", list(v.Allow))
		}
		m.set("deny", v.Deny)
		if !v.IsZero() {
			return m.raw()
		}
	case pairs:
		var m members
		for _, p := range v {
			m.put(p.name, rawjson.Quote(nil, p.value))
		}
		if len(v) > 0 {
			return m.raw()
		}
	}
	return nil
}

func list(texts []string) json.RawMessage {
	b := []byte{'['}
	for i, text := range texts {
		if i > 0 {
			b = append(b, ',')
		}
		b = rawjson.Quote(b, text)
	}
	return append(b, ']')
}

// Replace returns an object with another text at a path of member names.
func Replace(object json.RawMessage, text string, path ...string) (json.RawMessage, error) {
	doc, err := jsonedit.Parse(object)
	if err != nil {
		return nil, err
	}
	doc, err = doc.Set(rawjson.Quote(nil, text), path...)
	if err != nil {
		return nil, err
	}
	return doc.Value(), nil
}
