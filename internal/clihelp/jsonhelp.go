package clihelp

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ParseJSON returns the commands that a tool describes in JSON. It knows the members
// that oclif ("commands --json", oclif.manifest.json), click ("to_info_dict") and tools
// with a form of their own have in common: name or id, summary or help or description,
// flags or options or params, args or arguments, commands or subcommands. It reports
// whether the text is such a document.
func ParseJSON(text []byte, path []string) (Command, bool) {
	if len(text) > maxInput {
		return Command{}, false
	}
	var doc any
	if err := json.Unmarshal(text, &doc); err != nil {
		return Command{}, false
	}
	r := jsonReader{left: maxItems}
	if list, ok := doc.([]any); ok {
		doc = map[string]any{"commands": list}
	}
	m, ok := doc.(map[string]any)
	if !ok {
		return Command{}, false
	}
	if inner, ok := m["command"].(map[string]any); ok {
		m = inner
	}
	c := r.command(m, path, 0)
	return c, len(c.Sub)+len(c.Flags)+len(c.Args) > 0
}

// jsonReader reads a description. At most left commands and flags are returned.
type jsonReader struct{ left int }

func (r *jsonReader) command(m map[string]any, path []string, depth int) Command {
	c := Command{Path: slices.Clone(path), Text: text(m, "description", "help", "long")}
	c.Summary = text(m, "summary", "short_help", "short", "about")
	if c.Summary == "" {
		c.Summary, _, _ = strings.Cut(c.Text, "\n")
	}
	c.Deprecated = yes(m["deprecated"])
	for _, a := range list(m["aliases"]) {
		if name := text(a, "name"); validName(name) {
			c.Aliases = append(c.Aliases, name)
		}
	}
	for _, key := range []string{"flags", "options", "params"} {
		for _, f := range list(m[key]) {
			r.param(&c, f)
		}
	}
	for _, key := range []string{"args", "arguments", "positionals"} {
		for _, a := range list(m[key]) {
			r.arg(&c, a)
		}
	}
	if depth == maxDepth {
		return c
	}
	for _, key := range []string{"commands", "subcommands"} {
		for _, s := range list(m[key]) {
			r.sub(&c, s, depth)
		}
	}
	return c
}

// sub adds a subcommand, which may be named by its whole path: "config:get".
func (r *jsonReader) sub(c *Command, m map[string]any, depth int) {
	words := strings.FieldsFunc(text(m, "id", "name"), func(q rune) bool { return q == ':' || q == ' ' })
	if len(words) == 0 || len(words) > maxDepth-depth || r.left == 0 || yes(m["hidden"]) || slices.ContainsFunc(words, func(w string) bool { return !validName(w) }) {
		return
	}
	r.left--
	at := c
	for i, w := range words {
		path := append(slices.Clone(at.Path), w)
		k := slices.IndexFunc(at.Sub, func(s Command) bool { return slices.Equal(s.Path, path) })
		if i == len(words)-1 {
			made := r.command(m, path, depth+i+1)
			if k < 0 {
				at.Sub = append(at.Sub, made)
			} else {
				made.Sub = append(at.Sub[k].Sub, made.Sub...)
				at.Sub[k] = made
			}
			return
		}
		if k < 0 {
			at.Sub = append(at.Sub, Command{Path: path})
			k = len(at.Sub) - 1
		}
		at = &at.Sub[k]
	}
}

// param adds a flag, or an argument where click says that it is one.
func (r *jsonReader) param(c *Command, m map[string]any) {
	if text(m, "param_type_name") == "argument" {
		r.arg(c, m)
		return
	}
	if r.left == 0 || yes(m["hidden"]) {
		return
	}
	var names []spelling
	add := func(name, dash string) {
		if name != "" && !strings.HasPrefix(name, "-") {
			name = dash + name
		}
		if flagName().FindString(name) == name && name != "" {
			names = append(names, spelling{name: name})
		}
	}
	opts, _ := m["opts"].([]any)
	for _, o := range opts {
		if s, ok := o.(string); ok {
			add(s, "--")
		}
	}
	if len(names) == 0 {
		add(text(m, "name", "long"), "--")
		add(text(m, "char", "short", "shorthand"), "-")
	}
	if len(names) == 0 {
		return
	}
	r.left--
	f := newFlag(names)
	f.Summary = text(m, "summary", "help", "description", "usage")
	f.Required, f.Repeated, f.Deprecated = yes(m["required"]), yes(m["multiple"]) || yes(m["count"]), yes(m["deprecated"])
	kind := text(m, "type")
	if t, ok := m["type"].(map[string]any); ok {
		kind = text(t, "name", "param_type")
		f.Enum = words(t["choices"])
	}
	if f.Enum == nil {
		f.Enum = words(m["options"])
	}
	if !yes(m["is_flag"]) && !yes(m["count"]) && kind != "boolean" && kind != "bool" && kind != "" {
		f.Value, f.Kind = kind, kindOf(kind)
	}
	if d := m["default"]; d != nil {
		f.Default = strings.TrimSpace(fmt.Sprint(d))
	}
	if yes(m["allowNo"]) {
		f.Negated = "--no-" + strings.TrimLeft(f.Long, "-")
	}
	c.Flags = append(c.Flags, f)
}

func (r *jsonReader) arg(c *Command, m map[string]any) {
	name := text(m, "name", "id")
	if name == "" || r.left == 0 {
		return
	}
	r.left--
	a := Arg{Name: name, Required: yes(m["required"]), Summary: text(m, "description", "help")}
	n, _ := m["nargs"].(float64)
	a.Repeated = n < 0 || yes(m["multiple"]) || yes(m["variadic"])
	a.Enum = words(m["options"])
	c.Args = append(c.Args, a)
}

// text returns the first member that is a text and not empty.
func text(m map[string]any, keys ...string) string {
	for _, k := range keys {
		if s, ok := m[k].(string); ok && s != "" {
			return cut(s, maxSummary)
		}
	}
	return ""
}

func yes(v any) bool {
	b, _ := v.(bool)
	return b
}

// list returns the objects of an array, or of an object whose keys are their names.
func list(v any) []map[string]any {
	var out []map[string]any
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			switch e := e.(type) {
			case map[string]any:
				out = append(out, e)
			case string:
				out = append(out, map[string]any{"name": e})
			}
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if e, ok := v[k].(map[string]any); ok {
				e = maps.Clone(e)
				if text(e, "name", "id", "opts") == "" {
					e["name"] = k
				}
				out = append(out, e)
			}
		}
	}
	return out[:min(len(out), maxItems)]
}

func words(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, e := range list {
		if s, ok := e.(string); ok && len(out) < maxValues {
			out = append(out, s)
		}
	}
	return out
}
