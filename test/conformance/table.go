package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/test/wire"
)

// row is one line of the table: a peer of the suite's and what it has to
// reach.
type row struct {
	name, what string
	// short rows are run by -short, which has to fit into CI.
	short bool
	parts []part
	// open puts the peer there.
	open func(ctx context.Context, b *bench) (*peer, error)
}

// extension takes the place of a revision in the suite's list.
const extension = "extension"

// part is one revision of a row, or its extension scenarios.
type part struct {
	version string
	// least is how many checks must be made: fewer mean that the peer was
	// asked less than it could have been.
	least int
	// long parts are left out by -short.
	long bool
}

// peer is what a row has put before the suite.
type peer struct {
	run   func(ctx context.Context, version string) ([]scenario, error)
	close func()
}

// bench is what all rows share.
type bench struct {
	*suite
	dir        string // temporary
	mcpctl     string
	self       string // this program
	everything string
	buildTasks func() (program string, err error) // once
	log        *os.File
}

// What the everything-server reaches by itself, in every revision.
func serverParts() []part {
	return []part{{version: "2025-03-26", least: 3}, {version: "2025-06-18", least: 30}, {version: "2025-11-25", least: 55}, {version: "2026-07-28", least: 116}}
}

// Over HTTP+SSE the server speaks the handshake era alone. All of the newest
// revision is asked for all the same; a scenario that fails makes fewer checks.
func sseParts() []part {
	parts := serverParts()
	parts[len(parts)-1].least = 115
	return parts
}

// What the suite checks of a client outside authorisation.
func clientParts() []part {
	return []part{{version: "2025-06-18", least: 2}, {version: "2025-11-25", least: 18}, {version: "2026-07-28", least: 59}}
}

// What the suite checks of a client that logs in.
func loginParts() []part {
	return []part{{version: "2025-03-26", least: 19}, {version: "2025-06-18", least: 57}, {version: "2025-11-25", least: 229, long: true}, {version: "2026-07-28", least: 349, long: true}, {version: extension, least: 59}}
}

// The same through serve, which asks the server less often.
func loginServeParts() []part {
	return []part{{version: "2025-03-26", least: 19, long: true}, {version: "2025-06-18", least: 57}, {version: "2025-11-25", least: 238, long: true}, {version: "2026-07-28", least: 369, long: true}, {version: extension, least: 59, long: true}}
}

// The same through bridge, which asks it less often still.
func loginBridgeParts() []part {
	return []part{{version: "2025-03-26", least: 19}, {version: "2025-06-18", least: 57}, {version: "2025-11-25", least: 230}, {version: "2026-07-28", least: 362}, {version: extension, least: 59}}
}

// onlyShort leaves all but one revision out of CI.
func onlyShort(version string, parts []part) []part {
	for i := range parts {
		parts[i].long = parts[i].version != version
	}
	return parts
}

