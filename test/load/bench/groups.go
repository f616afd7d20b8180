package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/test/load/gen"
	"github.com/mcpctl/mcpctl/test/wire"
)

// group is what is measured together.
type group struct {
	name string
	run  func(ctx context.Context) error
}

func (b *bench) groups() []group {
	gs := []group{
		{"stdio", b.loadGroup("stdio", b.stdioContenders, gen.Work{Callers: 32})},
		{"single", b.loadGroup("single", b.stdioContenders, gen.Work{Callers: 1})},
		{"large", b.loadGroup("large", b.stdioContenders, gen.Work{Callers: 8, Size: 64 << 10, Warmup: 40})},
		{"http", b.loadGroup("http", b.httpContenders, gen.Work{Callers: 32})},
		{"bridge", b.loadGroup("bridge", b.bridgeContenders, gen.Work{Callers: 32})},
		{"sessions", b.loadGroup("sessions", b.sessionContenders, gen.Work{Callers: 256, Warmup: 512})},
		{"identity", b.identityGroup},
		{"policy", b.policyGroup},
		{"audit", b.auditGroup},
		{"lists", b.listGroup},
		{"memory", b.memoryGroup},
		{"allocations", b.allocationGroup},
		{"curves", b.curveGroup},
		{"coldstart", b.coldStartGroup},
	}
	if b.o.short { // it needs Node and takes long
		gs = gs[:len(gs)-1]
	}
	return gs
}

// measure runs every group that is not there yet, and keeps what it has after
// each.
func (b *bench) measure(ctx context.Context) error {
	for _, g := range b.groups() {
		if b.o.only != "" && !slices.Contains(strings.Split(b.o.only, ","), g.name) {
			continue
		}
		if b.o.only == "" && slices.Contains(b.report.Done, g.name) {
			b.say("%s: measured already", g.name)
			continue
		}
		share := b.quiet()
		if share > quietLimit {
			b.say("%s: the machine is not quiet: %.0f %% of it is used by others; figures are not to be trusted", g.name, 100*share)
		}
		b.report.Busy[g.name] = share
		b.report.note(g.name, b.here)
		if err := g.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if !slices.Contains(b.report.Done, g.name) {
			b.report.Done = append(b.report.Done, g.name)
		}
		if err := save(b.unfinished(), b.report); err != nil {
			return err
		}
	}
	return nil
}

// quiet waits a little for the machine to have nothing else to do, and reports
// how much of it others use.
func (b *bench) quiet() float64 {
	share := busy(time.Second / 2)
	for range b.patience {
		if share <= quietLimit {
			break
		}
		share = busy(time.Second)
	}
	return share
}

// contender is one of those that take turns.
type contender struct {
	name string
	// open starts everything again and connects; stop ends what open started
	// beside the connection.
	open func(ctx context.Context) (c *gen.Conn, stop func(), err error)
}

// endTimeout is how long a process may take to end.
const endTimeout = 15 * time.Second

// stopAll ends several processes.
func stopAll(ps ...*wire.Process) func() {
	return func() {
		for _, p := range ps {
			p.Stop(endTimeout)
		}
	}
}

// stdioContenders are a relay and serve, each with the same server behind it.
func (b *bench) stdioContenders() ([]contender, error) {
	file, err := b.config(map[string]any{"load": command(b.load, "backend")})
	if err != nil {
		return nil, err
	}
	env, err := b.home("stdio")
	if err != nil {
		return nil, err
	}
	over := func(words ...string) func(ctx context.Context) (*gen.Conn, func(), error) {
		return func(ctx context.Context) (*gen.Conn, func(), error) {
			c, err := gen.Open(ctx, gen.Target{Command: words, Env: env})
			return c, func() {}, err
		}
	}
	return []contender{
		{"relay", over(b.load, "relay", b.load, "backend")},
		{"serve", over(b.mcpctl, "--config", file, "serve")},
	}, nil
}

const listening = "listening on "

// overHTTP connects to a server that is started for it; behind, where it is not
// nil, is one that stands behind it and gives serve its configuration.
func (b *bench) overHTTP(t gen.Target, home string, servers func(backend string) map[string]any, remote bool) func(ctx context.Context) (*gen.Conn, func(), error) {
	return func(ctx context.Context) (*gen.Conn, func(), error) {
		var ps []*wire.Process
		url := ""
		if remote {
			p, err := start(os.Environ(), "URL ", b.load, "backend", "-http", "127.0.0.1:0")
			if err != nil {
				return nil, nil, err
			}
			ps, url = append(ps, p), p.URL
		}
		if servers != nil {
			file, err := b.config(servers(url))
			if err != nil {
				return nil, stopAll(ps...), err
			}
			env, err := b.home(home)
			if err != nil {
				return nil, stopAll(ps...), err
			}
			p, err := start(env, listening, b.mcpctl, "--config", file, "serve", "--http", "127.0.0.1:0")
			if err != nil {
				return nil, stopAll(ps...), err
			}
			ps, url = append([]*wire.Process{p}, ps...), p.URL // the endpoint ends first
		}
		t.URL, t.PID = url, ps[0].Cmd.Process.Pid
		c, err := gen.Open(ctx, t)
		return c, stopAll(ps...), err
	}
}

// overStdio is a configuration with a server over stdio, overURL with a remote
// one.
func (b *bench) overStdio(string) map[string]any {
	return map[string]any{"load": command(b.load, "backend")}
}

