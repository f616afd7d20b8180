package policies

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"

	"github.com/mcpctl/mcpctl/cmd/internal/auditing"
	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/internal/access/gate"
	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/internal/lockfile"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
	"github.com/mcpctl/mcpctl/runtime/proxy"
)

// Policies are those of config.yaml, which is read when they are first needed. Its methods
// may be called concurrently. Nil are none.
type Policies struct {
	// Settings are those of the program, StateDir is where it keeps its state, "" for
	// nowhere.
	Settings settings.Settings
	StateDir string
	// Keep stores a whole list that a server has sent; nil: none is.
	Keep func(server config.Entry, member string, items []json.RawMessage)
	// Names are what policies can name, as far as the configuration knows it, nil where that
	// is not looked at. Warn tells the user what they name that does not exist.
	Names func() settings.Names
	Warn  func(*config.Problem)
	// Version is that of the program, for the audit log.
	Version string
	// Log is for what is not said otherwise.
	Log *slog.Logger

	once sync.Once
	read gate.Config
	err  error

	recorded auditLog
}

// Concern reports whether a policy is about the server of an entry, which has a name.
func (p *Policies) Concern(entry config.Entry) (bool, error) {
	if p == nil {
		return false, nil
	}
	p.once.Do(func() {
		read, err := settings.ReadPolicies(p.Settings.File(), p.Settings.Serve.Access.Required())
		if err != nil {
			p.err = err
			return
		}
		var unmatched []settings.Unmatched
		if p.read, unmatched, p.err = read.Usable(p.Names); p.err != nil {
			return
		}
		for i := range unmatched {
			p.Warn(unmatched[i].Problem())
		}
	})
	return p.err == nil && p.read.Set != nil && (p.read.Guards != nil || p.read.Set.Concerns(ServerOf(entry))), p.err
}

// Dial connects to a server.
type Dial func(ctx context.Context, o dial.Options) (*runtime.Client, error)

// Connection is a connection to a server as the policies have it.
type Connection struct {
	*runtime.Client
	// Server is the server's own connection, for what it says when it fails. Nothing is
	// to be called over it.
	Server *runtime.Client

	end func() // nil where no policy is about the server, and nothing is recorded
}

// Close ends the connection, and the server where it was started for it.
func (c *Connection) Close() error {
	err := c.Client.Close()
	if c.end != nil {
		c.end()
	}
	return err
}

// Connect connects a command to a server: through the policies that are about it and the
// audit log, directly where there is neither. It is the one way from a command to what a
// server offers. o are the settings of the command, whose Handler gets what the server sends.
// An error of direct is returned as it is.
func (p *Policies) Connect(ctx context.Context, entry config.Entry, o dial.Options, direct Dial) (*Connection, error) {
	concern, err := p.Concern(entry)
	if err != nil {
		return nil, err
	}
	if !concern && p.audit() == nil {
		c, err := direct(ctx, o)
		if err != nil {
			return nil, err
		}
		return &Connection{Client: c, Server: c}, nil
	}
	o.Redactor = p.recorded.redactors.Of(entry.Name, "")
	to := func(ctx context.Context, h runtime.Handler) (*runtime.Client, error) {
		own := o
		own.Handler = h
		return direct(ctx, own)
	}
	first := new(relay)
	var recorder *auditing.Recorder
	var unlog func()
	var unwritten error
	var opening sync.WaitGroup
	opening.Go(func() { recorder, unlog, unwritten = p.record(ctx) }) // while the server starts
	server, err := to(ctx, first)
	opening.Wait()
	switch {
	case err != nil && unwritten == nil:
		unlog()
		return nil, err
	case err != nil:
		return nil, err
	case unwritten != nil:
		_ = server.Close() // nothing was asked of it
		return nil, unwritten
	}
	decided, forget := gate.New(p.read), func() {}
	if HasQuotas(p.read.Set) {
		forget = KeepQuotas(decided, p.StateDir, p.Settings.ConfigPath, p.Log)
	}
	guard := guardOf(entry) // what is not as it is locked is held back by package locking
	var once sync.Once
	through, err := proxy.New(proxy.Options{
		Servers: []proxy.Server{{
			Name: entry.Name, Transport: entry.Transport(), Labels: strings.Join(entry.Labels, " "), TrustAnnotations: entry.TrustAnnotations,
			Isolation: proxy.IsolationShared, IdleTimeout: -1, RequestTimeout: -1, Digest: entry.Digest(),
		}},
		Dial: func(ctx context.Context, _ proxy.Key, h runtime.Handler) (c *runtime.Client, err error) {
			once.Do(func() {
				first.to(h)
				c = server
			})
			if c == nil {
				c, err = to(ctx, h)
			}
			return c, err
		},
		RequestTimeout: -1, // how long a call may take is for the command
		Single:         true, Gate: decided, Pins: guard, Store: p.store(entry), Journal: recorder.Takes(), Logger: p.Log,
	})
	if err != nil {
		unlog()
		forget()
		return nil, errors.Join(err, server.Close())
	}
	handler := serve(through)
	end := func() {
		handler.close()
		_ = through.Close()
		once.Do(func() { _ = server.Close() }) // the proxy has not had it
		unlog()
		forget()
	}
	// Both ends are ours: what is sent is logged beyond, and nothing is negotiated.
	o.Logger, o.Auth, o.Redactor, o.ConnectTimeout, o.Version = nil, nil, nil, -1, server.Info().Version
	o.HTTP = dial.HTTPOptions{Client: handler.client()}
	c, err := dial.Dial(ctx, config.Entry{Name: entry.Name, URL: "http://policy/mcp"}, o)
	if err != nil {
		end()
		return nil, err
	}
	return &Connection{Client: c, Server: server, end: end}, nil
}

