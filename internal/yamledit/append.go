package yamledit

import (
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Append writes a JSON value at the end of the list under a path of names, in one line, in
// braces. A list that is missing is added. Every other line stays.
func (d *Document) Append(value json.RawMessage, path ...string) (*Document, error) {
	if err := d.editable(path); err != nil {
		return nil, err
	}
	item, err := inline(value)
	if err != nil {
		return nil, err
	}
	list := d.find(path)
	switch {
	case list == nil:
		if d, err = d.Set(json.RawMessage("[]"), path...); err != nil {
			return nil, err
		}
		return d.Append(value, path...)
	case list.Kind == yaml.AliasNode:
		return nil, ErrAlias
	case list.Kind != yaml.SequenceNode && list.Tag != "!!null":
		return nil, fmt.Errorf("line %d: a value where a list is due", list.Line)
	case len(list.Content) == 0:
		m, _ := d.member(path)
		text := strings.TrimRight(d.line[m.first.Line-1], "\r\n")
		bare, _, _ := strings.Cut(text, " #")
		bare = strings.TrimRight(bare, " ")
		key, rest, _ := strings.Cut(bare, ":")
		if rest = strings.TrimSpace(rest); rest != "" && rest != "[]" && rest != "null" && rest != "~" {
			return nil, ErrFlow
		}
		line := strings.Repeat(" ", m.first.Column-1+d.indent()) + item + d.newline()
		return d.apply(m.first.Line-1, m.first.Line, key+":"+text[len(bare):]+d.newline()+line, path)
	case list.Style&yaml.FlowStyle != 0:
		return nil, ErrFlow
	}
	last := list.Content[len(list.Content)-1]
	end := d.end(last, list.Column-1)
	return d.apply(end, end, strings.Repeat(" ", list.Column-1)+item+d.newline(), path)
}

// inline returns a list's element in one line.
func inline(value json.RawMessage) (string, error) {
	var v yaml.Node
	if err := yaml.Unmarshal(value, &v); err != nil { // JSON is YAML
		return "", err
	}
	node := v.Content[0]
	plain(node)
	node.Style = yaml.FlowStyle
	text, err := yaml.Marshal(node)
	return "- " + strings.TrimSuffix(string(text), "\n"), err
}

// Comment writes a comment in its own line above the member that a path leads to.
func (d *Document) Comment(text string, path ...string) (*Document, error) {
	if d.find(path) == nil || strings.ContainsAny(text, "\r\n") {
		return nil, fmt.Errorf("no comment can be written for %s", strings.Join(path, "."))
	}
	if err := d.editable(path); err != nil {
		return nil, err
	}
	m, _ := d.member(path)
	at := m.first.Line - 1
	return d.apply(at, at, strings.Repeat(" ", m.first.Column-1)+"# "+text+d.newline(), path)
}
