package main

import (
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/test/load/gen"
	"github.com/mcpctl/mcpctl/test/wire"
)

// peer is a program given by path, see [peerFlags].
type peer struct{ name, path, dialect string }

// dialect is how programs of a kind are told what to serve.
type dialect struct {
	// stdio and web start one that speaks over stdio, or listens at a port; nil:
	// it has no such endpoint. The endpoint of web is at path.
	stdio, web func(program string, at place) (launch, error)
	path       string
	// call is one call of the command line; nil: it has none.
	call func(program string, at place) (launch, error)
	// joined: it offers the tools of many servers in one list.
	joined bool
}

// dialects are those that -peer can name, and mcpctl's own.
var dialects = map[string]dialect{
	"mcpctl": {
		joined: true, path: "/mcp",
		stdio: func(program string, at place) (launch, error) {
			file, err := at.write("servers.json", map[string]any{"mcpServers": at.servers})
			return launch{words: []string{program, "--config", file, "serve"}}, err
		},
		web: func(program string, at place) (launch, error) {
			file, err := at.write("servers.json", map[string]any{"mcpServers": at.servers})
			return launch{words: []string{program, "--config", file, "serve", "--http", "127.0.0.1:" + at.port}}, err
		},
		call: func(program string, at place) (launch, error) {
			file, err := at.write("servers.json", map[string]any{"mcpServers": at.servers})
			return launch{words: []string{program, "--config", file, "load", "echo", "text=" + calledText}}, err
		},
	},
	// avelino/mcp: a file of servers in the environment.
	"avelino": {
		joined: true, path: "/mcp",
		stdio: func(program string, at place) (launch, error) { return avelino(at, program, "serve") },
		web: func(program string, at place) (launch, error) {
			return avelino(at, program, "serve", "--http", "127.0.0.1:"+at.port)
		},
		call: func(program string, at place) (launch, error) {
			return avelino(at, program, "load", "echo", `{"text":"`+calledText+`"}`)
		},
	},
	// MCProxy: one file for servers and address.
	"mcproxy": {joined: true, path: "/mcp", web: func(program string, at place) (launch, error) {
		servers := map[string]any{}
		for name, one := range at.servers {
			entry := maps.Clone(one.(map[string]any))
			if entry["url"] != nil {
				entry["authorizationToken"] = ""
			} else {
				entry["env"] = map[string]any{}
			}
			servers[name] = entry
		}
		var port int
		if _, err := fmt.Sscan(at.port, &port); err != nil {
			return launch{}, err
		}
		file, err := at.write("config.json", map[string]any{"mcpServers": servers, "httpServer": map[string]any{
			"host": "127.0.0.1", "port": port, "corsEnabled": false, "corsOrigins": []string{}, "shutdownTimeout": 5,
		}})
		return launch{words: []string{program, file}, env: []string{"RUST_LOG=error"}}, err
	}},
	// TBXark/mcp-proxy: one file, and an endpoint for each server.
	"tbxark": {path: "/load/", web: func(program string, at place) (launch, error) {
		address := "127.0.0.1:" + at.port
		file, err := at.write("config.json", map[string]any{"mcpServers": at.servers, "mcpProxy": map[string]any{
			"baseURL": "http://" + address, "addr": address, "name": "load", "version": "1", "type": "streamable-http", "options": map[string]any{"logEnabled": false},
		}})
		return launch{words: []string{program, "--config", file}}, err
	}},
}

func avelino(at place, words ...string) (launch, error) {
	file, err := at.write("servers.json", map[string]any{"mcpServers": at.servers})
	return launch{words: words, env: []string{"MCP_CONFIG_PATH=" + file, "MCP_CONFIG_DIR=" + at.dir, "MCP_AUDIT_ENABLED=false", "RUST_LOG=error"}}, err
}

// write writes a file of a program and returns its name.
func (at place) write(name string, content any) (string, error) {
	text, err := json.Marshal(content)
	if err != nil {
		return "", err
	}
	file := filepath.Join(at.dir, name)
	return file, os.WriteFile(file, text, 0o600)
}

