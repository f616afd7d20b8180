package main_test

import (
	"bufio"
	"encoding/base64"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/idp"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

var flood = flag.Duration("flood", 0, "how long TestUnknownKeys sends 10,000 tokens a second; then how long others wait for their answers is measured, too")

// TestUnknownKeys: however many tokens with unknown keys come, the issuer is asked for its
// keys once in 30 seconds, and others get their answers.
func TestUnknownKeys(t *testing.T) {
	key := idp.NewKey("known", "EdDSA")
	issuer := idp.NewServer(key)
	defer issuer.Close()
	host := serveIssuer(t, issuer.URL)
	token := key.Sign(idp.Claims{"iss": issuer.URL, "aud": "https://mcp.example.com/mcp", "sub": "ann", "exp": time.Now().Add(time.Hour).Unix()}, nil)
	_, rest, _ := strings.Cut(token, ".")
	valid := func(*int) string { return token }
	unknown := func(n *int) string {
		*n++
		head := fmt.Sprintf(`{"alg":"EdDSA","kid":"unknown %p %d"}`, n, *n)
		return base64.RawURLEncoding.EncodeToString([]byte(head)) + "." + rest
	}
	quietly := func(length time.Duration) []time.Duration {
		return run(t, host, length, 4, 2*time.Millisecond, valid, http.StatusOK)
	}
	flooded := func(length time.Duration) (others []time.Duration, refused int) {
		var flooding sync.WaitGroup
		flooding.Go(func() {
			refused = len(run(t, host, length, 16, 16*time.Second/10_000, unknown, http.StatusUnauthorized))
		})
		others = quietly(length)
		flooding.Wait()
		return others, refused
	}
	quietly(time.Second / 10) // the server of tools is there then
	if *flood == 0 {
		others, refused := flooded(time.Second / 5)
		if n := issuer.Asked("/jwks"); len(others) < 10 || refused < 100 || n > 2 {
			t.Errorf("%d were accepted, %d refused, and %d fetches", len(others), refused, n)
		}
		return
	}
	time.Sleep(30 * time.Second) // a fetch is due
	start, before, all := time.Now(), issuer.Asked("/jwks"), 0
	best := [2]time.Duration{time.Hour, time.Hour} // of several parts, because the machine may be busy
	for range 5 {
		quiet := quietly(*flood / 5)
		others, refused := flooded(*flood / 5)
		all += refused
		best = [2]time.Duration{min(best[0], p99(quiet)), min(best[1], p99(others))}
	}
	fetches, most := issuer.Asked("/jwks")-before, 1+int(time.Since(start)/(30*time.Second))
	t.Logf("%d tokens with unknown keys in %v: %d fetches in %v; p99 of others %v, without them %v", all, *flood, fetches, time.Since(start), best[1], best[0])
	if moved := best[1] - best[0]; moved > 5*time.Millisecond || fetches > most {
		t.Errorf("p99 of others moves by %v; want %d fetches", moved, most)
	}
}

func p99(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)*99/100]
}

// serveIssuer starts a serve that accepts tokens of an issuer, and returns its HOST:PORT.
func serveIssuer(t *testing.T, issuer string) string {
	t.Helper()
	dir := t.TempDir()
	servers := filepath.Join(dir, "servers.json")
	require.NoError(t, os.WriteFile(servers, []byte(`{"mcpServers":{"fake":{"command":"fake-mcp"}}}`), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.yaml"), []byte("serve:\n  url: https://mcp.example.com/mcp\n  auth:\n    - jwt: {issuer: \""+issuer+"\"}\naccess: {default: allow}\n"), 0o600))
	cmd := exec.Command("mcpctl", "serve", "--config", servers, "--http", "127.0.0.1:0")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "XDG_STATE_HOME=" + filepath.Join(dir, "state"), noRaceSleep}
	p, err := wire.Launch(cmd, "listening on http://")
	require.NoError(t, err)
	t.Cleanup(func() { p.Stop(0) })
	return strings.TrimSuffix(p.URL, "/mcp")
}

// run sends requests for some time, over so many connections, each with a pause between
// two. It returns how long each took. Answers with another status are errors.
func run(t *testing.T, host string, length time.Duration, connections int, pause time.Duration, token func(*int) string, status int) (took []time.Duration) {
	t.Helper()
	const body = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	var all sync.WaitGroup
	var mu sync.Mutex // guards took
	var wrong atomic.Int64
	end := time.Now().Add(length)
	for range connections {
		all.Go(func() {
			c, err := net.Dial("tcp", host)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			_ = c.SetDeadline(end.Add(20 * time.Second))
			in, n := bufio.NewReader(c), 0
			var own []time.Duration
			for next := time.Now(); time.Now().Before(end); next = next.Add(pause) {
				time.Sleep(time.Until(next))
				start := time.Now()
				fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s", token(&n), len(body), body)
				resp, err := http.ReadResponse(in, nil)
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
				if resp.StatusCode != status {
					wrong.Add(1)
				}
				own = append(own, time.Since(start))
			}
			mu.Lock()
			took = append(took, own...)
			mu.Unlock()
		})
	}
	all.Wait()
	if n := wrong.Load(); n > 0 {
		t.Errorf("%d of %d answers have another status than %d", n, len(took), status)
	}
	return took
}
