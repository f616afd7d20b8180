package ui

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/itchyny/gojq"
	"go.yaml.in/yaml/v3"

	"github.com/mcpctl/mcpctl/internal/plain"
)

// Form makes what is printed instead of a JSON document: of -o yaml, -o name and --jq. The
// text ends with a newline, unless it is empty.
type Form func(doc []byte) ([]byte, error)

// inForm writes a document in the form that was asked for.
func (u *UI) inForm(doc []byte) error {
	text, err := u.Form(doc)
	if err != nil {
		return err
	}
	if u.OutTTY {
		text = []byte(Clean(string(text)))
	}
	_, err = u.Out.Write(text)
	return err
}

// YAML returns a form that writes each document as YAML, with members in their order and numbers
// as they were. Documents after the first begin with "---".
func YAML() Form {
	more := false
	return func(doc []byte) ([]byte, error) {
		d := json.NewDecoder(bytes.NewReader(doc))
		d.UseNumber()
		n, err := yamlNode(d)
		if err != nil {
			return nil, fmt.Errorf("as YAML: %w", err)
		}
		var b bytes.Buffer
		if more {
			b.WriteString("---\n")
		}
		more = true
		e := yaml.NewEncoder(&b)
		e.SetIndent(2)
		if err := errors.Join(e.Encode(n), e.Close()); err != nil {
			return nil, fmt.Errorf("as YAML: %w", err)
		}
		return b.Bytes(), nil
	}
}

// yamlNode reads one value of JSON.
func yamlNode(d *json.Decoder) (*yaml.Node, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case json.Delim:
		n := &yaml.Node{Kind: yaml.MappingNode}
		if t == '[' {
			n.Kind = yaml.SequenceNode
		}
		for d.More() { // the names of members are values, too
			child, err := yamlNode(d)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, child)
		}
		if len(n.Content) == 0 {
			n.Style = yaml.FlowStyle
		}
		_, err := d.Token()
		return n, err
	case json.Number:
		n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: t.String()}
		if bytes.ContainsAny([]byte(n.Value), ".eE") {
			n.Tag = "!!float"
		}
		return n, nil
	}
	n := &yaml.Node{}
	return n, n.Encode(t)
}

// Names is a form that writes the names in a list, one a line: those of servers, tools and
// prompts, addresses of resources, ids of processes. What a server has stands behind its name, as
// the words of the next command do.
func Names(doc []byte) ([]byte, error) {
	items, found := firstList(pairs(doc))
	if !found {
		items = []json.RawMessage{doc}
	}
	var b bytes.Buffer
	for _, item := range items {
		one := pairs(item)
		name := nameIn(one)
		if name == "" {
			return nil, noNames()
		}
		of, nested := firstNamed(one)
		for _, inner := range of {
			fmt.Fprintf(&b, "%s %s\n", plain.Line(name), plain.Line(inner))
		}
		if !nested {
			fmt.Fprintf(&b, "%s\n", plain.Line(name))
		}
	}
	return b.Bytes(), nil
}

// pair is a member of an object.
type pair struct {
	name  string
	value json.RawMessage
}

// pairs returns the members of an object in their order; none of anything else.
func pairs(doc []byte) []pair {
	all, _ := members(doc)
	out := make([]pair, len(all))
	for i, m := range all {
		out[i] = pair{m.name, doc[m.value:m.end]}
	}
	return out
}

func noNames() error {
	return Usage("this has no names to print").WithHint("use -o json, or --jq to choose")
}

// firstList returns the first member that is a list of objects, or an empty list.
func firstList(of []pair) (items []json.RawMessage, found bool) {
	for _, m := range of {
		var list []json.RawMessage
		if json.Unmarshal(m.value, &list) != nil || list == nil {
			continue
		}
		if len(list) == 0 || bytes.HasPrefix(bytes.TrimSpace(list[0]), []byte("{")) {
			return list, true
		}
	}
	return nil, false
}

// firstNamed returns the names in a server's list of tools, prompts or resources, if it has one.
func firstNamed(server []pair) (names []string, found bool) {
	for _, m := range server {
		switch m.name {
		case "tools", "prompts", "resources", "resourceTemplates":
		default:
			continue
		}
		var list []json.RawMessage
		if json.Unmarshal(m.value, &list) != nil {
			continue
		}
		for _, item := range list {
			if name := nameIn(pairs(item)); name != "" {
				names = append(names, name)
			}
		}
		return names, true
	}
	return nil, false
}

// nameIn returns what an object is named by in a command: its address where it is a resource.
// A record of a registry has its name a level deeper.
func nameIn(of []pair) string {
	for _, key := range []string{"uri", "uriTemplate", "name", "server", "host", "id", "pid"} {
		for _, m := range of {
			if m.name != key {
				continue
			}
			var text string
			var number json.Number
			switch {
			case json.Unmarshal(m.value, &text) == nil && text != "":
				return text
			case json.Unmarshal(m.value, &number) == nil && number != "":
				return number.String()
			default:
				if name := nameIn(pairs(m.value)); name != "" {
					return name
				}
			}
		}
	}
	return ""
}

// Query returns the form of a jq expression. Texts are printed bare and other values as JSON,
// each on its line, as gh and jq -r do.
func Query(expression string) (Form, error) {
	q, err := gojq.Parse(expression)
	if err != nil {
		return nil, err
	}
	code, err := gojq.Compile(q)
	if err != nil {
		return nil, err
	}
	return func(doc []byte) ([]byte, error) {
		d := json.NewDecoder(bytes.NewReader(doc))
		d.UseNumber()
		var input any
		if err := d.Decode(&input); err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("--jq: %w", err)
		}
		var b bytes.Buffer
		for values := code.Run(input); ; {
			v, ok := values.Next()
			if !ok {
				return b.Bytes(), nil
			}
			if err, failed := v.(error); failed {
				var halt *gojq.HaltError
				if errors.As(err, &halt) && halt.Value() == nil {
					return b.Bytes(), nil
				}
				return nil, Usage("--jq: %w", err)
			}
			if text, isText := v.(string); isText {
				b.WriteString(text + "\n")
				continue
			}
			out, err := gojq.Marshal(v)
			if err != nil {
				return nil, fmt.Errorf("--jq: %w", err)
			}
			b.Write(append(out, '\n'))
		}
	}, nil
}
