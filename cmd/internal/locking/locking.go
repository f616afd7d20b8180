// Package locking is the commands about servers.lock.json: they write it, compare it
// with what servers offer, and approve what has changed. It also holds back, for
// commands that use one server, what is not approved.
package locking

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/lockfile"
	"github.com/mcpctl/mcpctl/internal/packages"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
)

// Command is what the commands need of the program that they run in.
type Command struct {
	UI *ui.UI
	// Asker asks for consent; nil asks on the terminal.
	Asker ui.Asker
	// Load reads servers.json, in all its layers; ConfigPath is that of the user.
	Load       func() (*config.File, error)
	ConfigPath string
	// Dial returns the settings for connecting to a server.
	Dial func(config.Entry) dial.Options
	// Keep stores a list that a server has sent, for commands that start none.
	Keep func(server config.Entry, member string, items []json.RawMessage)
	// Kind and Hint return the kind of an error and what it advises to do.
	Kind, Hint func(error) string
	Packages   *packages.Tools
}

const (
	// parallel is how many servers are connected at once.
	parallel = 4
	// defaultLimit bounds connecting, and the lists, where settings do not.
	defaultLimit = 30 * time.Second
	// everything is what serve declares to servers that clients share. Some list more
	// where they can ask.
	everything = `{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}},"roots":{}}`
)

// observed is one server as it was found.
type observed struct {
	entry    config.Entry
	offer    *lockfile.Offer // nil with err
	resolved json.RawMessage
	note     string // why it is not known what the entry leads to
	err      error
}

// choose returns the entries of some names, all that are enabled and not off without
// any.
func (p *Command) choose(f *config.File, names []string) ([]config.Entry, error) {
	if len(names) == 0 {
		return slices.DeleteFunc(f.Enabled(), func(e config.Entry) bool { return lockfile.Mode(e.Pin) == lockfile.Off }), nil
	}
	return f.UseAll(names)
}

// observe looks at servers side by side.
func (p *Command) observe(ctx context.Context, entries []config.Entry) ([]*observed, error) {
	out := make([]*observed, len(entries))
	var group errgroup.Group
	group.SetLimit(parallel)
	for i, e := range entries {
		out[i] = &observed{entry: e}
		group.Go(func() error {
			p.observeOne(ctx, out[i])
			return nil
		})
	}
	_ = group.Wait()
	return out, ctx.Err()
}

// observeOne connects to a server as every command does, and asks for all of its lists and
// for what its entry leads to.
func (p *Command) observeOne(ctx context.Context, o *observed) {
	if o.err = o.entry.Err(); o.err != nil {
		return
	}
	var resolving errgroup.Group
	resolving.Go(func() error {
		o.resolved, o.note = p.resolve(ctx, o.entry)
		return nil
	})
	o.offer, o.err = p.offer(ctx, o.entry)
	_ = resolving.Wait()
}

func (p *Command) offer(ctx context.Context, entry config.Entry) (*lockfile.Offer, error) {
	o := p.Dial(entry)
	if o.ConnectTimeout < 0 || o.ConnectTimeout == 0 && entry.ConnectTimeout <= 0 {
		o.ConnectTimeout = defaultLimit
	}
	if o.Auth != nil { // nobody logs in here: the error says how
		unattended := *o.Auth
		unattended.Prompter = nil
		o.Auth = &unattended
	}
	o.Handler, o.Capabilities = runtime.NopHandler{}, json.RawMessage(everything)
	c, err := dial.Dial(ctx, entry, o)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }() // a server that ends badly has answered
	ctx, cancel := context.WithTimeout(ctx, defaultLimit)
	defer cancel()
	info := c.Info()
	offer := &lockfile.Offer{About: &lockfile.About{Name: info.Implementation.Name, Title: info.Implementation.Title, Instructions: info.Instructions}}
	for l := range lockfile.Lists {
		items, err := list(ctx, c, l)
		if err != nil {
			return nil, err
		}
		offer.Items[l] = lockfile.Items(l, items)
		p.Keep(entry, l.Member(), items)
	}
	return offer, nil
}

// list asks for one list. What the server does not declare, or refuses although it
// does, is empty; tools are asked for in any case, as every command does.
func list(ctx context.Context, c *runtime.Client, l lockfile.List) ([]json.RawMessage, error) {
	capability := l.Member()
	if l == lockfile.Templates {
		capability = lockfile.Resources.Member()
	}
	if l != lockfile.Tools && !c.Info().Has(capability) {
		return nil, nil
	}
	pages, err := c.ListPages(ctx, method(l))
	if rpc := new(runtime.Error); errors.As(err, &rpc) && rpc.Code == runtime.CodeMethodNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	_, items, err := ui.JoinPages(pages, l.Member())
	if err != nil {
		return nil, &runtime.ProtocolError{Reason: method(l) + ": " + err.Error()}
	}
	return items, nil
}

