package find

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/internal/views"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/proxy"
)

// ViewNamed returns a view by its name, which a flag says. The error is that of wrong usage.
func ViewNamed(all *views.Set, name string) (*views.View, error) {
	if v := all.View(name); v != nil {
		return v, nil
	}
	hint := "config.yaml has no serve.views"
	if names := all.Names(); len(names) > 0 {
		hint = "see mcpctl config get serve.views"
		if near := plain.Nearest(name, names, 3); len(near) > 0 {
			hint = "did you mean " + plain.JoinOr(near) + "? " + hint
		}
	}
	return nil, ui.Usage("there is no view %q", name).WithHint("%s", hint)
}

// Tool is a tool by the name under which serve shows it without a view.
type Tool struct {
	Server, Exposed string
	// Name is the one in a view, else Exposed.
	Name string
	// Definition is what the server has sent, or what a view makes of that.
	Definition json.RawMessage
}

// Tools are the tools of servers. They are immutable.
type Tools struct {
	names   proxy.Names
	list    []Tool
	named   map[string]int
	servers []string
	unasked []string
}

// ServeNames returns the names that serve gives what servers offer, with these settings.
func ServeNames(s settings.Serve, servers []string) proxy.Names {
	return proxy.NamesOf(proxy.Options{
		Servers: proxy.Named(servers...), NoPrefix: !s.Prefix, Separator: s.Separator, NameLimit: settings.ToolName - s.NameOverhead,
	})
}

// Of returns the tools of lists, as serve shows those of all servers with these settings. Servers
// without a list are of those whose tools are not known.
func Of(s settings.Serve, servers []string, lists []List) *Tools {
	t := &Tools{named: map[string]int{}, names: ServeNames(s, servers), servers: servers}
	listed := map[string]bool{}
	for _, l := range lists {
		listed[l.Server] = true
		own := make([]string, len(l.Items))
		for i, definition := range l.Items {
			var tool runtime.Tool
			_ = json.Unmarshal(definition, &tool) // what is no tool has no name
			own[i] = tool.Name
		}
		for i, exposed := range t.names.Exposed(l.Server, own) {
			if _, taken := t.named[exposed]; own[i] != "" && !taken {
				t.named[exposed] = len(t.list)
				t.list = append(t.list, Tool{l.Server, exposed, exposed, l.Items[i]})
			}
		}
	}
	for _, server := range servers {
		if !listed[server] {
			t.unasked = append(t.unasked, server)
		}
	}
	return t
}

// OfServers is [Of] for the servers of a file, which says whose annotations are believed, too.
func OfServers(s settings.Serve, servers []config.Entry, lists []List) (t *Tools, trusted func(server string) bool) {
	trust := map[string]bool{}
	var names []string // of all, which names of tools depend on
	for _, e := range servers {
		names = append(names, e.Name)
		trust[e.Name] = e.TrustAnnotations
	}
	return Of(s, names, lists), func(server string) bool { return trust[server] }
}

// All returns all tools, in the order of the lists.
func (t *Tools) All() []Tool { return t.list }

// In returns the tools that a view shows, in its order and with the definitions that clients get;
// the first ones are pinned, as many as it says. Trusted says whose annotations are believed.
func (t *Tools) In(v *views.View, trusted func(server string) bool) (shown []Tool, pinned int) {
	pins := make([]*Tool, len(v.Pins()))
	for _, tool := range t.list {
		exposed := tool.Exposed
		if !v.Shows(views.Tool, exposed, policy.ReadOnly(tool.Definition, trusted(tool.Server))) {
			continue
		}
		definition, err := v.Listed(tool.Server, exposed, tool.Definition)
		name := v.Tool(exposed).Name(exposed)
		if _, taken := t.named[name]; err != nil || taken && name != exposed {
			continue // serve leaves it out
		}
		tool.Name, tool.Definition = name, definition
		if i := slices.Index(v.Pins(), exposed); i >= 0 {
			pins[i] = &tool
			continue
		}
		shown = append(shown, tool)
	}
	var first []Tool
	for _, tool := range pins {
		if tool != nil {
			first = append(first, *tool)
		}
	}
	return append(first, shown...), len(first)
}

