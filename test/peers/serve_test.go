//go:build integration

package peers_test

import (
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

// TestServeStdoutIsTheWire: whatever is logged, every line on standard output
// is one JSON-RPC message.
func TestServeStdoutIsTheWire(t *testing.T) {
	t.Parallel()
	config := configure(t,
		fake("noisy", "-stderr", "a line of the server", "-rubbish-between", "-flood-stderr", "200"),
		fake("dead", "-exit"),
		entry{"missing", map[string]any{"command": "no-such-program-here"}},
	)
	for _, format := range []string{"text", "json"} {
		l, stderr := serveStdio(t, config, "-vvv", "--log-format", format)
		result(t, l, "tools/list", `{}`)
		result(t, l, "tools/call", `{"name":"noisy__echo","arguments":{"message":"hi"}}`)
		if r := l.call(t, "tools/call", `{"name":"dead__echo"}`); !strings.Contains(string(r.Result), `"isError":true`) {
			t.Errorf("dead: got %s %s", r.Result, r.Error)
		}
		l.send("this is no JSON")
		l.send(`{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`)
		l.send(`[]`)
		result(t, l, "tools/call", `{"name":"noisy__change"}`)
		result(t, l, "ping", `{}`)
		l.end(t)
		if code := l.Cmd.ProcessState.ExitCode(); code != 0 {
			t.Errorf("exit code %d", code)
		}
		errors := 0
		for _, line := range l.rest() {
			var m struct {
				Jsonrpc string
				Method  string
				Error   json.RawMessage
			}
			if err := json.Unmarshal([]byte(line), &m); err != nil || m.Jsonrpc != "2.0" {
				t.Errorf("%s: a line that is no message: %q", format, line)
			}
			if m.Error != nil {
				errors++
			}
		}
		if errors != 3 {
			t.Errorf("%s: got %d refusals, want 3: %q", format, errors, l.rest())
		}
		if !strings.Contains(stderr.String(), "a line of the server") {
			t.Errorf("%s: the server's stderr is not logged", format)
		}
	}
}

// TestServeRefuses: each way not to start has its exit code, a clear line and
// a silent standard output.
func TestServeRefuses(t *testing.T) {
	t.Parallel()
	good := configure(t, fake("fake"))
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "servers.json")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = busy.Close() })
	for name, c := range map[string]struct {
		config, args string
		code         int
		says         []string
	}{
		"broken":        {write("{\"mcpServers\": {\n  \"a\": {\"command\": \"x\" \"args\": []}\n}}"), "serve", 5, []string{":2:", "hint: "}},
		"broken http":   {write("{\"mcpServers\": {\n  \"a\": {\"command\": \"x\" \"args\": []}\n}}"), "serve --http 127.0.0.1:0", 5, []string{":2:"}},
		"no servers":    {write(`{"mcpServers": {}}`), "serve", 5, []string{"no servers", "hint: mcpctl add"}},
		"no file":       {filepath.Join(t.TempDir(), "none.json"), "serve", 5, []string{"no servers"}},
		"unknown":       {good, "serve --server fakee", 2, []string{"fakee", "fake"}},
		"one unknown":   {good, "serve --server fake,other", 2, []string{"other"}},
		"a word":        {good, "serve fake", 2, []string{"--server fake"}},
		"busy":          {good, "serve --http " + busy.Addr().String(), 6, []string{busy.Addr().String(), "in use", "hint: "}},
		"not loopback":  {good, "serve --http 0.0.0.0:0", 2, []string{"--insecure"}},
		"all addresses": {good, "serve --http=:0", 2, []string{"--insecure"}},
		"no port":       {good, "serve --http 127.0.0.1", 2, []string{"HOST:PORT"}},
		"two words":     {good, "serve --http 127.0.0.1:0 fake", 2, nil},
		"bad timeout":   {good, "serve --request-timeout soon", 2, []string{"soon"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := mcpctlWith(t, c.config, strings.NewReader(""), strings.Fields(c.args)...)
			if o.code != c.code || o.stdout != "" {
				t.Errorf("exit %d, stdout %q, want %d and nothing\n%s", o.code, o.stdout, c.code, o.stderr)
			}
			for _, s := range c.says {
				if !strings.Contains(o.stderr, s) {
					t.Errorf("stderr does not say %q:\n%s", s, o.stderr)
				}
			}
		})
	}
}

