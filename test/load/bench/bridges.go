package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/test/load/gen"
	"github.com/mcpctl/mcpctl/test/wire"
)

// bridgeContenders are a server that is called directly, and mcpctl bridge before it.
func (b *bench) bridgeContenders() ([]contender, error) {
	return []contender{
		{"direct", b.overHTTP(gen.Target{}, "", nil, true)},
		{"bridge", b.toRemote("bridge", func(url string) []string { return []string{b.mcpctl, "bridge", url} })},
	}, nil
}

// toRemote connects to a program that offers the server at url over stdio.
func (b *bench) toRemote(home string, words func(url string) []string) func(ctx context.Context) (*gen.Conn, func(), error) {
	return func(ctx context.Context) (*gen.Conn, func(), error) {
		env, err := b.home(home)
		if err != nil {
			return nil, nil, err
		}
		p, err := start(os.Environ(), "URL ", b.load, "backend", "-http", "127.0.0.1:0")
		if err != nil {
			return nil, nil, err
		}
		c, err := gen.Open(ctx, gen.Target{Command: words(p.URL), Env: env})
		return c, stopAll(p), err
	}
}

// toCommand connects to a program that offers a server over stdio as Streamable HTTP
// at a port.
func (b *bench) toCommand(home string, words func(port string) []string) func(ctx context.Context) (*gen.Conn, func(), error) {
	return func(ctx context.Context) (*gen.Conn, func(), error) {
		env, err := b.home(home)
		if err != nil {
			return nil, nil, err
		}
		port, err := freePort(ctx)
		if err != nil {
			return nil, nil, err
		}
		all := words(port)
		cmd := exec.Command(all[0], all[1:]...)
		cmd.Env = env
		p, err := wire.Start(cmd)
		if err != nil {
			return nil, nil, err
		}
		if err := accepts(ctx, p, port); err != nil {
			return nil, stopAll(p), err
		}
		c, err := gen.Open(ctx, gen.Target{URL: "http://127.0.0.1:" + port + "/mcp", PID: p.Cmd.Process.Pid})
		return c, stopAll(p), err
	}
}

// freePort returns a port that nobody has just now: some programs take none that is 0.
func freePort(ctx context.Context) (string, error) {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(ln.Addr().String())
	return port, errors.Join(err, ln.Close())
}

// acceptTimeout is how long a program may take to listen.
const acceptTimeout = 30 * time.Second

