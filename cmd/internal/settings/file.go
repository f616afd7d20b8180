package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// file holds the position of each setting in config.yaml, which viper lacks.
type file struct {
	path string
	at   map[string]*yaml.Node // by the setting's name
}

// parseFile reads config.yaml and checks that it holds known settings of plain
// values, each once. The errors are [*config.Problem]s.
func parseFile(path string, b []byte) (*file, error) {
	f := &file{path: path, at: map[string]*yaml.Node{}}
	dec := yaml.NewDecoder(bytes.NewReader(b))
	var doc yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return f, nil
	case err != nil:
		return nil, f.syntaxError(err, b)
	}
	var more yaml.Node
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		if err != nil {
			return nil, f.syntaxError(err, b)
		}
		return nil, f.problemAt(&more, "a second YAML document", "")
	}
	root := doc.Content[0]
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		return f, nil
	}
	if root.Kind != yaml.MappingNode {
		return nil, f.problemAt(root, "the file holds no settings", "as in timeout: 30s")
	}
	if err := f.mapping(root, ""); err != nil {
		return nil, err
	}
	return f, nil
}

// mapping checks one level; prefix is "" or "serve.".
func (f *file) mapping(n *yaml.Node, prefix string) error {
	known := Keys()
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		name := prefix + k.Value
		if v.Kind == yaml.AliasNode {
			v = v.Alias
		}
		if f.at[name] != nil {
			return f.problemAt(k, fmt.Sprintf("%s is there twice", name), "remove one of the two")
		}
		f.at[name] = v
		group := slices.ContainsFunc(known, func(s string) bool { return strings.HasPrefix(s, name+".") })
		remedies := strangers()
		switch {
		case name == accessName, name == auditName:
			f.noteMembers(name, v)
		case sections()[name] != nil: // see access
		case name == viewsName: // see views
		case remedies[name] != "":
			return f.problemAt(k, fmt.Sprintf("unknown setting %q", name), remedies[name])
		case group && v.Kind == yaml.MappingNode:
			if err := f.mapping(v, name+"."); err != nil {
				return err
			}
		case group && v.Tag == "!!null":
		case group:
			return f.problemAt(v, name+" holds settings of its own", "indented below it, one a line")
		case !slices.Contains(known, name):
			return f.problemAt(k, fmt.Sprintf("unknown setting %q", name), remedy(prefix, k.Value))
		case mayBe(name, v):
			for _, item := range v.Content {
				object := item.Kind == yaml.MappingNode && mayBe(name, item)
				if v.Kind == yaml.SequenceNode && (item.Kind != yaml.ScalarNode || item.Tag == "!!null") && !object {
					return f.problemAt(item, name+" is a list of texts", "")
				}
			}
		case v.Kind != yaml.ScalarNode || v.Tag == "!!null":
			return f.problemAt(v, name+" has no plain value", "")
		}
	}
	return nil
}

// mayBe reports whether the value of a setting is a list or an object and may be one.
func mayBe(name string, v *yaml.Node) bool {
	return slices.ContainsFunc(keys(), func(k key) bool {
		return k.name == name && (k.list && v.Kind == yaml.SequenceNode || k.objects && v.Kind == yaml.MappingNode)
	})
}

// text returns the value of a setting as written in the file, lists a line per item,
// objects as JSON.
func (f *file) text(name string) string {
	n := f.at[name]
	if n.Kind != yaml.SequenceNode {
		return itemText(n)
	}
	var items []string
	for _, item := range n.Content {
		items = append(items, itemText(item))
	}
	return strings.Join(items, "\n")
}

func itemText(n *yaml.Node) string {
	if n.Kind != yaml.MappingNode {
		return n.Value
	}
	var object any
	if err := n.Decode(&object); err != nil {
		return "{" // which no setting takes
	}
	raw, err := json.Marshal(object)
	if err != nil {
		return "{"
	}
	return string(raw)
}

// remedy says what was meant by a name below prefix, or which names there are.
func remedy(prefix, name string) string {
	var here []string
	for _, s := range Table() {
		if above, ok := strings.CutSuffix(s.Name, "."+name); ok {
			return "it belongs below " + above + ", indented"
		}
		if rest, ok := strings.CutPrefix(s.Name, prefix); ok && s.Name != "" {
			first, _, _ := strings.Cut(rest, ".")
			here = append(here, first)
		}
	}
	if near := plain.Nearest(name, here, 1); len(near) > 0 {
		return "did you mean " + prefix + near[0] + "?"
	}
	slices.Sort(here)
	of := "settings are "
	if prefix != "" {
		of = "settings below " + strings.TrimSuffix(prefix, ".") + " are "
	}
	return of + strings.Join(slices.Compact(here), ", ")
}

func (f *file) has(name string) bool { return f != nil && f.at[name] != nil }

// problem returns an error about a setting of the file.
func (f *file) problem(name, message string) error { return f.problemAt(f.at[name], message, "") }

func (f *file) problemAt(n *yaml.Node, message, remedy string) error {
	return &config.Problem{File: f.path, Line: n.Line, Column: n.Column, Message: message, Remedy: remedy}
}

// syntaxError has the place of an error of the parser: behind the longest beginning of the
// text, in whole lines, that is YAML. The parser's own line is often that of what is around.
func (f *file) syntaxError(err error, text []byte) error {
	p := &config.Problem{File: f.path, Message: strings.TrimPrefix(err.Error(), "yaml: "), Remedy: "the file is YAML: names, a colon, a space, the value"}
	var line int
	if n, scanErr := fmt.Sscanf(p.Message, "line %d: ", &line); scanErr == nil && n == 1 {
		_, p.Message, _ = strings.Cut(p.Message, ": ")
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	n, end := len(lines)-1, len(text)-len(lines[len(lines)-1])
	for ; n > 0 && !isYAML(text[:end]); n-- {
		end -= len(lines[n-1])
	}
	p.Line, p.Column = n+1, 1+len(lines[n])-len(bytes.TrimLeft(lines[n], " "))
	if strings.Contains(p.Message, "tab character") {
		p.Remedy = "indent with spaces"
	}
	return p
}

// isYAML reports whether a text is YAML.
func isYAML(text []byte) bool {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	for {
		if err := dec.Decode(new(yaml.Node)); err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}