// peerFlags are programs that registries do not give, one for each -peer
// NAME=PATH,DIALECT. The table calls them NAME, which should have the version.
type peerFlags []peer

func (p *peerFlags) String() string { return fmt.Sprint(*p) }

// Set implements [flag.Value].
func (p *peerFlags) Set(text string) error {
	name, rest, named := strings.Cut(text, "=")
	path, kind, ok := strings.Cut(rest, ",")
	switch _, known := dialects[kind]; {
	case !named || !ok || name == "" || path == "":
		return errors.New("want NAME=PATH,DIALECT")
	case !known:
		return fmt.Errorf("no dialect %q; there are %s", kind, strings.Join(slices.Sorted(maps.Keys(dialects)), ", "))
	}
	path, err := filepath.Abs(path)
	*p = append(*p, peer{name, path, kind})
	return err
}

// calledText is what a call of the command line is to print.
const calledText = "beside-the-peers"

// peers compares mcpctl with programs that do the same: those that registries give,
// and those given by path.
func (b *bench) peers(ctx context.Context) error {
	in, err := b.others()
	if err != nil {
		return err
	}
	all := append([]peer{{"mcpctl", b.mcpctl, "mcpctl"}}, b.o.peers...)
	for _, p := range all {
		if in.named[p.name] = p.name; p.name != "mcpctl" {
			in.named[p.name] += builtBy(p.path)
		}
	}
	in.named["direct"], in.named["relay"], in.named["once"] = names["direct"], names["relay"], "a bare client in Go"
	stdio, err := b.stdioContenders()
	if err != nil {
		return err
	}
	relay, direct := stdio[0], contender{"direct", b.overHTTP(gen.Target{}, "", nil, true)}
	npmProxy := webProgram("npm-proxy", func(port string) []string {
		return append(slices.Clone(in.words["npm-proxy"]), "--host", "127.0.0.1", "--port", port, "--server", "stream", "--", b.load, "backend")
	})
	over := func(gateway func(dialect) func(string, place) (launch, error), web bool) (out []program) {
		for _, p := range all {
			d := dialects[p.dialect]
			if begin := gateway(d); begin != nil {
				one := program{name: p.name, start: func(at place) (launch, error) { return begin(p.path, at) }}
				if web {
					one.path = d.path
				}
				out = append(out, one)
			}
		}
		return out
	}
	overStdio := over(func(d dialect) func(string, place) (launch, error) { return d.stdio }, false)
	overWeb := over(func(d dialect) func(string, place) (launch, error) { return d.web }, true)
	called := over(func(d dialect) func(string, place) (launch, error) { return d.call }, false)
	called = append(called, program{name: "mcporter", start: func(at place) (launch, error) {
		file, err := at.write("servers.json", map[string]any{"mcpServers": at.servers})
		return launch{words: append(slices.Clone(in.words["mcporter"]), "--config", file, "call", "load.echo", "text="+calledText)}, err
	}})
	called = append(called, program{name: "once", start: func(place) (launch, error) {
		return launch{words: []string{b.load, "once", calledText, b.load, "backend"}}, nil
	}})
	joined := slices.DeleteFunc(slices.Clone(overWeb), func(p program) bool {
		i := slices.IndexFunc(all, func(one peer) bool { return one.name == p.name })
		return !dialects[all[i].dialect].joined
	})
	loads := func(name string, floor contender, remote bool, programs ...program) way {
		return way{
			name: name, callers: []int{32}, reference: "mcpctl", ours: []string{floor.name, "mcpctl"},
			contenders: calling(append([]contender{floor}, b.contenders(remote, programs)...)...),
		}
	}
	times := func(name string, run func(program) timed, programs []program) way {
		w := way{name: name, callers: []int{1}, reference: "mcpctl", ours: []string{"mcpctl"}, once: true}
		for _, p := range programs {
			w.contenders = append(w.contenders, run(p))
		}
		return w
	}
	return b.alongside(ctx, comparison{
		section: "peers", target: "bench-peers", ratio: "of mcpctl", called: in.named,
		ways: []way{
			loads("stdio → stdio", relay, false, overStdio...),
			loads("HTTP → stdio", direct, false, slices.Concat(overWeb, []program{npmProxy}, b.toCommand(in))...),
			loads("HTTP → HTTP", direct, true, overWeb...),
			loads("stdio → HTTP", direct, true, slices.Concat(overStdio, b.toRemote(in))...),
			times("one call of the command line", b.oneCall, called),
			times("first list, 20 servers", func(p program) timed { return b.firstList(p, 0) }, joined),
			times("the same, servers that wait 300 ms", func(p program) timed { return b.firstList(p, 300*time.Millisecond) }, joined),
		},
	})
}

