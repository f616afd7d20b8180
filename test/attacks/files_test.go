//go:build attacks && linux

package attacks_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
	"github.com/mcpctl/mcpctl/test/wire"
)

// oddities are what may be in place of a file: what never ends, never begins, or
// is not one.
func oddities() map[string]func(t *testing.T, path string) {
	link := func(to string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			t.Helper()
			require.NoError(t, os.Symlink(to, path))
		}
	}
	return map[string]func(t *testing.T, path string){
		"a pipe that nobody writes to": func(t *testing.T, path string) {
			require.NoError(t, syscall.Mkfifo(path, 0o600))
		},
		"a device without an end": link("/dev/zero"),
		"a terminal's device":     link("/dev/ptmx"),
		"a folder": func(t *testing.T, path string) {
			require.NoError(t, os.Mkdir(path, 0o700))
		},
		"a link to itself": func(t *testing.T, path string) { link(filepath.Base(path))(t, path) },
		"a terabyte of nothing": func(t *testing.T, path string) {
			f, err := os.Create(path)
			require.NoError(t, err)
			defer f.Close()
			if err := f.Truncate(1 << 40); err != nil {
				t.Skip(err) // the disk does not take it
			}
		},
		"garbage": func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(path, []byte("\x00\xff{{{"), 0o600))
		},
		"deep brackets": func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(path, []byte(strings.Repeat(`{"a":[`, 200_000)), 0o600))
		},
	}
}

// odd puts an oddity at a path, in place of what is there.
func odd(t *testing.T, path, what string) {
	t.Helper()
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	oddities()[what](t, path)
}

// soon is how long a command may take that has nothing to wait for, in a process
// that may have four gigabytes of addresses: what reads for ever is found before it
// has eaten the machine.
const soon = 10 * 15 * time.Second

func files() class {
	c := class{name: "files", apart: true}
	for what := range oddities() {
		for _, command := range []string{"list", "add new -- true", "serve --http 127.0.0.1:0", "remove x"} {
			c.cases = append(c.cases, attack{name: what + " as servers.json, " + strings.Fields(command)[0], do: func(t *testing.T, _ *stage) {
				h := newHome(t, "")
				odd(t, h.config, what)
				o := h.bounded(t, strings.Fields(command)...)
				expectExit(t, o, "1|5 ")
				if !strings.Contains(o.stderr, "mcpctl: ") {
					t.Errorf("it says %q", o.stderr)
				}
			}})
		}
		c.cases = append(c.cases, attack{name: what + " as config.yaml", do: func(t *testing.T, _ *stage) {
			h := newHome(t, `{"mcpServers":{}}`)
			odd(t, filepath.Join(h.dir, "config.yaml"), what)
			expectExit(t, h.bounded(t, "tools"), "1|5 ")
			// What starts nothing and sends nothing says so, and goes on.
			o := h.bounded(t, "list")
			if expectExit(t, o, "0 "); !strings.Contains(o.stderr, "warning: "+h.dir) {
				t.Errorf("it says %q", o.stderr)
			}
		}})
		for _, file := range []string{"ring.json", "verdicts.json", "mcpctl.db"} {
			c.cases = append(c.cases, attack{name: what + " as " + file, do: func(t *testing.T, _ *stage) {
				h := newHome(t, string(wire.Servers{"good": rogue(t, spec{Name: "good"})}.JSON()))
				odd(t, filepath.Join(h.dir, file), what)
				o := h.boundedWith(t, ping+"\n"+tool("2", "good__echo", `{}`)+"\n", "serve")
				for _, want := range []string{`{"jsonrpc":"2.0","id":1,"result":{}}`, `"good `} {
					if !strings.Contains(o.stdout, want) {
						t.Errorf("no %s, exit code %d:\n%s%s", want, o.code, o.stdout, o.stderr)
					}
				}
			}})
		}
	}
	for what := range oddities() {
		switch what {
		case "garbage", "deep brackets": // those are tested where reloads are
			continue
		case "a device without an end", "a terabyte of nothing": // nothing here bounds what serve takes
			continue
		}
		c.cases = append(c.cases, attack{name: what + " while serve runs, and back", do: func(t *testing.T, _ *stage) {
			d := serve(t, wire.Servers{"good": rogue(t, spec{Name: "good"})})
			toolNames(t, d)
			odd(t, d.Config, what)
			time.Sleep(500 * time.Millisecond) // in which it looks at the file
			expect(t, post(t, d, tool("1", "good__echo", `{}`)), "200 result good ")
			require.NoError(t, os.RemoveAll(d.Config))
			d.Configure(t, wire.Setup{Servers: wire.Servers{"good": rogue(t, spec{Name: "good"}), "new": rogue(t, spec{Name: "new"})}, Each: addMark})
			wait.Until(t, "the file is read again", func() bool { return strings.Contains(strings.Join(toolNames(t, d), " "), "new__echo") })
		}})
	}
	c.cases = append(c.cases, attack{name: "a new servers.json is its owner's", do: func(t *testing.T, _ *stage) {
		h := newHome(t, "")
		expectExit(t, h.mcpctl(t, "", "add", "x", "--", "true"), "0")
		if info, err := os.Stat(h.config); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v: %v", err, info.Mode())
		}
	}}, attack{name: "files of serve are their owner's", do: func(t *testing.T, _ *stage) {
		d := serve(t, wire.Servers{"good": rogue(t, spec{Name: "good"})})
		post(t, d, tool("1", "good__echo", `{}`))
		entries, err := os.ReadDir(d.Home)
		require.NoError(t, err)
		for _, e := range entries {
			if info, err := e.Info(); err == nil && info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s: %v", e.Name(), info.Mode())
			}
		}
	}})
	return c
}

