// Package policies is the command mcpctl policy: it shows, checks, tests and explains who
// may do what, and turns the access lists of others into rules. Commands obey the policies that
// are about this machine's user: they reach a server through a proxy in this process, which
// decides as serve does and records what it decides.
package policies

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/auditing"
	"github.com/mcpctl/mcpctl/cmd/internal/find"
	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/internal/lockfile"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// What commands that have printed their result end with.
var (
	ErrFindings  = errors.New("the policies have faults")
	ErrDifferent = errors.New("the policies do not decide as the tests say")
	ErrDenied    = errors.New("denied")
)

// Command is what the commands need of the program that they run in.
type Command struct {
	UI       *ui.UI
	Settings settings.Settings
	// Load reads servers.json, in all its layers.
	Load func() (*config.File, error)
	// Known is what servers were last seen to offer.
	Known find.KnownLists
	// StateDir is where the tokens of mcpctl access token are, "" for nowhere.
	StateDir string
	// Audit reads the audit log.
	Audit *auditing.Command

	text []byte // of config.yaml, nil for that of the file
}

// loaded are the policies, and what they are about.
type loaded struct {
	*settings.Policies
	set     *policy.Set
	world   *policy.Snapshot
	servers []policy.Server
	items   []policy.Item
	entries []config.Entry // of servers
	// configured are the names of all servers, also of those that are disabled; named are
	// all names that policies can have.
	configured []string
	named      settings.Names
	// listed says of which servers it is known what they offer.
	listed map[string]bool
	hooked hooked
}

// read reads the policies.
func (p *Command) read() (*settings.Policies, error) {
	if p.text != nil {
		return settings.ParsePolicies(p.Settings.File(), p.text, p.Settings.Serve.Access.Required())
	}
	return settings.ReadPolicies(p.Settings.File(), p.Settings.Serve.Access.Required())
}

// compiled reads the policies, and nothing of what they are about.
func (p *Command) compiled() (*loaded, error) {
	l := &loaded{}
	var err error
	if l.Policies, err = p.read(); err != nil {
		return nil, err
	}
	l.set, err = l.Compile()
	return l, err
}

