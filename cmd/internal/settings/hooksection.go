package settings

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/mcpctl/mcpctl/internal/access/guards"
	"github.com/mcpctl/mcpctl/internal/lazy"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/proxy"
)

// HookName is the setting.
const HookName = "serve.hooks"

// HookReader reads the file that has the section. Its errors have a place in it.
type HookReader interface {
	// Decode reads a mapping into a struct with yaml tags; example is how to write it.
	Decode(name string, n *yaml.Node, to any, example string) error
	// Problem returns what is wrong with a member of a mapping, "" for n itself, or for one
	// that is not there.
	Problem(n *yaml.Node, member, message, remedy string) error
	// Has reports whether a member of a mapping is there.
	Has(n *yaml.Node, member string) bool
}

// section is what is read.
type section struct {
	HookReader
	audited bool
}

const hooksExample = `as in hooks: [{name: no-keys, tools: ["*"], match: {in: arguments, pattern: "BEGIN [A-Z ]*PRIVATE KEY"}, action: block}]`

// HookEntry is one of serve.hooks: a rule that looks for a pattern, or a server with interceptors.
type HookEntry struct {
	Name string
	// Line is where it begins in the file.
	Line int
	// Tools are patterns of exposed names, with ! in front of those to leave out; nil: all.
	Tools []string
	// In is "arguments", "result" or "call", Pattern a regular expression that compiles,
	// Action "block", "redact", "audit" or "label". Message is what a rule that blocks says,
	// "" for what it has found and where.
	In, Pattern, Action, Message string
	// Server is the name of an entry of servers.json, "" for a rule. Mode is "enforce",
	// "audit", or "" for what each interceptor says of itself. Timeout bounds each
	// invocation, 0 is no bound. FailOpen lets calls pass where it has failed.
	Server, Mode string
	Timeout      time.Duration
	FailOpen     bool

	off bool // it is there, and does not count
}

// hookTimeout bounds an invocation of a server unless the settings say.
const hookTimeout = 5 * time.Second

// ReadHooks reads the section, nil for none. Audited says that there is an audit log.
func ReadHooks(r HookReader, n *yaml.Node, audited bool) (all []HookEntry, err error) {
	f := section{r, audited}
	if n == nil || n.ShortTag() == "!!null" {
		return nil, nil
	}
	if n.Kind != yaml.SequenceNode {
		return nil, f.Problem(n, "", "serve.hooks is no list", hooksExample)
	}
	var names []string
	for _, item := range n.Content {
		h, err := f.hook(item)
		if err != nil {
			return nil, err
		}
		if slices.Contains(names, h.Name) {
			return nil, f.Problem(item, "", "serve.hooks has "+strconv.Quote(h.Name)+" twice", "each hook has a name of its own")
		}
		if names = append(names, h.Name); !h.off {
			all = append(all, h)
		}
	}
	return all, nil
}

// hookIn is a hook as it is written.
type hookIn struct {
	Name     string     `yaml:"name"`
	Tools    []string   `yaml:"tools"`
	Match    *yaml.Node `yaml:"match"`
	Action   string     `yaml:"action"`
	Server   string     `yaml:"server"`
	Methods  []string   `yaml:"methods"`
	Mode     string     `yaml:"mode"`
	Timeout  *yaml.Node `yaml:"timeout"`
	FailOpen bool       `yaml:"failOpen"`
	Message  string     `yaml:"message"`
	Enabled  *bool      `yaml:"enabled"`
}

func (f section) hook(n *yaml.Node) (h HookEntry, err error) {
	var in hookIn
	if err := f.Decode(HookName, n, &in, hooksExample); err != nil {
		return h, err
	}
	h = HookEntry{Name: in.Name, Line: n.Line, Tools: in.Tools, Action: in.Action, Server: in.Server, Mode: in.Mode, FailOpen: in.FailOpen, Message: in.Message, off: in.Enabled != nil && !*in.Enabled}
	switch {
	case in.Match == nil && in.Server == "":
		return h, f.Problem(n, "", "serve.hooks has a hook with neither match nor server", hooksExample)
	case in.Match != nil && in.Server != "":
		return h, f.Problem(n, "server", "serve.hooks has a hook with match and server", "make two of it: they run in the order of the file")
	case in.Server != "":
		h.Name = cmp.Or(h.Name, in.Server)
		err = f.hookServer(n, &in, &h)
	default:
		var preset string
		preset, err = f.match(in.Match, &h)
		h.Name = cmp.Or(h.Name, preset)
		if err == nil {
			err = f.hookRule(n, &in, &h)
		}
	}
	if err != nil {
		return h, err
	}
	switch {
	case h.Name == "":
		return h, f.Problem(n, "", "serve.hooks has a hook without name", hooksExample)
	case !hookName().MatchString(h.Name):
		return h, f.Problem(n, "name", "serve.hooks: "+strconv.Quote(h.Name)+" cannot be the name of a hook", "a name has letters, digits, '-', '_' and '.', 64 at most")
	case in.Tools != nil && len(in.Tools) == 0:
		return h, f.Problem(n, "tools", "serve.hooks.tools is empty: the hook looks into nothing", `leave it out for all tools, or as in tools: ["gh__*"]`)
	case slices.ContainsFunc(in.Tools, func(p string) bool { return strings.TrimPrefix(p, "!") == "" }):
		return h, f.Problem(n, "tools", "serve.hooks.tools has a pattern without a name", `as in tools: ["gh__*", "!gh__get_*"]`)
	}
	return h, nil
}

