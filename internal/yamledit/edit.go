package yamledit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Set writes a JSON value under a path of names: in place of the value that is there, or
// at the end of its mapping or list. Mappings on the way that are missing are added; an
// element of a list has its name as the member "name". Every other line stays, and so does
// the comment behind a value of one line.
func (d *Document) Set(value json.RawMessage, path ...string) (*Document, error) {
	if err := d.editable(path); err != nil {
		return nil, err
	}
	// How far the path leads.
	depth := len(path)
	for d.find(path[:depth]) == nil && depth > 0 {
		depth--
	}
	if depth == len(path) {
		m, before := d.member(path)
		first, end := d.extent(m, before)
		text, err := d.block(value, path[depth-1:], m.first.Column-1, isList(d.find(path[:depth-1])))
		if err != nil {
			return nil, err
		}
		if comment := d.comment(m.value); comment != "" {
			line, rest, _ := strings.Cut(text, d.newline())
			text = line + comment + d.newline() + rest
		}
		return d.apply(first, end, text, path)
	}
	parent := d.find(path[:depth])
	all := members(parent)
	switch {
	case parent == nil: // an empty document
		text, err := d.block(value, path, 0, false)
		if err != nil {
			return nil, err
		}
		return d.apply(len(d.line), len(d.line), text, path)
	case len(all) == 0:
		return d.fill(value, path, depth)
	}
	last := all[len(all)-1]
	_, end := d.extent(last, path[:depth])
	text, err := d.block(value, path[depth:], last.first.Column-1, isList(parent))
	if err != nil {
		return nil, err
	}
	return d.apply(end, end, text, path)
}

// comment returns the comment behind a plain value or text of one line, with the space before
// it, "" for none.
func (d *Document) comment(n *yaml.Node) string {
	line := strings.TrimRight(d.line[n.Line-1], "\r\n")
	value, ok := strings.CutSuffix(strings.TrimRight(line, " \t"), strings.TrimRight(n.LineComment, " \t"))
	if n.Kind != yaml.ScalarNode || n.LineComment == "" || !ok {
		return ""
	}
	return line[len(strings.TrimRight(value, " \t")):]
}

// fill writes the first member of a mapping that is empty: nothing, {} or [].
func (d *Document) fill(value json.RawMessage, path []string, depth int) (*Document, error) {
	m, _ := d.member(path[:depth])
	line := d.line[m.first.Line-1]
	bare, comment, _ := strings.Cut(strings.TrimRight(line, "\r\n"), " #")
	key, rest, ok := strings.Cut(bare, ":")
	if rest = strings.TrimSpace(rest); !ok || rest != "" && rest != "{}" && rest != "[]" && rest != "null" && rest != "~" {
		return nil, ErrFlow
	}
	text, err := d.block(value, path[depth:], m.first.Column-1+d.indent(), rest == "[]")
	if err != nil {
		return nil, err
	}
	if comment != "" {
		comment = " #" + comment
	}
	return d.apply(m.first.Line-1, m.first.Line, key+":"+comment+d.newline()+text, path)
}

// Remove deletes what a path leads to, with the comments right above it. A mapping that
// has nothing left becomes {}. A path that leads nowhere returns the document itself.
func (d *Document) Remove(path ...string) (*Document, error) {
	if d.find(path) == nil {
		return d, nil
	}
	if err := d.editable(path); err != nil {
		return nil, err
	}
	m, parent := d.member(path)
	first, end := d.extent(m, parent)
	first = d.own(first)
	text := ""
	if n := len(parent); n > 0 && len(members(d.find(parent))) == 1 {
		// The line above is that of its mapping.
		p, _ := d.member(parent)
		empty := map[bool]string{false: " {}", true: " []"}[isList(d.find(parent))]
		at := p.first.Line - 1
		key, rest, _ := strings.Cut(d.line[at], ":")
		text = key + ":" + empty + rest + strings.Join(d.line[at+1:first], "")
		first = at
	}
	return d.apply(first, end, text, path)
}

// editable reports why a path cannot be edited: a value on the way is in flow style, or an
// alias.
func (d *Document) editable(path []string) error {
	for i := range path {
		n := d.find(path[:i])
		switch {
		case n == nil:
			return nil
		case n.Kind == yaml.AliasNode:
			return ErrAlias
		case n.Kind == yaml.ScalarNode && n.Tag != "!!null":
			return fmt.Errorf("line %d: a value where a mapping is due", n.Line)
		case n.Style&yaml.FlowStyle != 0 && len(n.Content) > 0:
			return ErrFlow
		}
	}
	return nil
}

// member returns the member that a path leads to, and the path of its mapping.
func (d *Document) member(path []string) (member, []string) {
	parent := path[:len(path)-1]
	all := members(d.find(parent))
	i := slices.IndexFunc(all, func(m member) bool { return m.name == path[len(path)-1] })
	return all[i], parent
}

func isList(n *yaml.Node) bool { return n != nil && n.Kind == yaml.SequenceNode }