// bounded runs a command that may take soon, and no more memory than that.
func (h *home) bounded(t testing.TB, args ...string) outcome {
	t.Helper()
	return h.boundedWith(t, "", args...)
}

func (h *home) boundedWith(t testing.TB, stdin string, args ...string) outcome {
	t.Helper()
	// The shell's bound: the kernel ends what wants more.
	cmd := h.command(t.Context(), args...)
	cmd.Args = append([]string{"sh", "-c", `ulimit -v 4000000; exec "$0" "$@"`, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/bin/sh"
	var out, errs strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	require.NoError(t, cmd.Start())
	delayed := time.AfterFunc(soon, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait() // the state is in ProcessState
	if !delayed.Stop() {
		t.Errorf("mcpctl %s has not ended after %s", strings.Join(args, " "), soon)
	}
	if strings.Contains(errs.String(), "goroutine ") {
		t.Errorf("mcpctl %s: %.600s", strings.Join(args, " "), errs.String())
	}
	return outcome{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// edits are changes of servers.json that are cut off, or made by many at once.
func edits() class {
	c := class{name: "edits", apart: true}
	const stored = "{\n  // by hand\n  \"mcpServers\": {\n    \"kept\": {\"command\": \"true\"}, // stays\n  },\n}\n"
	for i := range 12 {
		c.cases = append(c.cases, attack{name: fmt.Sprintf("killed, round %d", i+1), do: func(t *testing.T, _ *stage) {
			h := newHome(t, stored)
			for n := range 6 {
				cmd := h.command(t.Context(), "add", fmt.Sprintf("new%d", n), "--", "true")
				require.NoError(t, cmd.Start())
				// Where in its work it is at that moment is what the rounds are for.
				time.Sleep(time.Duration(rand.IntN(12*(i+1))) * time.Millisecond)
				_ = cmd.Process.Kill()
				_ = cmd.Wait() // killed
				text := h.read(t, "servers.json")
				if !strings.HasPrefix(text, "{\n  // by hand\n") || !strings.Contains(text, `"kept": {"command": "true"}, // stays`) {
					t.Fatalf("the file is\n%s", text)
				}
				expectExit(t, h.mcpctl(t, "", "config", "validate"), "0")
			}
			expectExit(t, h.mcpctl(t, "", "add", "last", "--", "true"), "0")
			left, err := filepath.Glob(filepath.Join(h.dir, ".servers.json.*.tmp"))
			if err != nil || len(left) > 0 {
				t.Errorf("%v, left: %q", err, left)
			}
		}})
	}
	c.cases = append(c.cases,
		attack{name: "what was left of one is removed", do: func(t *testing.T, _ *stage) {
			h := newHome(t, stored)
			old := h.write(t, ".servers.json.123456.tmp", canary("left"))
			require.NoError(t, os.Chtimes(old, time.Now().Add(-time.Hour), time.Now().Add(-time.Hour)))
			expectExit(t, h.mcpctl(t, "", "add", "new", "--", "true"), "0")
			if _, err := os.Stat(old); !os.IsNotExist(err) {
				t.Errorf("it is still there: %v", err)
			}
		}},
		attack{name: "who reads in the middle", do: func(t *testing.T, _ *stage) {
			h := newHome(t, stored)
			done := make(chan struct{})
			go func() {
				defer close(done)
				for i := range 5 {
					expectExit(t, h.mcpctl(t, "", "add", fmt.Sprintf("new%d", i), "--", "true"), "0")
				}
			}()
			for reads := 0; ; reads++ {
				select {
				case <-done:
					t.Logf("%d reads", reads)
					return
				default:
				}
				if text := h.read(t, "servers.json"); !strings.HasPrefix(text, "{\n  // by hand\n") || !strings.HasSuffix(text, "}\n") {
					t.Errorf("the file is\n%s", text)
					<-done
					return
				}
			}
		}},
		attack{name: "many at once", do: func(t *testing.T, _ *stage) {
			h := newHome(t, stored)
			var wg sync.WaitGroup
			for i := range 8 {
				wg.Go(func() { expectExit(t, h.mcpctl(t, "", "add", fmt.Sprintf("new%d", i), "--", "true"), "0") })
			}
			wg.Wait()
			list := h.mcpctl(t, "", "list", "--json").stdout
			for i := range 8 {
				if !strings.Contains(list, fmt.Sprintf(`"new%d"`, i)) {
					t.Errorf("new%d is lost: %s", i, list)
				}
			}
		}},
		attack{name: "a link is followed", do: func(t *testing.T, _ *stage) {
			h := newHome(t, "")
			real := h.write(t, "real.json", stored)
			require.NoError(t, os.Symlink("real.json", h.config))
			expectExit(t, h.mcpctl(t, "", "add", "new", "--", "true"), "0")
			if info, err := os.Lstat(h.config); err != nil || info.Mode()&os.ModeSymlink == 0 {
				t.Errorf("the link is gone: %v", err)
			}
			if raw, err := os.ReadFile(real); err != nil || !strings.Contains(string(raw), `"new"`) {
				t.Errorf("%v: %s", err, raw)
			}
		}},
		attack{name: "rights stay", do: func(t *testing.T, _ *stage) {
			h := newHome(t, stored)
			require.NoError(t, os.Chmod(h.config, 0o640))
			expectExit(t, h.mcpctl(t, "", "add", "new", "--", "true"), "0")
			if info, err := os.Stat(h.config); err != nil || info.Mode().Perm() != 0o640 {
				t.Errorf("%v: %v", err, info.Mode())
			}
		}},
		attack{name: "a name that is taken", do: func(t *testing.T, _ *stage) {
			h := newHome(t, stored)
			expectExit(t, h.mcpctl(t, "", "add", "kept", "--", "evil"), "5")
			if h.read(t, "servers.json") != stored {
				t.Errorf("got %s", h.read(t, "servers.json"))
			}
		}},
		attack{name: "a file that is broken stays as it is", do: func(t *testing.T, _ *stage) {
			h := newHome(t, stored+"}")
			expectExit(t, h.mcpctl(t, "", "add", "new", "--", "true"), "5")
			if h.read(t, "servers.json") != stored+"}" {
				t.Errorf("got %s", h.read(t, "servers.json"))
			}
		}},
	)
	// What is given becomes a text in JSON, whatever it is.
	for _, word := range []string{`"}, "evil": {"command": "x`, "a\nb", "// x", "/* x", `\`, "\x1b[2J", "${HOME}", "\u2028", strings.Repeat("x", 100_000)} {
		c.cases = append(c.cases, attack{name: "an argument " + wire.Quote(word[:min(len(word), 20)]), do: func(t *testing.T, _ *stage) {
			h := newHome(t, stored)
			expectExit(t, h.mcpctl(t, "", "add", "new", "-q", "--", "true", word), "0")
			var got struct {
				Entry struct{ Args []string }
			}
			o := h.mcpctl(t, "", "get", "new", "--json")
			if err := json.Unmarshal([]byte(o.stdout), &got); err != nil || len(got.Entry.Args) != 1 || got.Entry.Args[0] != word {
				t.Errorf("%v: %.300s", err, o.stdout)
			}
			if list := h.mcpctl(t, "", "list", "--json").stdout; strings.Contains(list, `"evil"`) || !strings.Contains(list, `"kept"`) {
				t.Errorf("got %.300s", list)
			}
		}})
	}
	return c
}
