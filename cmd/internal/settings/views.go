package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mcpctl/mcpctl/internal/views"
	"github.com/mcpctl/mcpctl/runtime/config"
)

const (
	viewsName = "serve.views"
	viewName  = "serve.view"
)

const viewsExample = `as in views: {coding: {tools: ["github__*"]}}`

// ToolName is the longest tool name that several model APIs accept; what clients put before names,
// serve.nameOverhead, is part of it.
const ToolName = 64

// Views returns the views of a config.yaml, which need not exist; nil is for none. Its error is a
// [*config.Problem]. What they say may change while serve runs: only this file has to be watched.
func Views(path string) (*views.Set, error) {
	src := source{}
	if err := src.readFile(path); err != nil {
		return nil, err
	}
	return src.file.readViews()
}

// ViewProblem returns a mistake of the views of a config.yaml with its place in the file.
func ViewProblem(path string, p *views.Problem) *config.Problem {
	src := source{}
	if err := src.readFile(path); err != nil || src.file == nil {
		src.file = &file{path: path}
	}
	return viewReader{src.file}.problemOf(p)
}

// viewReader reads views.
type viewReader struct{ *file }

// readViews reads the views, nil for none.
func (file *file) readViews() (*views.Set, error) {
	if file == nil {
		return nil, nil
	}
	f := viewReader{file}
	all := map[string]views.Config{}
	if n := f.node(viewsName); n != nil {
		if err := f.each(viewsName, n, viewsExample, func(name *yaml.Node, of *yaml.Node) error {
			c, err := f.view(viewsName+"."+name.Value, of)
			c.Order = len(all)
			all[name.Value] = c
			return err
		}); err != nil {
			return nil, err
		}
	}
	fallback := ""
	if f.has(viewName) {
		fallback = f.text(viewName)
	}
	set, err := views.New(all, fallback)
	if p, ok := errors.AsType[*views.Problem](err); ok {
		return nil, f.problemOf(p)
	}
	return set, err
}

// problemOf is a mistake with its place: that of the deepest name on its path which is there.
func (f viewReader) problemOf(p *views.Problem) *config.Problem {
	path := append([]string{viewsName, p.View}, p.Path...)
	at, n := f.node(viewsName), f.node(viewsName)
	if p.View == "" && len(p.Path) > 0 {
		path, at, n = []string{viewName}, f.node(viewName), nil
	}
	for _, name := range path[1:] {
		if n == nil {
			break
		}
		members := resolved(n)
		n = nil
		for i := 0; members.Kind == yaml.MappingNode && i+1 < len(members.Content); i += 2 {
			if members.Content[i].Value == name {
				at, n = members.Content[i], members.Content[i+1]
			}
		}
	}
	if at == nil {
		at = &yaml.Node{}
	}
	return &config.Problem{File: f.path, Line: at.Line, Column: at.Column, Message: strings.Join(path, ".") + ": " + p.Text, Remedy: p.Remedy}
}

