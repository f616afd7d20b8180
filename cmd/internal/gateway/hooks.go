package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"sync"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/proxy"
)

// looking is the hooks of config.yaml as a running gateway follows them, and the servers that
// are hooks. Clients do not see these: each has a proxy of its own. The zero value has none.
type looking struct {
	mu      sync.Mutex // guards what follows, and is held while a change is taken over
	now     []settings.HookEntry
	applied bool                    // some look into the calls of the proxy
	failed  string                  // why what the file says now does not count, as it was logged
	file    *config.File            // that was read last, nil for none
	entries []config.Entry          // that are to be served, those of hooks among them
	servers map[string]*proxy.Proxy // of hooks, by name
}

// read reads the hooks of config.yaml. Those that cannot be used are an error: nothing is
// served without what config.yaml asks for.
func (l *looking) read(g *gateway) (err error) {
	l.file = g.o.File
	if g.h.Settings.ConfigPath != "" {
		l.now, err = settings.Hooks(g.h.Settings.File())
	}
	return err
}

// split returns the entries that clients see, and those of hooks.
func (l *looking) split(entries []config.Entry) (seen, hooks []config.Entry) {
	isHook := func(e config.Entry) bool {
		return slices.ContainsFunc(l.now, func(h settings.HookEntry) bool { return h.Server == e.Name })
	}
	seen = slices.DeleteFunc(slices.Clone(entries), isHook)
	if l.file != nil { // also those that --server does not name
		entries = l.file.Enabled()
	}
	for _, e := range entries {
		if isHook(e) && e.Fault == nil {
			hooks = append(hooks, e)
		}
	}
	return seen, hooks
}

// follow takes over what config.yaml says now. What it said before stays where it cannot be
// used.
func (l *looking) follow(g *gateway) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if text, err := settings.ReadFile(g.h.Settings.File()); err == nil && blank(text) && len(l.now) > 0 {
		return // it is being written; see policing.read
	}
	all, err := settings.Hooks(g.h.Settings.File())
	same := err == nil && reflect.DeepEqual(all, l.now)
	if err == nil && !same {
		before := l.now
		l.now = all
		if _, err = g.replace(l.entries); err != nil {
			l.now = before
		}
	}
	if err != nil {
		if news := err.Error(); l.failed != news {
			l.failed = news
			g.h.Log.Warn("the hooks cannot be used: what they said before stays", ui.Attrs(err)...)
		}
		return
	}
	if l.failed != "" {
		l.failed = ""
		g.h.Log.Warn("the hooks can be used again", "file", g.h.Settings.File())
	}
	if !same {
		g.h.Log.Info("hooks read", "hooks", len(all))
	}
}

// apply gives the hooks to the proxy, and ends servers that are none any
// more. The caller holds the lock, or nobody else has l yet.
func (l *looking) apply(g *gateway, of []config.Entry) error {
	if len(l.now) == 0 && !l.applied {
		return nil
	}
	named := make([]proxy.NamedHook, 0, len(l.now))
	for _, h := range l.now {
		var hook proxy.Hook
		var err error
		if h.Server == "" {
			hook, err = h.Rule()
		} else {
			hook, err = l.server(g, h, of)
		}
		if err != nil {
			return err
		}
		named = append(named, proxy.NamedHook{Name: h.Name, Hook: hook})
	}
	if err := g.proxy.SetHooks(named); err != nil {
		return err
	}
	l.applied = len(named) > 0
	for name, p := range l.servers {
		if !slices.ContainsFunc(of, func(e config.Entry) bool { return e.Name == name }) {
			delete(l.servers, name)
			go func() { _ = p.Close() }() // it waits for the process
		}
	}
	return nil
}

// server returns the hook of a server, which is connected, or about to be.
func (l *looking) server(g *gateway, h settings.HookEntry, of []config.Entry) (proxy.Hook, error) {
	ask := func(context.Context, string, string, json.RawMessage) (json.RawMessage, error) {
		return nil, errors.New("servers.json has no such server")
	}
	i := slices.IndexFunc(of, func(e config.Entry) bool { return e.Name == h.Server })
	if i < 0 {
		g.h.Log.Warn("the server of a hook is not configured: calls that it is to look into fail", "hook", h.Name, "server", h.Server)
	} else {
		backend := g.backend(of[i])
		backend.Start = proxy.StartEager
		p := l.servers[h.Server]
		if p == nil {
			var err error
			p, err = proxy.New(proxy.Options{Dial: g.dial, Single: true, Ring: g.ring, Info: g.h.Info, Roots: g.h.Roots, Logger: g.h.Log})
			if err != nil {
				return nil, err
			}
			if l.servers == nil {
				l.servers = map[string]*proxy.Proxy{}
			}
			l.servers[h.Server] = p
		}
		if _, err := p.Reconfigure([]proxy.Server{backend}); err != nil {
			return nil, err
		}
		p.Start()
		ask = func(ctx context.Context, _, method string, params json.RawMessage) (json.RawMessage, error) {
			return p.Ask(ctx, method, params)
		}
	}
	return proxy.NewServerHook(proxy.ServerHook{Server: h.Server, Tools: h.Tools, Mode: proxy.HookMode(h.Mode), Timeout: h.Timeout, FailOpen: h.FailOpen}, ask)
}

// status adds the servers of hooks to a status.
func (l *looking) status(s *proxy.Status) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(l.servers)) {
		s.Backends = append(s.Backends, l.servers[name].Status().Backends...)
	}
}

// close ends the servers.
func (l *looking) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []error
	for _, p := range l.servers {
		all = append(all, p.Close())
	}
	return errors.Join(all...)
}
