package yamledit

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"go.yaml.in/yaml/v3"

	"github.com/mcpctl/mcpctl/internal/rawjson"
)

// Documents returns the documents of a text as JSON, with members in the order of the text where
// a mapping has no aliases. Those that JSON does not have, and empty ones, are left out.
func Documents(raw []byte) ([]json.RawMessage, error) {
	var out []json.RawMessage
	for dec := yaml.NewDecoder(bytes.NewReader(raw)); ; {
		var n yaml.Node
		err := dec.Decode(&n)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		var plain any
		if err == nil {
			err = n.Decode(&plain) // also refuses aliases that grow without end
		}
		if err != nil {
			return nil, fault(err)
		}
		if value := ordered(&n); value != nil && plain != nil {
			out = append(out, value)
		}
	}
}

// ordered returns a value of YAML as JSON, with the members in their order where it has no
// aliases; nil for what JSON does not have.
func ordered(n *yaml.Node) json.RawMessage {
	switch {
	case n.Kind == yaml.DocumentNode && len(n.Content) == 1:
		return ordered(n.Content[0])
	case n.Kind == yaml.MappingNode:
		out := []byte{'{'}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], ordered(n.Content[i+1])
			if key.Kind != yaml.ScalarNode || key.Tag == "!!merge" || value == nil {
				return decoded(n)
			}
			if i > 0 {
				out = append(out, ',')
			}
			out = append(append(rawjson.Quote(out, key.Value), ':'), value...)
		}
		return append(out, '}')
	case n.Kind == yaml.SequenceNode:
		out := []byte{'['}
		for i, item := range n.Content {
			value := ordered(item)
			if value == nil {
				return nil
			}
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, value...)
		}
		return append(out, ']')
	}
	return decoded(n)
}

func decoded(n *yaml.Node) json.RawMessage {
	var v any
	if n.Decode(&v) != nil {
		return nil
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return raw
}
