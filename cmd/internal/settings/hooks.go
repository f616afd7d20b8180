package settings

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mcpctl/mcpctl/runtime/access/guards"
	"github.com/mcpctl/mcpctl/runtime/lazy"
	"github.com/mcpctl/mcpctl/runtime/nearest"
)

const hooksName = "serve.hooks"

const hooksExample = `as in hooks: [{name: no-keys, tools: ["*"], match: {in: arguments, pattern: "BEGIN [A-Z ]*PRIVATE KEY"}, action: block}]`

// Hook is one of serve.hooks: a rule that looks for a pattern.
type Hook struct {
	Name string
	// Tools are patterns of exposed names, with ! in front of those to leave out; nil: all.
	Tools []string
	// In is "arguments" or "result", Pattern a regular expression that compiles, Action
	// "block", "redact", "audit" or "label".
	In, Pattern, Action string
}

// Hooks returns the hooks of a config.yaml, which need not exist. Its error is a
// [*config.Problem]. What they say may change while serve runs: only this file has to be watched.
func Hooks(path string) ([]Hook, error) {
	src := source{}
	if err := src.readFile(path); err != nil {
		return nil, err
	}
	return src.file.hooks(src.file.node(hooksName))
}

// checkHooks reads the hooks for what is wrong with them.
func (f *file) checkHooks(n *yaml.Node, _ *Access) error {
	_, err := f.hooks(n)
	return err
}

func (f *file) hooks(n *yaml.Node) (all []Hook, err error) {
	if n == nil || n.ShortTag() == "!!null" {
		return nil, nil
	}
	if n.Kind != yaml.SequenceNode {
		return nil, f.problemAt(n, "serve.hooks is no list", hooksExample)
	}
	for _, item := range n.Content {
		h, err := f.hook(resolved(item))
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(o Hook) bool { return o.Name == h.Name }) {
			return nil, f.problemAt(item, "serve.hooks has "+quote(h.Name)+" twice", "each hook has a name of its own")
		}
		all = append(all, h)
	}
	return all, nil
}

func (f *file) hook(n *yaml.Node) (Hook, error) {
	in := struct {
		Name   string     `yaml:"name"`
		Tools  []string   `yaml:"tools"`
		Match  *yaml.Node `yaml:"match"`
		Action string     `yaml:"action"`
	}{}
	if err := f.decode(hooksName, n, &in, hooksExample); err != nil {
		return Hook{}, err
	}
	if in.Match == nil {
		return Hook{}, f.problemAt(n, "serve.hooks has a hook without match", hooksExample)
	}
	h := Hook{Name: in.Name, Tools: in.Tools, Action: in.Action}
	preset, err := f.match(in.Match, &h)
	if err != nil {
		return h, err
	}
	if h.Name == "" {
		h.Name = preset
	}
	at := func(name string) *yaml.Node { return member(n, name) }
	switch {
	case h.Name == "":
		return h, f.problemAt(n, "serve.hooks has a hook without name", hooksExample)
	case !hookName().MatchString(h.Name):
		return h, f.problemAt(at("name"), "serve.hooks: "+quote(h.Name)+" cannot be the name of a hook", "a name has letters, digits, '-', '_' and '.', 64 at most")
	case in.Tools != nil && len(in.Tools) == 0:
		return h, f.problemAt(at("tools"), "serve.hooks.tools is empty: the hook looks into nothing", `leave it out for all tools, or as in tools: ["gh__*"]`)
	case slices.ContainsFunc(in.Tools, func(p string) bool { return strings.TrimPrefix(p, "!") == "" }):
		return h, f.problemAt(at("tools"), "serve.hooks.tools has a pattern without a name", `as in tools: ["gh__*", "!gh__get_*"]`)
	case h.Action == "":
		return h, f.problemAt(n, "serve.hooks: "+h.Name+" does not say what follows where it finds something", "write action: block, redact, audit or label")
	case !slices.Contains(hookActions(), h.Action):
		return h, f.problemAt(at("action"), "serve.hooks.action is "+quote(h.Action)+", want "+strings.Join(hookActions(), ", "), near(h.Action, hookActions()))
	case h.Action == "audit" && f.node(auditName) == nil:
		return h, f.problemAt(at("action"), "serve.hooks: "+h.Name+" has what it finds recorded, and there is no audit log", "add a section audit, as in audit: {keep: 90d}")
	}
	return h, nil
}

// match reads what a rule looks for, and returns the name of its preset, "" for none.
func (f *file) match(n *yaml.Node, h *Hook) (preset string, err error) {
	const example = "as in match: {in: arguments, pattern: '\\bdrop table\\b'}"
	in := struct {
		In      string `yaml:"in"`
		Pattern string `yaml:"pattern"`
		Preset  string `yaml:"preset"`
	}{}
	if err := f.decode(hooksName+".match", n, &in, example); err != nil {
		return "", err
	}
	n = resolved(n)
	at := func(name string) *yaml.Node { return member(n, name) }
	parts := []string{"arguments", "result"}
	switch {
	case in.Pattern == "" && in.Preset == "":
		return "", f.problemAt(n, "serve.hooks.match has no pattern", example)
	case in.Pattern != "" && in.Preset != "":
		return "", f.problemAt(at("preset"), "serve.hooks.match has a pattern and a preset", "write one of the two")
	case in.In == "" && in.Preset != "":
		in.In = parts[0]
	case in.In == "":
		return "", f.problemAt(n, "serve.hooks.match does not say what it looks at", "write in: arguments or in: result")
	}
	if !slices.Contains(parts, in.In) {
		return "", f.problemAt(at("in"), "serve.hooks.match.in is "+quote(in.In)+", want arguments or result", near(in.In, parts))
	}
	if in.Preset != "" {
		all := guards.Presets()
		if in.Pattern = all[in.Preset]; in.Pattern == "" {
			return "", f.problemAt(at("preset"), "serve.hooks.match.preset is "+quote(in.Preset)+", which is not there", near(in.Preset, slices.Sorted(maps.Keys(all))))
		}
	}
	re, err := regexp.Compile(in.Pattern)
	if wrong, ok := errors.AsType[*syntax.Error](err); ok { // without the pattern: this may be logged
		return "", f.problemAt(at("pattern"), fmt.Sprintf("serve.hooks.match.pattern is no regular expression: %s", wrong.Code), "in the syntax of RE2; in YAML, single quotes leave backslashes as they are")
	}
	if re.MatchString("") {
		return "", f.problemAt(at("pattern"), "serve.hooks.match.pattern matches the empty text, and so every call", "write + in the place of *, or name what has to be there")
	}
	h.In, h.Pattern = in.In, in.Pattern
	return in.Preset, nil
}

func hookActions() []string { return []string{"block", "redact", "audit", "label"} }

var hookName = lazy.Regexp(`^[A-Za-z0-9._-]{1,64}$`)

// near is the remedy for a misspelt word.
func near(word string, known []string) string {
	if found := nearest.Names(word, known, 1); len(found) > 0 {
		return "did you mean " + found[0] + "?"
	}
	return "there are " + strings.Join(known, ", ")
}