// guardOf compares an entry with what is locked of it, and holds nothing back. A lock that
// cannot be read is none: package locking says so.
func guardOf(entry config.Entry) *lockfile.Guard {
	compare := lockfile.Policy{Mode: lockfile.Off}
	if lockfile.Mode(entry.Pin) != lockfile.Off && entry.File != "" {
		if locked, err := lockfile.LoadServer(lockfile.Path(entry.File), entry.Name); err == nil {
			compare = lockfile.Policy{Mode: lockfile.Warn, Locked: locked}
		}
	}
	guard := &lockfile.Guard{}
	guard.Set(map[string]lockfile.Policy{entry.Name: compare})
	return guard
}

// ServerOf returns the server of an entry as policies see it.
func ServerOf(e config.Entry) policy.Server {
	return policy.Server{Name: e.Name, Transport: e.Transport(), Labels: e.Labels, Trusted: e.TrustAnnotations}
}

func kindOf(l lockfile.List) policy.Kind {
	return [lockfile.Lists]policy.Kind{policy.Tool, policy.Prompt, policy.Resource, policy.Template}[l]
}

// ItemsOf returns the items of a list that the server of an entry has sent, as policies see
// them.
func ItemsOf(e config.Entry, l lockfile.List, raw []json.RawMessage) []policy.Item {
	guard, listed := guardOf(e), lockfile.Items(l, raw)
	all := make([]policy.Item, len(listed))
	for i, it := range listed {
		all[i] = policy.Item{
			Kind: kindOf(l), Server: e.Name, Name: it.Key,
			Definition: it.Raw, Pinned: guard.Pinned(e.Name, l, it.Key, it.Raw),
		}
	}
	return all
}

// Shown returns what of a stored list the policies show. member is that of the list in a
// result, such as tools.
func (p *Policies) Shown(entry config.Entry, member string, items []json.RawMessage) []json.RawMessage {
	l, ok := lockfile.ListOf(member)
	concern, err := p.Concern(entry)
	switch {
	case err != nil || !ok:
		return nil // nothing is known to be allowed
	case !concern:
		return items
	}
	all := ItemsOf(entry, l, items)
	view := p.read.Set.Snapshot([]policy.Server{ServerOf(entry)}, all).View(nil)
	shown := []json.RawMessage{}
	for i, it := range all {
		if visible, _ := view.Item(i); visible {
			shown = append(shown, it.Definition)
		}
	}
	return shown
}