func table() []row {
	return []row{
		{
			name: "direct", what: "the everything-server itself, without mcpctl", parts: serverParts(),
			open: func(ctx context.Context, b *bench) (*peer, error) {
				p, err := b.serveEverything(ctx)
				if err != nil {
					return nil, err
				}
				return b.server(p.URL, p.Stop), nil
			},
		},
		{
			name: "http", what: "mcpctl serve over it as HTTP backend", short: true, parts: serverParts(),
			open: func(ctx context.Context, b *bench) (*peer, error) { return b.gateway(ctx, "", nil) },
		},
		{
			name: "stdio", what: "mcpctl serve over it as stdio backend", parts: serverParts(),
			open: func(ctx context.Context, b *bench) (*peer, error) {
				p, err := b.serve(ctx, map[string]any{"e": map[string]any{"command": b.everything}}, "--stream-max", "50ms")
				if err != nil {
					return nil, err
				}
				return b.server(p.URL, p.Stop), nil
			},
		},
		{
			name: "sse", what: "mcpctl serve over it as HTTP+SSE backend", parts: sseParts(),
			open: func(ctx context.Context, b *bench) (*peer, error) {
				return b.gateway(ctx, "sse", nil, "--stream-max", "50ms")
			},
		},
		{
			name: "two", what: "mcpctl serve over it and an unrelated server", parts: serverParts(),
			open: func(ctx context.Context, b *bench) (*peer, error) {
				return b.gateway(ctx, "", map[string]any{"demo": map[string]any{"command": b.mcpctl, "args": []string{"demo-server"}}})
			},
		},
		{
			name: "client", what: "mcpctl's commands as client", short: true, parts: clientParts(),
			open: func(_ context.Context, b *bench) (*peer, error) { return b.client(commands, ""), nil },
		},
		{
			name: "client-auto", what: "the same, the revision left to mcpctl", parts: clientParts(),
			open: func(_ context.Context, b *bench) (*peer, error) { return b.client(commands, "auto"), nil },
		},
		{
			name: "login", what: "mcpctl's commands as client, logging in", short: true, parts: loginParts(),
			open: func(_ context.Context, b *bench) (*peer, error) { return b.client(loggingIn, ""), nil },
		},
		{
			name: "login-serve", what: "mcpctl serve as client, whose own client logs in", short: true, parts: loginServeParts(),
			open: func(_ context.Context, b *bench) (*peer, error) { return b.client(throughServe, ""), nil },
		},
		{
			name: "bridge-http", what: "mcpctl bridge --http over it as a command", short: true, parts: onlyShort("2025-11-25", serverParts()),
			open: func(ctx context.Context, b *bench) (*peer, error) {
				home, err := os.MkdirTemp(b.dir, "home")
				if err != nil {
					return nil, err
				}
				p, err := start(ctx, b.log, "listening on ", []string{"MCPCTL_HOME=" + home, "MCPCTL_LIST_GRACE=never"}, b.mcpctl,
					"bridge", "--http", "127.0.0.1:0", "-v", "--stream-max", "50ms", "--", b.everything)
				if err != nil {
					return nil, err
				}
				return b.server(p.URL, p.Stop), nil
			},
		},
		{
			name: "bridge", what: "mcpctl bridge as client, mcpctl's commands in front", short: true, parts: onlyShort("2025-11-25", clientParts()),
			open: func(_ context.Context, b *bench) (*peer, error) { return b.client(bridged, ""), nil },
		},
		{
			name: "login-bridge", what: "mcpctl bridge as client, whose own client logs in", parts: loginBridgeParts(),
			open: func(_ context.Context, b *bench) (*peer, error) { return b.client(throughBridge, ""), nil },
		},
		{
			name: "tasks-direct", what: "the tasks of our own server, without mcpctl", parts: taskParts(),
			open: func(ctx context.Context, b *bench) (*peer, error) {
				p, err := b.serveTasks(ctx)
				if err != nil {
					return nil, err
				}
				return b.tasks(p.URL, p.Stop), nil
			},
		},
		{
			name: "tasks", what: "mcpctl serve over it", short: true, parts: taskParts(),
			open: func(ctx context.Context, b *bench) (*peer, error) {
				backend, err := b.serveTasks(ctx)
				if err != nil {
					return nil, err
				}
				p, err := b.serve(ctx, map[string]any{"t": map[string]any{"url": backend.URL}})
				if err != nil {
					backend.Stop()
					return nil, err
				}
				return b.tasks(p.URL, func() { p.Stop(); backend.Stop() }), nil
			},
		},
	}
}

// The suite's scenarios of the tasks extension are ten; what they check varies.
func taskParts() []part { return []part{{version: extension, least: 35}} }

// serveTasks starts the server of test/tasks over HTTP.
func (b *bench) serveTasks(ctx context.Context) (*process, error) {
	program, err := b.buildTasks()
	if err != nil {
		return nil, err
	}
	return start(ctx, b.log, "URL ", nil, program)
}

// tasks is the suite's extension scenarios about tasks against a URL.
func (b *bench) tasks(url string, stop func()) *peer {
	run := func(ctx context.Context, _ string) ([]scenario, error) {
		all, err := b.names(ctx, "server", extension)
		if err != nil {
			return nil, err
		}
		return b.extensions(ctx, url, slices.DeleteFunc(all, func(n string) bool { return !strings.HasPrefix(n, "tasks-") }))
	}
	return &peer{run: run, close: stop}
}

