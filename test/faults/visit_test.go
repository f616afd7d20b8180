//go:build faults && linux

package faults_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/wait"
	"github.com/mcpctl/mcpctl/test/wire"
)

// visit is somebody whose token ends while it is in use: it expires, or is revoked. From
// then on nothing is answered, and streams end. It returns how the token has ended.
func visit(t *testing.T, d *daemon, r *rand.Rand, server string) string {
	name, how := fmt.Sprint("visitor", r.Uint64()), "token revoked"
	words := []string{"access", "token", "add", name}
	if r.IntN(2) == 0 {
		how = "token expired"
		words = append(words, "--expires", fmt.Sprint(1+r.IntN(3), "s"))
	}
	_, token, _ := strings.Cut(runSound(t, d, words...), `"token":"`)
	token, _, ok := strings.Cut(token, `"`)
	if !ok {
		return "no token"
	}
	ctx, cancel := context.WithTimeout(context.Background(), wire.Limit)
	defer cancel()
	headers := http.Header{"Authorization": {"Bearer " + token}}
	c := wire.NewClient(d.URL)
	defer c.Close()
	post := func(message string) int {
		res, err := c.Do(ctx, http.MethodPost, []byte(message), headers)
		if err != nil {
			return 0
		}
		if s := res.Header.Get("Mcp-Session-Id"); s != "" {
			c.Session = s
		}
		got, _ := wire.Read(res) // the server may not answer
		return got.Status
	}
	post(wire.Request("0", "initialize", wire.Hello))
	streams := make(chan string, 2)
	for _, path := range []string{"/mcp", "/sse"} {
		go func() { // ends with ctx
			one := &wire.Client{URL: strings.TrimSuffix(d.URL, "/mcp") + path, Session: c.Session, HTTP: c.HTTP}
			res, err := one.Do(ctx, http.MethodGet, nil, headers)
			if err == nil {
				_, _ = io.Copy(io.Discard, res.Body)
				err = res.Body.Close()
			}
			streams <- fmt.Sprint(path, " ", err)
		}()
	}
	post(wire.Request("1", "tools/call", `{"name":"`+server+`__echo","arguments":{"message":"m"}}`))
	time.Sleep(time.Duration(r.IntN(1000)) * time.Millisecond)
	if how == "token revoked" {
		runSound(t, d, "access", "token", "revoke", name)
	}
	ended := time.Now().Add(wire.Limit) // TestSoak may have no deadline, and more to do
	for post(wire.Request("2", "ping", "{}")) != http.StatusUnauthorized {
		if time.Now().After(ended) {
			t.Errorf("%s: it still counts", how)
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	for range 2 {
		wait.For(t, how+": the end of the streams", streams)
	}
	if how == "token expired" {
		runSound(t, d, "access", "token", "revoke", name)
	}
	return how
}

// runSound runs a command as soon as config.yaml is not broken, which repolicy does on purpose.
func runSound(t *testing.T, d *daemon, words ...string) (out string) {
	for range 100 {
		if out = d.run(t, words...); !strings.Contains(out, "config.yaml:") {
			return out
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Errorf("mcpctl %v: %s", words, out)
	return out
}