// load reads the policies and what is known of the servers.
func (p *Command) load(ctx context.Context) (*loaded, error) {
	l := &loaded{listed: map[string]bool{}, hooked: hooked{serve: p.Settings.Serve, file: p.Settings.File()}}
	var err error
	if l.hooked.all, err = settings.Hooks(l.hooked.file); err != nil {
		return nil, err
	}
	if l.Policies, err = p.read(); err != nil {
		return nil, err
	}
	if l.set, err = l.Compile(); err != nil {
		return nil, err
	}
	f, err := p.Load()
	if err != nil {
		return nil, err
	}
	l.named = p.Settings.Names(f, p.StateDir)
	l.configured, l.named.Listed = l.named.Servers, l.names
	entries := f.Enabled()
	l.entries = entries
	for _, e := range entries {
		l.servers = append(l.servers, ServerOf(e))
	}
	for list := range lockfile.Lists {
		for name, listed := range p.Known.Load(ctx, entries, list.Member()) {
			i := slices.IndexFunc(entries, func(e config.Entry) bool { return e.Name == name })
			l.items = append(l.items, ItemsOf(entries[i], list, listed.Items)...)
			l.listed[name] = l.listed[name] || list == lockfile.Tools
		}
	}
	slices.SortStableFunc(l.items, func(a, b policy.Item) int {
		return cmp.Or(strings.Compare(a.Server, b.Server), cmp.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
	})
	l.world = l.set.Snapshot(l.servers, l.items)
	return l, nil
}

// Listed returns what tells the names that a server was last seen to list, false where that is
// not known.
func Listed(lists find.KnownLists) func(server config.Entry, kind policy.Kind) (names []string, known bool) {
	return func(server config.Entry, kind policy.Kind) (names []string, known bool) {
		l := lockfile.Tools
		if kind == policy.Prompt {
			l = lockfile.Prompts
		}
		listed, known := lists.Load(context.Background(), []config.Entry{server}, l.Member())[server.Name]
		for _, it := range lockfile.Items(l, listed.Items) {
			names = append(names, it.Key)
		}
		return names, known
	}
}

// names returns the names of one kind that a server was last seen to list.
func (l *loaded) names(server string, kind policy.Kind) (all []string, known bool) {
	for _, it := range l.items {
		if it.Kind == kind && it.Server == server {
			all = append(all, it.Name)
		}
	}
	return all, l.listed[server]
}

// Unmatched returns what the policies name that does not exist, by what servers were last
// seen to list; nothing where the policies or servers.json cannot be read, which is a finding
// of its own.
func (p *Command) Unmatched(ctx context.Context) []settings.Unmatched {
	if read, err := p.read(); err != nil || read.Section == nil {
		return nil
	}
	l, err := p.load(ctx)
	if err != nil {
		return nil
	}
	all, err := l.Unmatched(l.set, l.named)
	if err != nil {
		return nil
	}
	return all
}

// item returns the item that a request is about: as it was last listed, or by its name.
func (l *loaded) item(kind policy.Kind, server, name string) policy.Item {
	for _, it := range l.items {
		if it.Kind == kind && it.Server == server && it.Name == name {
			return it
		}
	}
	return policy.Item{Kind: kind, Server: server, Name: name}
}

// principal returns the principal that a word names, nil for local: an ID, a mail address, or the
// name of a token.
func (p *Command) principal(word string, groups, scopes []string) (*access.Principal, error) {
	if word == "" || word == access.Local {
		if len(groups)+len(scopes) > 0 {
			return nil, ui.Usage("local has no groups and no scopes").WithHint("name a principal with --as")
		}
		return nil, nil
	}
	principal := &access.Principal{ID: word, Name: word, Groups: slices.Clone(groups), Scopes: slices.Clone(scopes)}
	kind, name, isID := strings.Cut(word, "|")
	switch {
	case isID:
		principal.Name, principal.Provider = name, kind
	case strings.Contains(word, "@"):
		principal.Email = strings.ToLower(word)
	default:
		principal.ID, principal.Provider = "token|"+word, "token"
	}
	if token, ok := strings.CutPrefix(principal.ID, "token|"); ok {
		principal.Groups = append(principal.Groups, p.tokenGroups(token)...)
	}
	slices.Sort(principal.Groups)
	slices.Sort(principal.Scopes)
	principal.Groups = slices.Compact(principal.Groups)
	return principal, nil
}

func (p *Command) tokenGroups(name string) (groups []string) {
	for _, t := range p.Settings.StaticTokens(p.StateDir) {
		if t.Name == name {
			groups = append(groups, t.Groups...)
		}
	}
	return groups
}

// place returns where a policy is, its file as people write it.
func (p *Command) place(file string, line int) string {
	return p.shortFile(file) + ":" + strconv.Itoa(line)
}

// shortFile returns the path of a file below the folder of config.yaml from there.
func (p *Command) shortFile(file string) string {
	if rel, err := filepath.Rel(filepath.Dir(p.Settings.File()), file); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return file
}

// words returns what a policy says, for people: its rule, or that it is Cedar.
func (l *loaded) words(of *policy.Policy) string {
	if strings.HasPrefix(of.ID, hookPolicies) {
		return "refuse what the hook finds"
	}
	if l.Section != nil && of.File == l.Path() {
		return l.Section.Words(of.ID)
	}
	if of.Permit {
		return "permit in Cedar"
	}
	return "forbid in Cedar"
}

// effect is what a policy does where it holds.
func effect(of *policy.Policy) string {
	switch {
	case of.Permit:
		return "allow"
	case of.Limit != nil:
		return "limit"
	case of.Question != "":
		return "ask"
	}
	return "deny"
}