// extent returns the lines of a member: those up to the next one that is indented no more
// than it is, without the blank lines and comments before that.
func (d *Document) extent(m member, parent []string) (first, end int) {
	first = m.first.Line - 1
	column := m.first.Column - 1
	if isList(d.find(parent)) {
		column = strings.IndexByte(d.line[first], '-')
	}
	return first, max(first+1, d.end(m.value, column))
}

// end returns the line behind a value of something in a column.
func (d *Document) end(value *yaml.Node, column int) int {
	end := lastLine(value)
	for at := end; at < len(d.line); at++ {
		line := strings.TrimRight(d.line[at], "\r\n")
		bare := strings.TrimLeft(line, " ")
		depth := len(line) - len(bare)
		switch {
		case bare == "" || bare[0] == '#' && depth <= column:
			continue
		case depth <= column && !d.inValue(value, at):
			return end
		}
		end = at + 1
	}
	return end
}

// inValue reports whether a line belongs to a list that is not indented below its key.
func (d *Document) inValue(v *yaml.Node, at int) bool {
	return v.Kind == yaml.SequenceNode && v.Style&yaml.FlowStyle == 0 && at < lastLine(v)
}

// lastLine returns the line in which the last node of a value begins.
func lastLine(n *yaml.Node) int {
	last := n.Line
	for _, c := range n.Content {
		last = max(last, lastLine(c))
	}
	return last
}

// own returns the first of the comment lines right above a line.
func (d *Document) own(first int) int {
	indent := len(d.line[first]) - len(strings.TrimLeft(d.line[first], " "))
	for first > 0 {
		above := d.line[first-1]
		bare := strings.TrimLeft(above, " ")
		if !strings.HasPrefix(bare, "#") || len(above)-len(bare) != indent {
			break
		}
		first--
	}
	return first
}

// block returns the lines of a member with a value, below mappings of their own for the
// names of the path before the last.
func (d *Document) block(value json.RawMessage, path []string, column int, list bool) (string, error) {
	var v yaml.Node
	if err := yaml.Unmarshal(value, &v); err != nil { // JSON is YAML
		return "", err
	}
	node := v.Content[0]
	plain(node)
	for i, name := range slices.Backward(path) {
		key := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name}
		if i == 0 && list {
			node = &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{named(node, name)}}
			break
		}
		node = &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{key, node}}
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(d.indent())
	if err := enc.Encode(node); err != nil {
		return "", err
	}
	text := b.String()
	if list {
		column = max(column-2, 0) // that of the dash
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			out.WriteString(strings.Repeat(" ", column))
		}
		out.WriteString(strings.TrimSuffix(line, "\n") + d.newline())
	}
	return out.String(), nil
}

// named returns a mapping that begins with its name.
func named(n *yaml.Node, name string) *yaml.Node {
	out := *n
	out.Content = []*yaml.Node{{Kind: yaml.ScalarNode, Tag: "!!str", Value: nameKey}, {Kind: yaml.ScalarNode, Tag: "!!str", Value: name}}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value != nameKey {
			out.Content = append(out.Content, n.Content[i], n.Content[i+1])
		}
	}
	return &out
}

// oldBool reports whether YAML 1.1 reads a word as true or false.
func oldBool(s string) bool {
	return slices.Contains([]string{"y", "n", "yes", "no", "on", "off"}, strings.ToLower(s))
}

// plain writes a value that was read from JSON as people write YAML.
func plain(n *yaml.Node) {
	flow := len(n.Content) == 0 && n.Kind != yaml.ScalarNode
	n.Style = 0
	switch {
	case flow:
		n.Style = yaml.FlowStyle
	case n.Tag == "!!str" && oldBool(n.Value):
		n.Style = yaml.DoubleQuotedStyle
	}
	for _, c := range n.Content {
		plain(c)
	}
}

// indent returns the number of spaces of one level, 2 where the text shows none.
func (d *Document) indent() int {
	for i := range d.line {
		bare := strings.TrimLeft(d.line[i], " ")
		if n := len(d.line[i]) - len(bare); n > 1 && i > 0 && strings.TrimSpace(bare) != "" && bare[0] != '#' {
			return min(n, 8)
		}
	}
	return 2
}

func (d *Document) newline() string {
	if len(d.line) > 0 && strings.HasSuffix(d.line[0], "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// apply replaces some lines, and verifies that only what the path leads to has changed.
func (d *Document) apply(first, end int, text string, path []string) (*Document, error) {
	var b bytes.Buffer
	if bytes.HasPrefix(d.raw, []byte(bom)) {
		b.WriteString(bom)
	}
	before := strings.Join(d.line[:first], "")
	if before != "" && text != "" && !strings.HasSuffix(before, "\n") {
		before += d.newline()
	}
	b.WriteString(before + text + strings.Join(d.line[end:], ""))
	edited, err := Parse(b.Bytes())
	if err != nil {
		return nil, errors.New("the edit would break the file")
	}
	if !d.unchanged(edited, path) {
		return nil, errors.New("the edit would change something else")
	}
	return edited, nil
}