// accepts waits until a process takes connections at a port.
func accepts(ctx context.Context, p *wire.Process, port string) error {
	ctx, cancel := context.WithTimeout(ctx, acceptTimeout)
	defer cancel()
	for {
		c, err := new(net.Dialer).DialContext(ctx, "tcp", "127.0.0.1:"+port)
		if err == nil {
			return c.Close()
		}
		select {
		case <-p.Exited:
			return fmt.Errorf("it ended: %s", p.Stderr.Tail())
		case <-ctx.Done():
			return fmt.Errorf("it does not listen: %w", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

const (
	bridgeDir = "test/load/bridges"
	npmDir    = bridgeDir + "/node_modules"
	pythonDir = ".bin/bridges"
)

// direction is one way through bridges, and those that take it.
type direction struct {
	name string
	// contenders begin with the server that is called directly.
	contenders []contender
}

// directions are both ways, through mcpctl bridge and through other programs, which
// make bench-bridges has installed.
func (b *bench) directions() ([]direction, error) {
	out, err := b.bridgeContenders()
	if err != nil {
		return nil, err
	}
	node := func(name, script string) []string {
		return []string{"node", filepath.Join(b.o.root, filepath.FromSlash(npmDir), name, filepath.FromSlash(script))}
	}
	remote, super := node("mcp-remote", "dist/proxy.js"), node("supergateway", "dist/index.js")
	python := []string{filepath.Join(filepath.Dir(b.python()), "mcp-proxy")}
	for _, program := range []string{remote[1], super[1], python[0]} {
		if _, err := os.Stat(program); err != nil {
			return nil, fmt.Errorf("%w: make bench-bridges installs it", err)
		}
	}
	stdio := func(name string, words ...string) contender {
		return contender{name, b.toRemote(name, func(url string) []string { return append(slices.Clone(words), url) })}
	}
	web := func(name string, words func(port string) []string) contender {
		return contender{name, b.toCommand(name, words)}
	}
	back := []string{b.load, "backend"}
	return []direction{
		{"stdio → HTTP", append(out,
			stdio("mcp-remote", remote...),
			stdio("supergateway", append(super, "--logLevel", "none", "--streamableHttp")...),
			stdio("mcp-proxy", append(python, "--transport", "streamablehttp")...),
		)},
		{"HTTP → stdio", []contender{
			out[0],
			web("bridge", func(port string) []string {
				return append([]string{b.mcpctl, "bridge", "--http", "127.0.0.1:" + port, "--"}, back...)
			}),
			web("supergateway", func(port string) []string {
				return append(super, "--logLevel", "none", "--outputTransport", "streamableHttp", "--stateful", "--port", port, "--stdio", strings.Join(back, " "))
			}),
			web("mcp-proxy", func(port string) []string {
				return append(python, slices.Concat([]string{"--host", "127.0.0.1", "--port", port, "--"}, back)...)
			}),
		}},
	}, nil
}

// python is the interpreter that mcp-proxy is installed for.
func (b *bench) python() string {
	return filepath.Join(b.o.root, filepath.FromSlash(pythonDir), "bin", "python")
}

// measured is what one contender did with one number of callers.
type measured struct {
	results []gen.Result
	ratios  []float64 // of the calls a second of the direct calls in the same round
	failure error     // the first; nothing is tried after it
}

// bridgeRounds are how many rounds each number of callers has by default, of half the
// length of others: what is compared with direct calls stands close to them.
const bridgeRounds = 7

// bridges measures bridges in turn and writes the table of docs/performance.md.
func (b *bench) bridges(ctx context.Context) error {
	var err error
	if b.o.root, err = filepath.Abs(b.o.root); err != nil { // programs are found by it
		return err
	}
	ways, err := b.directions()
	if err != nil {
		return err
	}
	called, err := b.named()
	if err != nil {
		return err
	}
	m, node := b.report.Machine, strings.TrimPrefix(output(b.o.root, "node", "--version"), "v")
	head := fmt.Sprintf("Measured on %s by `make bench-bridges`: %d cores of %s, %s, Node %s, %s; commit %s.\n"+
		"%d rounds of %v each; medians of the rounds, and ratios taken round by round with the lowest and the highest. Others used %.0f %% of the\n"+
		"machine just before.\n\n",
		m.Date, m.Cores, m.CPU, m.Go, node, output(b.o.root, b.python(), "--version"), m.Commit, b.o.rounds, b.each/2, 100*b.quiet())
	table, err := b.bridgeTable(ctx, ways, called)
	if err != nil {
		return err
	}
	fmt.Fprint(b.out, "\n"+head+table)
	if b.o.short {
		return nil
	}
	name := filepath.Join(b.o.root, filepath.FromSlash(pageFile))
	page, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	text, err := fill(string(page), map[string]string{"bridges": head + table})
	if err != nil {
		return err
	}
	return os.WriteFile(name, []byte(text), 0o644)
}

// bridgeTable measures all ways and returns the table, with the reasons of those that
// fail below it. Called are the contenders' names there.
func (b *bench) bridgeTable(ctx context.Context, ways []direction, called map[string]string) (string, error) {
	var table, reasons strings.Builder
	table.WriteString("| way | through | callers | calls/s | of direct | p50 | p99 | most memory |\n|---|---|---|---|---|---|---|---|\n")
	for _, way := range ways {
		for _, callers := range []int{1, 32} {
			found, err := b.inTurn(ctx, way, gen.Work{Callers: callers, Duration: b.each / 2})
			if err != nil {
				return "", err
			}
			for _, c := range way.contenders {
				cells := "fails | – | – | – | –"
				if err := found[c.name].failure; err != nil {
					fmt.Fprintf(&reasons, "- %s, %s, %d callers: %s\n", way.name, called[c.name], callers, b.reason(err))
				} else {
					cells = found[c.name].cells()
				}
				fmt.Fprintf(&table, "| %s | %s | %d | %s |\n", way.name, called[c.name], callers, cells)
			}
		}
	}
	if reasons.Len() > 0 {
		return table.String() + "\nWhat fails, and how:\n\n" + reasons.String(), nil
	}
	return table.String(), nil
}

// inTurn has the contenders of a way do the same work, round by round. A failure of
// another program is a result; one of direct calls or of mcpctl ends the run.
func (b *bench) inTurn(ctx context.Context, way direction, w gen.Work) (map[string]*measured, error) {
	found := map[string]*measured{}
	for _, c := range way.contenders {
		found[c.name] = &measured{}
	}
	for round := range b.o.rounds {
		// Who comes first in one round comes last in the next.
		order := slices.Clone(way.contenders)
		if round%2 == 1 {
			slices.Reverse(order)
		}
		now := map[string]gen.Result{}
		for _, c := range order {
			got := found[c.name]
			if got.failure != nil {
				continue
			}
			res, err := c.once(ctx, w)
			switch {
			case ctx.Err() != nil:
				return nil, ctx.Err()
			case err != nil && (c.name == "direct" || c.name == "bridge"):
				return nil, err
			case err != nil:
				got.failure = err
				b.say("%s, %d callers, round %d: %v", way.name, w.Callers, round+1, err)
				continue
			}
			now[c.name] = res
		}
		said := []string{}
		for _, c := range way.contenders {
			if res, ok := now[c.name]; ok {
				got := found[c.name]
				got.results, got.ratios = append(got.results, res), append(got.ratios, res.PerSecond/now["direct"].PerSecond)
				said = append(said, fmt.Sprintf("%s %.0f/s", c.name, res.PerSecond))
			}
		}
		b.say("%s, %d callers, round %d: %s", way.name, w.Callers, round+1, strings.Join(said, " · "))
	}
	return found, nil
}

// cells are the figures of a line of the table.
func (m *measured) cells() string {
	show := func(k kind) string { return fmt.Sprintf(k.show, median(values(m.results, k))) }
	ratio := fmt.Sprintf("**%.3f** (%.3f to %.3f)", median(m.ratios), slices.Min(m.ratios), slices.Max(m.ratios))
	if slices.Min(m.ratios) == 1 && slices.Max(m.ratios) == 1 { // direct calls
		ratio = "1"
	}
	return fmt.Sprintf("%s | %s | %s | %s | %.1f MB", show(rate), ratio, show(halfTime), show(worstTime), mb(peakOf(m.results)))
}

// reason is the first line of a failure, without paths of this machine.
func (b *bench) reason(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return strings.NewReplacer(b.o.root+string(filepath.Separator), "", b.dir+string(filepath.Separator), "", "|", "\\|").Replace(line)
}

// named are what the table calls the contenders: the other programs have a version.
func (b *bench) named() (map[string]string, error) {
	out := map[string]string{"direct": names["direct"], "bridge": "mcpctl bridge"}
	for _, name := range []string{"mcp-remote", "supergateway"} {
		out[name] = "npm " + name + " " + output(b.o.root, "node", "-p", "require("+strconv.Quote("./"+npmDir+"/"+name+"/package.json")+").version")
	}
	out["mcp-proxy"] = "PyPI mcp-proxy " + output(b.o.root, b.python(), "-c", "import importlib.metadata as m; print(m.version('mcp-proxy'))")
	for _, name := range slices.Sorted(maps.Keys(out)) {
		if strings.HasSuffix(out[name], " ") {
			return nil, fmt.Errorf("%s tells no version: make bench-bridges installs it", name)
		}
	}
	return out, nil
}