// Decoded returns the definitions of tools, also as tools.
func Decoded(shown []Tool) ([]json.RawMessage, []runtime.Tool) {
	definitions, tools := make([]json.RawMessage, len(shown)), make([]runtime.Tool, len(shown))
	for i, t := range shown {
		definitions[i] = t.Definition
		_ = json.Unmarshal(t.Definition, &tools[i]) // what is no tool has no name, and is not shown
		tools[i].Raw = t.Definition
	}
	return definitions, tools
}

// find returns the definition of a tool, nil for none. Known is false where it may be one of a
// server that has no list.
func (t *Tools) find(exposed string) (definition []byte, known bool) {
	if i, ok := t.named[exposed]; ok {
		return t.list[i].Definition, true
	}
	for _, server := range t.unasked {
		if t.names.Of(server, exposed) {
			return nil, false
		}
	}
	return nil, true
}

// Missing returns what the views of a config.yaml say of tools and arguments that do not exist, each
// with its place.
func (t *Tools) Missing(path string, all *views.Set) (problems []config.Problem) {
	for _, name := range all.Names() {
		for _, p := range all.View(name).Missing(t.find) {
			problems = append(problems, *settings.ViewProblem(path, p))
		}
	}
	return problems
}

// Doubts returns what a view of a config.yaml says that has no effect: patterns that match nothing,
// and tools that say that they change nothing where that is not believed.
func (t *Tools) Doubts(path string, v *views.View, trusted func(server string) bool) (problems []config.Problem) {
	say := func(member, text, remedy string) {
		problems = append(problems, *settings.ViewProblem(path, &views.Problem{View: v.Name(), Path: []string{member}, Text: text, Remedy: remedy}))
	}
	var tools []string
	for _, tool := range t.list {
		tools = append(tools, tool.Exposed)
	}
	for _, of := range []struct {
		kind    views.Kind
		what    string
		items   []string
		unknown []string // servers whose items are not known
	}{{views.Tool, "tool", append(tools, views.OwnTools()...), t.unasked}, {views.Prompt, "prompt", nil, t.servers}} {
		for _, pattern := range v.Patterns(of.kind) {
			bare, out := strings.CutPrefix(pattern, "!")
			switch remedy := t.meant(bare); {
			case slices.ContainsFunc(of.items, func(name string) bool { return plain.MatchGlob(bare, name) }),
				slices.ContainsFunc(of.unknown, func(server string) bool { return plain.MatchGlobBegin(bare, t.prefix(server)) }):
			case out:
				say(of.what+"s", fmt.Sprintf("%q leaves out no %s", pattern, of.what), remedy)
			default:
				say(of.what+"s", fmt.Sprintf("%q matches no %s", pattern, of.what), remedy)
			}
		}
	}
	for _, server := range t.servers {
		if v.Reads() && !trusted(server) && slices.ContainsFunc(t.list, func(tool Tool) bool {
			return tool.Server == server && policy.ReadOnly(tool.Definition, true) && v.Shows(views.Tool, tool.Exposed, true)
		}) {
			say("only", "the tools of "+server+" that say that they change nothing are left out: its annotations are not trusted",
				"mcpctl config set "+server+".trustAnnotations true")
		}
	}
	return problems
}

// prefix returns how the names of a server's items begin.
func (t *Tools) prefix(server string) string {
	return strings.TrimSuffix(t.names.Exposed(server, []string{"x"})[0], "x")
}

// meant returns a remedy for a pattern that matches nothing: with the name of a server that is
// nearly the one in it, or how to see what there is.
func (t *Tools) meant(pattern string) string {
	for _, server := range t.servers {
		prefix := t.prefix(server)
		name := strings.TrimRight(prefix, "_-")
		if i := strings.Index(pattern, prefix[len(name):]); i > 0 && i < len(pattern) && pattern[:i] != name && plain.IsSlip(pattern[:i], name) {
			return "did you mean " + name + pattern[i:] + "?"
		}
	}
	return "mcpctl tools --live lists the tools of all servers"
}