// serveEverything starts the everything-server over HTTP.
func (b *bench) serveEverything(ctx context.Context) (*process, error) {
	return start(ctx, b.log, "URL ", nil, b.everything, "-http", "127.0.0.1:0")
}

// gateway serves the everything-server at path of its address, and more
// servers beside it.
func (b *bench) gateway(ctx context.Context, path string, more map[string]any, flags ...string) (*peer, error) {
	backend, err := b.serveEverything(ctx)
	if err != nil {
		return nil, err
	}
	entry := map[string]any{"url": backend.URL + path}
	if path == "sse" {
		entry["type"] = "sse"
	}
	servers := map[string]any{"e": entry}
	maps.Copy(servers, more)
	p, err := b.serve(ctx, servers, flags...)
	if err != nil {
		backend.Stop()
		return nil, err
	}
	return b.server(p.URL, func() { p.Stop(); backend.Stop() }), nil
}

// serve starts mcpctl serve over servers.
func (b *bench) serve(ctx context.Context, servers map[string]any, flags ...string) (*process, error) {
	home, err := os.MkdirTemp(b.dir, "home")
	if err != nil {
		return nil, err
	}
	locked, err := b.lock(servers)
	if err != nil {
		return nil, err
	}
	file, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(home, "servers.json"), file, 0o600); err != nil {
		return nil, err
	}
	if err := wire.Ask(filepath.Join(home, "servers.json"), home, locked); err != nil {
		return nil, err
	}
	args := append([]string{"serve", "--http", "127.0.0.1:0", "--no-prefix", "-v"}, flags...)
	p, err := start(ctx, b.log, "listening on ", []string{"MCPCTL_HOME=" + home, "MCPCTL_LIST_GRACE=never"}, b.mcpctl, args...)
	if err != nil {
		return nil, err
	}
	p.URL, p.closed, err = wire.Authenticated(p.URL)
	return p, err
}

// lock has, where policies are on, what is not as it is locked held back, and returns what
// is locked of the servers: what they offer now.
func (b *bench) lock(servers map[string]any) (map[string]json.RawMessage, error) {
	if !wire.Policies() {
		return nil, nil
	}
	locked := map[string]json.RawMessage{}
	for name, e := range servers {
		entry, ok := e.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("the entry of %s is %T", name, e)
		}
		var err error
		if locked[name], err = wire.Lock(b.mcpctl, entry); err != nil {
			return nil, err
		}
		entry["pin"] = "hold"
	}
	return locked, nil
}

// server is the suite against a URL.
func (b *bench) server(url string, stop func()) *peer {
	run := func(ctx context.Context, version string) ([]scenario, error) {
		return b.suite.server(ctx, url, version)
	}
	return &peer{run: run, close: stop}
}

// side is what of mcpctl is the suite's client.
type side int

const (
	commands      side = iota // for all scenarios but those of authorization
	loggingIn                 // the same for those
	throughServe              // serve, for those
	bridged                   // bridge with the commands in front, for all but those
	throughBridge             // bridge, for those
)

// client is the suite with this program as the client, which drives mcpctl.
func (b *bench) client(of side, version string) *peer {
	words := []string{b.self, "-drive", b.mcpctl}
	if through := map[side]string{throughServe: "serve", bridged: "bridge", throughBridge: "bridge"}[of]; through != "" {
		words = append(words, "-drive-through", through)
	}
	if version != "" {
		words = append(words, "-drive-version", version)
	}
	run := func(ctx context.Context, revision string) ([]scenario, error) {
		if strings.Contains(b.self+b.mcpctl, " ") {
			return nil, fmt.Errorf("the suite splits the command at spaces, and there is one in %s", b.dir)
		}
		all, err := b.names(ctx, "client", revision)
		if err != nil {
			return nil, err
		}
		names := slices.DeleteFunc(all, func(n string) bool { return strings.HasPrefix(n, "auth/") == (of == commands || of == bridged) })
		return b.suite.client(ctx, strings.Join(words, " "), revision, names)
	}
	return &peer{run: run, close: func() {}}
}
