package views

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/results"
)

const (
	// mostName is the greatest length of a tool's name that clients take.
	mostName = 64
	// mostExpose bounds the tools that join a session's list.
	mostExpose = 50
)

func quote(s string) string { return strconv.Quote(s) }

// namesOf says which views there are.
func namesOf(names []string) string {
	if len(names) == 0 {
		return "there are no views: describe one below views"
	}
	return "views are " + strings.Join(names, ", ")
}

func (v *View) problem(text, remedy string, path ...string) error {
	return &Problem{View: v.name, Path: path, Text: text, Remedy: remedy}
}

// isName reports whether a text may be the name of a tool or view: several clients and
// models take no other characters.
func isName(s string) bool {
	return s != "" && len(s) <= mostName && strings.IndexFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	}) < 0
}

// newView checks and compiles one view.
func newView(name string, c Config) (*View, error) {
	v := &View{name: name, c: c, tools: map[string]*ToolEdit{}, exposed: map[string]string{}}
	if !isName(name) {
		return nil, v.problem("the name is not made of 1 to 64 letters, digits, _ and -", "it is a part of URLs, as in /mcp/coding")
	}
	for _, list := range []struct {
		of, example string
		patterns    []string
	}{
		{"tools", `as in tools: ["github__*", "!*__delete_*"]`, c.Tools},
		{"prompts", `as in prompts: ["github__*"]`, c.Prompts},
		{"resources", `as in resources: ["file:///srv/*"]`, c.Resources},
		{"clients", `as in clients: [claude-code, "cursor*"]`, c.Clients},
	} {
		for _, pattern := range list.patterns {
			if why := patternFault(pattern, list.of == "clients"); why != "" {
				return nil, v.problem(quote(pattern)+" is no pattern: "+why, list.example, list.of)
			}
		}
	}
	v.shows = [...]selection{Tool: selectionOf(c.Tools), Prompt: selectionOf(c.Prompts), Resource: selectionOf(c.Resources)}
	if len(c.Clients) > 0 {
		v.clients = selectionOf(c.Clients)
	}
	if slices.Contains(c.Groups, "") {
		return nil, v.problem("a group has no name", "as in groups: [eng]", "groups")
	}
	if err := v.checkList(); err != nil {
		return nil, err
	}
	if c.Results != nil {
		shape, err := v.result(c.Results, "results")
		if err != nil {
			return nil, err
		}
		v.rest = &ToolEdit{result: shape}
	}
	return v, v.overrides()
}

// checkList checks what a list looks like.
func (v *View) checkList() error {
	c := &v.c
	switch {
	case c.Only != "" && c.Only != ReadOnly:
		return v.problem(quote(c.Only)+" is not known", "only: read leaves out tools that may change something", "only")
	case !slices.Contains([]Form{"", ListAll, ListSearch, ListAuto}, c.List):
		return v.problem(quote(string(c.List))+" is not known", "want all, search or auto", "list")
	case c.Budget < 0:
		return v.problem("it is below 0", "as in budget: 10000, in tokens", "budget")
	case c.Expose < 0 || c.Expose > mostExpose:
		return v.problem(strconv.Itoa(c.Expose)+" is not from 0 to "+strconv.Itoa(mostExpose), "as in expose: 20", "expose")
	}
	for i, pin := range c.Pin {
		switch {
		case pin == "" || strings.ContainsAny(pin, "*! "):
			return v.problem(quote(pin)+" is no name of a tool", "pin has whole names, as in pin: [github__search_issues]", "pin")
		case slices.Contains(c.Pin[:i], pin):
			return v.problem(quote(pin)+" is there twice", "remove one of the two", "pin")
		case !v.shows[Tool].has(pin):
			return v.problem(quote(pin)+" is not in the view", "add it to tools, or remove it here", "pin")
		}
	}
	if word := unknownPlaceholder(c.Describe); word != "" {
		return v.problem("{"+word+"} is not known", "want {server}, {name} and {description}, as in \"[{server}] {description}\"", "describe")
	}
	return nil
}

// unknownPlaceholder returns a word in braces that stands for nothing.
func unknownPlaceholder(template string) string {
	for rest := template; ; {
		_, after, ok := strings.Cut(rest, "{")
		word, _, closed := strings.Cut(after, "}")
		if !ok || !closed {
			return ""
		}
		if isName(word) && word != "server" && word != "name" && word != "description" {
			return word
		}
		rest = after
	}
}