// builtBy returns how a program says that it was built, where Go can read that.
func builtBy(path string) string {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return ""
	}
	return fmt.Sprintf(" (%s, %s)", info.Main.Version, info.GoVersion)
}

// oneCall is one call of the command line, from the start of the program to its end.
func (b *bench) oneCall(p program) timed {
	return timed{p.name, func(ctx context.Context, _ gen.Work) (gen.Result, error) {
		l, env, _, err := b.launch(ctx, p, b.overStdio(""), "")
		if err != nil {
			return gen.Result{}, err
		}
		ctx, cancel := context.WithTimeout(ctx, acceptTimeout)
		defer cancel()
		cmd := exec.CommandContext(ctx, l.words[0], l.words[1:]...)
		cmd.Env = env
		begin := time.Now()
		out, err := cmd.CombinedOutput()
		took := time.Since(begin)
		switch {
		case err != nil:
			return gen.Result{}, fmt.Errorf("%s: %w: %s", p.name, err, strings.TrimSpace(string(out)))
		case !strings.Contains(string(out), calledText):
			return gen.Result{}, fmt.Errorf("%s: it printed another answer: %.200s", p.name, out)
		}
		return onceTook(took, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()), nil
	}}
}

const (
	listedServers = 20
	toolsEach     = 9 // the three of the server, and six
)

// firstList is the time from the start of a program that knows nothing of its servers
// until it has listed all of their tools.
func (b *bench) firstList(p program, delay time.Duration) timed {
	return timed{p.name, func(ctx context.Context, _ gen.Work) (gen.Result, error) {
		servers := map[string]any{}
		for i := range listedServers {
			servers[fmt.Sprintf("s%02d", i)] = command(b.load, "backend", "-tools", fmt.Sprint(toolsEach-3), "-delay", delay.String())
		}
		begin := time.Now()
		c, stop, err := b.before(ctx, p, servers, "")
		defer stop()
		if err != nil {
			return gen.Result{}, fmt.Errorf("%s: %w", p.name, err)
		}
		defer func() { _ = c.Close() }() // it has been answered
		for {
			got, err := c.List(ctx)
			took := time.Since(begin)
			switch {
			case err != nil:
				return gen.Result{}, fmt.Errorf("%s: %w", p.name, err)
			case len(got.Names) == listedServers*toolsEach:
				res := onceTook(took, cpuTime(c.PID()))
				res.PeakKB = wire.ReadUsage(c.PID()).PeakKB
				return res, nil
			case took > acceptTimeout:
				return gen.Result{}, fmt.Errorf("%s: it lists %d tools of %d", p.name, len(got.Names), listedServers*toolsEach)
			}
			time.Sleep(acceptAgain)
		}
	}}
}

// onceTook is the result of one thing that took so long.
func onceTook(elapsed, cpu time.Duration) gen.Result {
	return gen.Result{
		Callers: 1, Calls: 1, Seconds: elapsed.Seconds(), PerSecond: 1 / elapsed.Seconds(),
		P50: float64(elapsed.Microseconds()), CPU: float64(cpu.Microseconds()),
	}
}
