//go:build integration

package login_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
	"github.com/mcpctl/mcpctl/test/wire"
)

// TestServePage: two clients of serve, one of each era, are shown the page of a server
// that wants a login, and their calls go on when the person has logged in once.
func TestServePage(t *testing.T) {
	t.Parallel()
	p := newPair(t, settings{Lifetime: brief})
	u := newUser(t, notes(p.Server, nil))
	d := wire.Serve(t, wire.Setup{Program: binary, Config: u.config, Home: u.home, Env: []string{"BROWSER="}})
	pages := make(chan string, 2)
	var all sync.WaitGroup
	for _, call := range []func(t *testing.T, url string, pages chan<- string) string{callOfSession, callOfStateless} {
		all.Go(func() {
			if got := call(t, d.URL, pages); !strings.Contains(got, "you are "+person) {
				t.Errorf("got %s", got)
			}
		})
	}
	page := shown(t, pages)
	if other := shown(t, pages); other != page {
		t.Errorf("two logins: %s and %s", page, other)
	}
	title, err := browse(page, approve)
	if err != nil || title != "mcpctl is authorised" {
		t.Errorf("the browser ends at %q: %v", title, err)
	}
	all.Wait()
	if s := p.seen(t); s.Registrations != 1 || s.Grants["authorization_code"] != 1 {
		t.Errorf("the authorization server has seen %+v", s)
	}
	outlive() // and nobody is asked again
	if got := callOfStateless(t, d.URL, pages); !strings.Contains(got, "you are "+person) || len(pages) > 0 {
		t.Errorf("got %s, and %d pages", got, len(pages))
	}
}

// shown returns the next page that a client is shown.
func shown(t *testing.T, pages <-chan string) string {
	t.Helper()
	return wait.For(t, "a page for the client", pages)
}

// callOfSession calls as a client of 2025-11-25, which is asked in the middle of its call.
func callOfSession(t *testing.T, url string, pages chan<- string) string {
	c := wire.NewClient(url)
	defer c.Close()
	hello := `{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"url":{}}},"clientInfo":{"name":"session","version":"1"}}`
	_, err := c.Exchange(t.Context(), "0", "initialize", hello)
	require.NoError(t, err)
	c.Version = "2025-11-25"
	resp, err := c.Do(t.Context(), http.MethodPost, []byte(wire.Request("1", "tools/call", `{"name":"notes__whoami","arguments":{}}`)), nil)
	require.NoError(t, err)
	defer resp.Body.Close()
	var answer string
	_, err = wire.Events(resp.Body, func(e wire.Event) {
		var m wire.Message
		if json.Unmarshal([]byte(e.Data), &m) != nil {
			return
		}
		if m.Method != "elicitation/create" {
			answer = e.Data
			return
		}
		pages <- pageIn(t, m.Params)
		_, err := c.Post(t.Context(), wire.Result(m.ID, `{"action":"accept"}`))
		require.NoError(t, err)
	})
	require.NoError(t, err)
	return answer
}

// callOfStateless calls as a client of 2026-07-28, which comes back with the answer.
func callOfStateless(t *testing.T, url string, pages chan<- string) string {
	c := wire.NewClient(url)
	defer c.Close()
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"stateless","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"url":{}}}}`
	headers := http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"notes__whoami"}}
	send := func(more string) string {
		resp, err := c.Do(t.Context(), http.MethodPost, []byte(wire.Request("1", "tools/call", `{"name":"notes__whoami","arguments":{},`+meta+more+`}`)), headers)
		require.NoError(t, err)
		answer, err := wire.Read(resp)
		require.NoError(t, err)
		return answer.Message()
	}
	answer := send("")
	var m struct {
		Result struct {
			Inputs map[string]struct{ Params json.RawMessage } `json:"inputRequests"`
			State  json.RawMessage                             `json:"requestState"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(answer), &m))
	for key, in := range m.Result.Inputs {
		pages <- pageIn(t, in.Params)
		return send(`,"inputResponses":{` + wire.Quote(key) + `:{"action":"accept"}},"requestState":` + string(m.Result.State))
	}
	return answer
}

// pageIn returns the page that the params of an elicitation have.
func pageIn(t *testing.T, params json.RawMessage) string {
	var p struct{ Mode, URL string }
	require.NoError(t, json.Unmarshal(params, &p))
	if p.Mode != "url" || !strings.HasPrefix(p.URL, "http://127.0.0.1:") {
		t.Errorf("asked %s", params)
	}
	return p.URL
}