// hookRule checks what only a rule has.
func (f section) hookRule(n *yaml.Node, in *hookIn, h *HookEntry) error {
	for _, name := range []string{"methods", "mode", "timeout", "failOpen"} {
		if f.Has(n, name) {
			return f.Problem(n, name, "serve.hooks."+name+" is of hooks with a server, and this one has a pattern", "leave it out")
		}
	}
	switch {
	case h.Action == "":
		return f.Problem(n, "", "serve.hooks: "+cmp.Or(h.Name, "a hook")+" does not say what follows where it finds something", "write action: block, redact, audit or label")
	case !slices.Contains(hookActions(), h.Action):
		return f.Problem(n, "action", "serve.hooks.action is "+strconv.Quote(h.Action)+", want "+strings.Join(hookActions(), ", "), nearHook(h.Action, hookActions()))
	case h.In == string(proxy.InCall) && h.Action == string(proxy.Redact):
		return f.Problem(n, "action", "serve.hooks: "+cmp.Or(h.Name, "a hook")+" takes something away from the call as a whole", "write in: arguments, or action: block")
	case h.Message != "" && h.Action != string(proxy.Block):
		return f.Problem(n, "message", "serve.hooks.message is of hooks that block", "leave it out, or write action: block")
	case len(h.Message) > maxMessage || strings.ContainsFunc(h.Message, unicode.IsControl):
		return f.Problem(n, "message", fmt.Sprintf("serve.hooks.message has more than %d bytes or a line break", maxMessage), "say in one line what is not allowed, and whom to ask")
	case h.Action == "audit" && !f.audited:
		return f.Problem(n, "action", "serve.hooks: "+h.Name+" has what it finds recorded, and there is no audit log", "add a section audit, as in audit: {keep: 90d}")
	}
	return nil
}

// maxMessage bounds the message of a rule, in bytes: it is part of each refusal.
const maxMessage = 500

// hookServer checks what only a hook with a server has, and reads its timeout.
func (f section) hookServer(n *yaml.Node, in *hookIn, h *HookEntry) error {
	modes := []string{"enforce", "audit"}
	switch {
	case in.Message != "":
		return f.Problem(n, "message", "serve.hooks.message is of hooks with a pattern, and this one has a server", "the server gives its reason")
	case in.Action != "":
		return f.Problem(n, "action", "serve.hooks.action is of hooks with a pattern, and this one has a server", "the server says what follows; mode: audit has it recorded alone")
	case in.Mode != "" && !slices.Contains(modes, in.Mode):
		return f.Problem(n, "mode", "serve.hooks.mode is "+strconv.Quote(in.Mode)+", want enforce or audit", nearHook(in.Mode, modes))
	}
	for _, method := range in.Methods {
		if method != "tools/call" {
			return f.Problem(n, "methods", "serve.hooks.methods has "+strconv.Quote(method)+", and hooks look into tools/call alone", "as in methods: [tools/call], or leave it out")
		}
	}
	h.Timeout = hookTimeout
	if in.Timeout == nil {
		return nil
	}
	d, err := config.ParseDuration(in.Timeout.Value)
	if in.Timeout.Kind != yaml.ScalarNode || err != nil {
		return f.Problem(n, "timeout", "serve.hooks.timeout is "+cmp.Or(fmt.Sprint(err), "no duration"), "as in timeout: 200ms; 0 is no bound")
	}
	h.Timeout = max(d, 0)
	return nil
}