// resolved is what an entry leads to, as the file has it.
type resolved struct {
	Type      string   `json:"type"`
	Name      string   `json:"name,omitempty"`
	Version   string   `json:"version,omitempty"`
	Integrity []string `json:"integrity,omitempty"`
	URL       string   `json:"url,omitempty"`
	Command   string   `json:"command,omitempty"`
}

// resolve returns what an entry leads to; nil, and why, where that is not known now.
func (p *Command) resolve(ctx context.Context, entry config.Entry) (json.RawMessage, string) {
	var r resolved
	pkg, isPackage := packages.Of(entry.Command, entry.Args)
	switch {
	case entry.URL != "":
		r = resolved{Type: "remote", URL: config.DisplayURL(entry.URL)}
	case !isPackage:
		r = resolved{Type: "command", Command: entry.Command}
	default:
		release, err := p.Packages.Look(ctx, pkg)
		if err != nil {
			return nil, err.Error()
		}
		r = resolved{Type: pkg.Type, Name: pkg.Name, Version: release.Version, Integrity: release.Integrity}
	}
	raw, err := json.Marshal(r)
	if err != nil {
		return nil, err.Error() // texts always have a JSON form
	}
	return raw, ""
}

// shown returns what an entry leads to in a few words, "" for nothing.
func shown(raw json.RawMessage) string {
	var r resolved
	if raw == nil || json.Unmarshal(raw, &r) != nil {
		return ""
	}
	return strings.TrimSpace(strings.Join([]string{r.Type, r.Name + r.URL + r.Command, r.Version}, " "))
}

// put makes the lock say what was observed.
func (o *observed) put(f *lockfile.File) {
	s := f.Servers[o.entry.Name]
	if s == nil {
		s = &lockfile.Server{}
		f.Servers[o.entry.Name] = s
	}
	s.Take(o.offer)
	o.putEntry(s)
}

// putEntry makes the lock of a server say what its entry is and leads to.
func (o *observed) putEntry(s *lockfile.Server) {
	same := s.Entry == identity(o.entry)
	s.Entry, s.Origin = identity(o.entry), nil
	if o.entry.Origin != nil {
		s.Origin, _ = json.Marshal(o.entry.Origin) // texts always have a JSON form
	}
	if o.resolved != nil || !same {
		s.Resolved = o.resolved
	}
}

func identity(e config.Entry) string { return "sha256:" + e.Identity() }

// differences returns how a server differs from its lock: its entry, what that leads
// to, and what it offers.
func (o *observed) differences(s *lockfile.Server) []lockfile.Change {
	var changes []lockfile.Change
	if s != nil {
		if s.Entry != identity(o.entry) {
			changes = append(changes, lockfile.Change{What: "entry", State: lockfile.Changed, Was: []byte("as it was locked"), Is: []byte("another one in servers.json")})
		}
		if s.Resolved != nil && o.resolved != nil && !sameJSON(s.Resolved, o.resolved) {
			changes = append(changes, lockfile.Change{What: "package", State: lockfile.Changed, Was: packageText(s.Resolved), Is: packageText(o.resolved)})
		}
	}
	if o.offer == nil {
		return changes
	}
	return append(changes, s.Compare(o.offer)...)
}

// packageText returns what an entry leads to with its digests.
func packageText(raw json.RawMessage) []byte {
	var r resolved
	if json.Unmarshal(raw, &r) != nil {
		return raw
	}
	return []byte(strings.Join(append([]string{shown(raw)}, r.Integrity...), " "))
}

func sameJSON(a, b json.RawMessage) bool {
	var x, y resolved
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return bytes.Equal(a, b)
	}
	return x.Type == y.Type && x.Name == y.Name && x.Version == y.Version && x.URL == y.URL && x.Command == y.Command && slices.Equal(x.Integrity, y.Integrity)
}

// failed returns the error of a command some of whose servers could not be looked at:
// the first, named; nil for none.
func (p *Command) failed(all []*observed) error {
	var names []string
	var first *observed
	for _, o := range all {
		if o.err == nil {
			continue
		}
		if first == nil {
			first = o
		}
		names = append(names, o.entry.Name)
	}
	if first == nil {
		return nil
	}
	hint := p.Hint(first.err)
	if hint == "" {
		hint = "mcpctl doctor " + first.entry.Name
	}
	err := first.err
	if !strings.HasPrefix(err.Error(), first.entry.Name) {
		err = &named{first.entry.Name, err}
	}
	if len(names) > 1 {
		err = &more{err, names[1:]}
	}
	return &ui.Error{Kind: p.Kind(first.err), Err: err, Remedy: hint}
}

// named is an error with its server in front.
type named struct {
	server string
	err    error
}

func (e *named) Error() string { return e.server + ": " + e.err.Error() }
func (e *named) Unwrap() error { return e.err }

// more is an error that others have, too.
type more struct {
	err    error
	others []string
}

func (e *more) Error() string {
	return e.err.Error() + "; not reached either: " + strings.Join(e.others, ", ")
}
func (e *more) Unwrap() error { return e.err }