// each visits the members of a mapping. Null is an empty one.
func (f viewReader) each(name string, n *yaml.Node, example string, visit func(key, value *yaml.Node) error) error {
	if n == nil {
		return nil
	}
	n = resolved(n)
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		return f.problemAt(n, name+" is no mapping", example)
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		switch {
		case k.Kind != yaml.ScalarNode || k.ShortTag() == "!!merge":
			return f.problemAt(k, name+" has a name that is no text", example)
		case seen[k.Value]:
			return f.problemAt(k, name+" has "+k.Value+" twice", "remove one of the two")
		}
		seen[k.Value] = true
		if err := visit(k, n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// settingsOf is decode for what stands below a name that a user chose.
func (f viewReader) settingsOf(name string, n *yaml.Node, to any, example string) error {
	if n = resolved(n); n.Kind != yaml.MappingNode && n.Tag != "!!null" {
		return f.problemAt(n, name+" is no mapping", example)
	}
	return f.decode(name, n, to, example)
}

// resultIn is a views.Result as it is written.
type resultIn struct {
	MaxTokens int      `yaml:"maxTokens"`
	Fields    []string `yaml:"fields"`
}

// view reads one view.
func (f viewReader) view(name string, n *yaml.Node) (c views.Config, err error) {
	in := struct {
		Tools        []string   `yaml:"tools"`
		Prompts      []string   `yaml:"prompts"`
		Resources    []string   `yaml:"resources"`
		Clients      []string   `yaml:"clients"`
		Groups       []string   `yaml:"groups"`
		Only         string     `yaml:"only"`
		List         string     `yaml:"list"`
		Budget       int        `yaml:"budget"`
		Pin          []string   `yaml:"pin"`
		Expose       int        `yaml:"expose"`
		Instructions string     `yaml:"instructions"`
		Describe     string     `yaml:"describe"`
		Override     *yaml.Node `yaml:"override"`
		Results      *resultIn  `yaml:"results"`
	}{}
	if err := f.settingsOf(name, n, &in, `as in {tools: ["github__*"], list: auto, budget: 10000}`); err != nil {
		return c, err
	}
	c = views.Config{
		Tools: in.Tools, Prompts: in.Prompts, Resources: in.Resources, Clients: in.Clients, Groups: in.Groups, Pin: in.Pin, Only: in.Only, List: views.Form(in.List),
		Budget: in.Budget, Expose: in.Expose, Instructions: in.Instructions, Describe: in.Describe, Results: (*views.Result)(in.Results), Override: map[string]views.Override{},
	}
	name += ".override"
	return c, f.each(name, in.Override, `as in override: {github__create_issue: {name: file_bug}}`, func(tool, of *yaml.Node) (err error) {
		c.Override[tool.Value], err = f.override(name+"."+tool.Value, of)
		return err
	})
}

// override reads what is changed of one tool.
func (f viewReader) override(name string, n *yaml.Node) (o views.Override, err error) {
	in := struct {
		Name        string     `yaml:"name"`
		Title       string     `yaml:"title"`
		Description string     `yaml:"description"`
		Arguments   *yaml.Node `yaml:"arguments"`
		Result      *resultIn  `yaml:"result"`
	}{}
	if err := f.settingsOf(name, n, &in, `as in {name: file_bug, description: "Files a bug."}`); err != nil {
		return o, err
	}
	if most := ToolName - f.nameOverhead(); len(in.Name) > most {
		return o, f.problemAt(n, fmt.Sprintf("%s.name has %d characters, want %d at most", name, len(in.Name), most), "clients put their own before it: see serve.nameOverhead")
	}
	o = views.Override{Name: in.Name, Title: in.Title, Description: in.Description, Result: (*views.Result)(in.Result), Arguments: map[string]views.Argument{}}
	name += ".arguments"
	return o, f.each(name, in.Arguments, `as in arguments: {owner: {value: acme}}`, func(argument, of *yaml.Node) (err error) {
		o.Arguments[argument.Value], err = f.argument(name+"."+argument.Value, of)
		return err
	})
}

// argument reads what is changed of one argument.
func (f viewReader) argument(name string, n *yaml.Node) (a views.Argument, err error) {
	in := struct {
		Value       *yaml.Node `yaml:"value"`
		Default     *yaml.Node `yaml:"default"`
		Hide        bool       `yaml:"hide"`
		Description string     `yaml:"description"`
	}{}
	if err := f.settingsOf(name, n, &in, "as in {value: acme}"); err != nil {
		return a, err
	}
	a = views.Argument{Hide: in.Hide, Description: in.Description}
	if a.Value, err = f.json(name+".value", in.Value); err == nil {
		a.Default, err = f.json(name+".default", in.Default)
	}
	return a, err
}

// nameOverhead returns what clients put before names.
func (f viewReader) nameOverhead() int {
	for _, k := range keys() {
		if k.name == "serve.nameOverhead" {
			if f.has(k.name) {
				n, _ := strconv.Atoi(f.text(k.name)) // what is wrong with it is said elsewhere
				return n
			}
			return k.def.(int)
		}
	}
	return 0
}

// maxJSON is how long a value may become, in bytes, and maxDepth how deep: an alias of YAML may
// stand for a part of the file again and again.
const (
	maxJSON  = 64 << 10
	maxDepth = 50
)

// json returns a value as JSON in one line, nil for none. Numbers keep their digits.
func (f viewReader) json(name string, n *yaml.Node) (json.RawMessage, error) {
	if n == nil {
		return nil, nil
	}
	var b bytes.Buffer
	if err := writeJSON(&b, n, 0); err != nil {
		return nil, f.problemAt(n, name+" "+err.Error(), "it is a value of JSON, as in 1, text or [a, b]")
	}
	return b.Bytes(), nil
}

func writeJSON(b *bytes.Buffer, n *yaml.Node, depth int) error {
	n = resolved(n)
	if b.Len() > maxJSON || depth > maxDepth {
		return fmt.Errorf("is too long, want %d bytes at most", maxJSON)
	}
	switch n.Kind {
	case yaml.SequenceNode:
		b.WriteByte('[')
		for i, item := range n.Content {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeJSON(b, item, depth+1); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	case yaml.MappingNode:
		b.WriteByte('{')
		seen := map[string]bool{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			k := n.Content[i]
			if k.Kind != yaml.ScalarNode || k.ShortTag() == "!!merge" || seen[k.Value] {
				return errors.New("has a member that is there twice, or has no plain name")
			}
			if seen[k.Value] = true; i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(jsonText(k.Value) + ":")
			if err := writeJSON(b, n.Content[i+1], depth+1); err != nil {
				return err
			}
		}
		b.WriteByte('}')
	default:
		text, err := scalarJSON(n)
		b.WriteString(text)
		return err
	}
	return nil
}

// scalarJSON returns a plain value. A date is the text that it is written as.
func scalarJSON(n *yaml.Node) (string, error) {
	switch n.ShortTag() {
	case "!!str", "!!timestamp":
		return jsonText(n.Value), nil
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			return n.Value, nil
		}
	case "!!bool", "!!null":
	default:
		return "", errors.New("is no value of JSON")
	}
	var value any
	if err := n.Decode(&value); err != nil {
		return "", errors.New("is no value of JSON")
	}
	text, err := json.Marshal(value)
	if err != nil { // infinity
		return "", errors.New("is no value of JSON")
	}
	return string(text), nil
}

// jsonText returns a text as a string of JSON.
func jsonText(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a text can be written always
	return strings.TrimSuffix(b.String(), "\n")
}