// match reads what a rule looks for, and returns the name of its preset, "" for none.
func (f section) match(n *yaml.Node, h *HookEntry) (preset string, err error) {
	const example = "as in match: {in: arguments, pattern: '\\bdrop table\\b'}"
	in := struct {
		In      string `yaml:"in"`
		Pattern string `yaml:"pattern"`
		Preset  string `yaml:"preset"`
	}{}
	if err := f.Decode(HookName+".match", n, &in, example); err != nil {
		return "", err
	}
	parts := []string{"arguments", "result", "call"}
	switch {
	case in.Pattern == "" && in.Preset == "":
		return "", f.Problem(n, "", "serve.hooks.match has no pattern", example)
	case in.Pattern != "" && in.Preset != "":
		return "", f.Problem(n, "preset", "serve.hooks.match has a pattern and a preset", "write one of the two")
	case in.In == "" && in.Preset != "":
		in.In = parts[0]
	case in.In == "":
		return "", f.Problem(n, "", "serve.hooks.match does not say what it looks at", "write in: arguments, in: result or in: call")
	}
	if !slices.Contains(parts, in.In) {
		return "", f.Problem(n, "in", "serve.hooks.match.in is "+strconv.Quote(in.In)+", want arguments, result or call", nearHook(in.In, parts))
	}
	if in.Preset != "" {
		all := guards.Presets()
		if in.Pattern = all[in.Preset]; in.Pattern == "" {
			return "", f.Problem(n, "preset", "serve.hooks.match.preset is "+strconv.Quote(in.Preset)+", which is not there", nearHook(in.Preset, slices.Sorted(maps.Keys(all))))
		}
	}
	re, err := regexp.Compile(in.Pattern)
	if wrong, ok := errors.AsType[*syntax.Error](err); ok { // without the pattern: this may be logged
		return "", f.Problem(n, "pattern", fmt.Sprintf("serve.hooks.match.pattern is no regular expression: %s", wrong.Code), "in the syntax of RE2; in YAML, single quotes leave backslashes as they are")
	}
	if re.MatchString("") {
		return "", f.Problem(n, "pattern", "serve.hooks.match.pattern matches the empty text, and so every call", "write + in the place of *, or name what has to be there")
	}
	h.In, h.Pattern = in.In, in.Pattern
	return in.Preset, nil
}

func hookActions() []string { return []string{"block", "redact", "audit", "label"} }

var hookName = lazy.Regexp(`^[A-Za-z0-9._-]{1,64}$`)

// near is the remedy for a misspelt word.
func nearHook(word string, known []string) string {
	return plain.NearestHint(word, known, "there are "+strings.Join(known, ", "))
}

// Rule returns the rule. Of a server it is nothing but what it wants: it is asked nothing.
func (h HookEntry) Rule() (proxy.Hook, error) {
	if h.Server != "" {
		return proxy.NewServerHook(proxy.ServerHook{Server: h.Server, Tools: h.Tools}, nil)
	}
	pattern, err := regexp.Compile(h.Pattern)
	if err != nil {
		return nil, err
	}
	return proxy.NewRule(proxy.HookRule{Name: h.Name, Tools: h.Tools, In: proxy.HookPart(h.In), Pattern: pattern, Action: proxy.HookAction(h.Action), Message: h.Message})
}

// HookLook is what a hook says of the arguments of a call.
type HookLook struct {
	HookEntry
	// Refused is why it refuses the call, nil where it lets it pass.
	Refused *proxy.Refusal
	// Unasked is why it says nothing yet, "" where it does.
	Unasked string
}

// HookLookInto runs rules on a call before it is sent, in their order, until one refuses it. It
// returns those that look at the tool. Rules are as Read has returned them.
func HookLookInto(ctx context.Context, all []HookEntry, call *proxy.HookCall) (looks []HookLook, err error) {
	for _, h := range all {
		rule, err := h.Rule()
		if err != nil {
			return nil, err
		}
		if rule.Wants(call.Target) == 0 {
			continue
		}
		look := HookLook{HookEntry: h}
		switch {
		case h.Server != "":
			look.Unasked = "is a server, which is not asked"
		case h.In == string(proxy.InResult):
			look.Unasked = "looks at the result"
		default:
			err = rule.Request(ctx, call)
			if refused, ok := errors.AsType[*proxy.Refusal](err); ok {
				look.Refused, err = refused, nil
			}
		}
		if looks = append(looks, look); err != nil || look.Refused != nil {
			return looks, err
		}
	}
	return looks, nil
}