// TestServeInsecure: with the flag, a wildcard address is served, under any
// Host.
func TestServeInsecure(t *testing.T) {
	t.Parallel()
	config := configure(t, fake("fake"))
	for _, insecure := range []bool{false, true} {
		args := []string{}
		want := http.StatusForbidden
		if insecure {
			args, want = append(args, "--insecure"), http.StatusOK
		}
		d := serveHTTP(t, config, args...)
		ping := wire.RawPost("/mcp", wire.Request("1", "ping", "{}"), "Host: attacker.example", "Content-Type: application/json", "Accept: application/json, text/event-stream", "Connection: close")
		if res, err := wire.RawExchange(d.URL, ping, 0); err != nil || res.Status != want {
			t.Errorf("insecure %v: got status %d, %v", insecure, res.Status, err)
		}
	}
}

// TestServeSlowOthers: a server that never answers, one that starts slowly and
// one that is dead delay nobody else.
func TestServeSlowOthers(t *testing.T) {
	t.Parallel()
	config := configure(t,
		fake("mute", "-silent-method", "tools/call"),
		fake("late", "-start-delay", "20s"),
		fake("fake"),
	)
	stdio, _ := serveStdio(t, config)
	stdio.start(`"stuck"`, "tools/call", `{"name":"mute__echo"}`)
	stdio.start(`"starting"`, "tools/call", `{"name":"late__echo"}`)
	start := time.Now()
	if r := stdio.await(t, stdio.start(`"quick"`, "tools/call", `{"name":"fake__echo","arguments":{"message":"hi"}}`), 10*time.Second); !strings.Contains(string(r.Result), `"hi"`) {
		t.Errorf("got %s %s", r.Result, r.Error)
	}
	first := time.Since(start)
	start = time.Now()
	for range 100 {
		result(t, stdio, "tools/call", `{"name":"fake__echo","arguments":{"message":"hi"}}`)
	}
	t.Logf("first call %s, then 100 calls %s", first.Round(time.Millisecond), time.Since(start).Round(time.Millisecond))
	stdio.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"stuck"}}`)
	stdio.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"starting"}}`)
}

// TestServeTimeouts: a server that does not answer, at whatever stage, gives
// one clear result, and a sign of life puts it off.
func TestServeTimeouts(t *testing.T) {
	t.Parallel()
	delayed := fake("late", "-start-delay", "1h")
	delayed.object["connectTimeout"] = "2s"
	config := configure(t, fake("mute", "-silent-method", "tools/call"), delayed, fake("fake"))
	stdio, _ := serveStdio(t, config, "--request-timeout", "1s")
	web := post(t, serveHTTP(t, config, "--request-timeout", "1s").URL)
	for gateway, c := range map[string]caller{"stdio": stdio, "http": web} {
		for round := range 2 { // the slow way, then the quick one
			start := time.Now()
			got := result(t, c, "tools/call", `{"name":"mute__echo"}`)
			if took := time.Since(start); !strings.Contains(got, `"isError":true`) || !strings.Contains(got, `{"kind":"timeout","server":"mute"}`) || took < 900*time.Millisecond || took > 20*time.Second {
				t.Errorf("%s, round %d: got %s after %s", gateway, round, got, took)
			}
		}
		if got := result(t, c, "tools/call", `{"name":"late__echo"}`); !strings.Contains(got, `"isError":true`) || !strings.Contains(got, `{"kind":"timeout","server":"late"}`) {
			t.Errorf("%s: late: got %s", gateway, got)
		}
		if got := result(t, c, "tools/call", `{"name":"fake__echo","arguments":{"message":"hi"}}`); !strings.Contains(got, `"hi"`) {
			t.Errorf("%s: fake: got %s", gateway, got)
		}
	}
}