func overURL(backend string) map[string]any {
	return map[string]any{"load": map[string]any{"url": backend}}
}

// httpContenders are a server that is called directly, and serve before a
// server over stdio, for clients of both eras, and before that one.
func (b *bench) httpContenders() ([]contender, error) {
	return []contender{
		{"direct", b.overHTTP(gen.Target{}, "", nil, true)},
		{"serve", b.overHTTP(gen.Target{}, "http", b.overStdio, false)},
		{"serve-stateless", b.overHTTP(gen.Target{Revision: gen.Stateless}, "http", b.overStdio, false)},
		{"serve-remote", b.overHTTP(gen.Target{}, "remote", overURL, true)},
	}, nil
}

// sessionContenders have 64 clients.
func (b *bench) sessionContenders() ([]contender, error) {
	return []contender{
		{"direct", b.overHTTP(gen.Target{Sessions: 64}, "", nil, true)},
		{"serve", b.overHTTP(gen.Target{Sessions: 64}, "sessions", b.overStdio, false)},
	}, nil
}

// once opens a contender, lets it work and ends it.
func (c contender) once(ctx context.Context, w gen.Work) (gen.Result, error) {
	conn, stop, err := c.open(ctx)
	if stop != nil {
		defer stop()
	}
	if err != nil {
		return gen.Result{}, fmt.Errorf("%s: %w", c.name, err)
	}
	res, err := conn.Run(ctx, w)
	if cerr := conn.Close(); err == nil && cerr != nil {
		err = fmt.Errorf("end: %w", cerr)
	}
	if err == nil {
		err = res.Err()
	}
	if err != nil {
		return res, fmt.Errorf("%s: %w", c.name, err)
	}
	return res, nil
}

// loadGroup has contenders do the same work, round by round.
func (b *bench) loadGroup(name string, contenders func() ([]contender, error), w gen.Work) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		cs, err := contenders()
		if err != nil {
			return err
		}
		w.Duration = b.each
		l := loads{}
		b.report.Loads[name] = l
		for tries := range 2 {
			for round := range b.rounds {
				// Who comes first in one round comes last in the next.
				order := slices.Clone(cs)
				if round%2 == 1 {
					slices.Reverse(order)
				}
				var said []string
				for _, c := range order {
					res, err := c.once(ctx, w)
					if err != nil {
						return err
					}
					l[c.name] = append(l[c.name], res)
					said = append(said, fmt.Sprintf("%s %.0f/s p50 %.0f p99 %.0f µs", c.name, res.PerSecond, res.P50, res.P99))
				}
				b.say("%s, round %d: %s", name, len(l[cs[0].name]), strings.Join(said, " · "))
			}
			if b.o.short || tries > 0 || b.settled(name) || time.Since(b.begin) > b.again {
				break
			}
			b.say("%s: a bound is missed or the reference scatters: %d rounds more", name, b.rounds)
		}
		return nil
	}
}

// settled reports whether every row of a group is held by figures that are to be
// trusted.
func (b *bench) settled(group string) bool {
	for _, r := range evaluate(b.report) {
		if r.Group == group && (!r.Held || r.Noisy) {
			return false
		}
	}
	return true
}

// curveGroup has ever more callers call the same contenders.
func (b *bench) curveGroup(ctx context.Context) error {
	stdio, err := b.stdioContenders()
	if err != nil {
		return err
	}
	web, err := b.httpContenders()
	if err != nil {
		return err
	}
	curves := map[string][][]gen.Result{}
	for round := range b.curveRounds {
		for prefix, cs := range map[string][]contender{"stdio/": stdio, "http/": web[:3]} {
			for _, c := range cs {
				name := prefix + c.name
				if curves[name] == nil {
					curves[name] = make([][]gen.Result, len(b.callers))
				}
				if err := b.curve(ctx, c, curves[name]); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				b.say("curves, round %d: %s", round+1, name)
			}
		}
	}
	b.report.Curves = curves
	return nil
}

func (b *bench) curve(ctx context.Context, c contender, to [][]gen.Result) error {
	conn, stop, err := c.open(ctx)
	if stop != nil {
		defer stop()
	}
	if err != nil {
		return err
	}
	for i, n := range b.callers {
		res, err := conn.Run(ctx, gen.Work{Callers: n, Duration: b.curveEach, Warmup: max(100, 2*n)})
		if err == nil {
			err = res.Err()
		}
		if err != nil {
			_ = conn.Close() // there is an error already
			return fmt.Errorf("%d callers: %w", n, err)
		}
		to[i] = append(to[i], res)
	}
	return conn.Close()
}

// marks counts the files in a directory, one for each start of a server.
func marks(dir string) (int, error) {
	entries, err := os.ReadDir(dir)
	return len(entries), err
}

// many is a configuration of servers which have so many tools together, each of
// which leaves a mark in dir when it starts.
func (b *bench) many(servers, tools int, dir string) (string, error) {
	entries := map[string]any{}
	for i := range servers {
		each := tools / servers
		entries[fmt.Sprintf("server%02d", i)] = command(b.load, "backend", "-tools", fmt.Sprint(each-3), "-mark", dir)
	}
	return b.config(entries)
}

func (b *bench) markDir(name string) (string, error) {
	dir := filepath.Join(b.dir, name)
	return dir, os.MkdirAll(dir, 0o700)
}