// result checks and compiles what is done to results.
func (v *View) result(r *Result, path ...string) (*results.Shape, error) {
	const example = `as in {maxTokens: 4000, fields: [number, "items[].id"]}`
	fields, err := results.ParseFields(r.Fields)
	switch {
	case err != nil:
		return nil, v.problem(err.Error(), example, path...)
	case r.MaxTokens < 0:
		return nil, v.problem("maxTokens is below 0", example, path...)
	case r.MaxTokens == 0 && fields == nil:
		return nil, v.problem("it says neither maxTokens nor fields", example, path...)
	}
	v.pages = v.pages || r.MaxTokens > 0
	return &results.Shape{MaxTokens: r.MaxTokens, Fields: fields}, nil
}

// overrides checks and compiles what is changed of tools.
func (v *View) overrides() error {
	folded := map[string]string{} // exposed names by the names that tools have, as clients compare them
	for _, tool := range slices.Sorted(maps.Keys(v.c.Override)) {
		o := v.c.Override[tool]
		path := []string{"override", tool}
		if tool == "" || strings.ContainsAny(tool, "* ") {
			return v.problem(quote(tool)+" is no name of a tool", "it is one name as listed without the view, as in github__create_issue", path...)
		}
		if o.Name != "" && !isName(o.Name) {
			return v.problem(quote(o.Name)+" is not made of 1 to 64 letters, digits, _ and -", "as in name: file_bug", "override", tool, "name")
		}
		t := &ToolEdit{name: o.Name, title: o.Title, description: o.Description, result: v.rest.Result()}
		if o.Result != nil {
			var err error
			if t.result, err = v.result(o.Result, "override", tool, "result"); err != nil {
				return err
			}
		}
		if err := v.arguments(tool, o.Arguments, t); err != nil {
			return err
		}
		name := strings.ToLower(t.Name(tool))
		if other := folded[name]; other != "" {
			return v.problem(quote(t.Name(tool))+" is the name of "+other+", too", "names are compared without regard to case: choose another", "override", tool, "name")
		}
		folded[name] = tool
		if v.tools[tool] = t; o.Name != "" {
			v.exposed[o.Name] = tool
		}
	}
	return nil
}

// arguments checks and compiles what is changed of the arguments of a tool.
func (v *View) arguments(tool string, all map[string]Argument, t *ToolEdit) error {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		a := all[name]
		path := []string{"override", tool, "arguments", name}
		says := 0
		for _, set := range []bool{a.Value != nil, a.Default != nil, a.Hide} {
			if set {
				says++
			}
		}
		switch {
		case name == "":
			return v.problem("an argument has no name", "as in arguments: {owner: {value: acme}}", path...)
		case says > 1:
			return v.problem("it has more than one of value, default and hide", "keep one: value is always sent, default where the client sends none, hide never", path...)
		case says == 0 && a.Description == "":
			return v.problem("it says nothing", "want value, default, hide or description, as in {value: acme}", path...)
		case a.Description != "" && (a.Hide || a.Value != nil):
			return v.problem("it has a description that nobody sees", "remove the description: clients do not see an argument with value or hide", path...)
		case a.Value != nil && rawjson.Valid(a.Value) != nil || a.Default != nil && rawjson.Valid(a.Default) != nil:
			return v.problem("the value is not JSON", "as in {value: acme}", path...)
		}
		// Line breaks between the parts of a value would break messages on a line each.
		out := argument{name: name, kind: described, description: a.Description}
		switch {
		case a.Value != nil:
			out.kind, out.value = fixed, rawjson.OneLine(slices.Clone(a.Value))
		case a.Default != nil:
			out.kind, out.value = defaulted, rawjson.OneLine(slices.Clone(a.Default))
		case a.Hide:
			out.kind = hidden
		}
		for _, other := range t.arguments {
			if strings.EqualFold(other.name, name) {
				return v.problem("it differs from "+other.name+" only in case", "several servers take both for one: keep the name that the tool has", path...)
			}
		}
		t.arguments = append(t.arguments, out)
		t.rewrites = t.rewrites || out.kind != described
	}
	return nil
}
