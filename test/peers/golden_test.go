//go:build integration

package peers_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

// odd are arguments whose bytes any decoding on the way would change: numbers
// beyond a float64, 1.0, an exponent, minus zero, escapes, a lone surrogate,
// members out of order and repeated, white space.
const odd = `{ "z" : 9007199254740993, "one":1.0,"e":1E400, "neg":-0 ,"esc":"\u00e9\/\ud800","a":{"k":1,"k":2,"":null},` +
	`"list":[ ],"long":123456789012345678901234567890.10 }`

// prettyResult has line breaks, as the bodies of HTTP servers may.
const prettyResult = "{\n  \"content\": [\r\n\t{\"type\":\"text\", \"text\":\"a\\nb\"} ],\n  \"x\": 1.0\n}"

// golden is the fake server with grease, so that every object of every answer
// has members nobody knows.
func golden() *runtimetest.Server {
	s := runtimetest.New()
	s.Grease = true
	s.Tools = append(s.Tools, runtimetest.Tool{
		Definition: json.RawMessage(`{"name":"pretty","inputSchema":{"type":"object"}}`),
		Call: func(context.Context, *runtimetest.Call) (json.RawMessage, error) {
			return json.RawMessage(prettyResult), nil
		},
	})
	return s
}

// goldenBackends are the same server over each transport: what mcpctl is told
// about it, and a client that asks it without mcpctl.
func goldenBackends() map[string]func(t *testing.T) (entry, caller) {
	overHTTP := func(o runtimetest.HTTPOptions) func(*testing.T) (entry, caller) {
		return func(t *testing.T) (entry, caller) {
			url := listen(t, golden().Handler(o))
			return remote("fake", url), post(t, url)
		}
	}
	return map[string]func(*testing.T) (entry, caller){
		"stdio": func(t *testing.T) (entry, caller) {
			e := fake("fake", "-grease")
			return e, startDirect(t, e)
		},
		"json":    overHTTP(runtimetest.HTTPOptions{}),
		"sse":     overHTTP(runtimetest.HTTPOptions{SSE: true}),
		"session": overHTTP(runtimetest.HTTPOptions{Sessions: true}),
		"legacysse": func(t *testing.T) (entry, caller) {
			url := listen(t, golden().LegacySSE())
			e := remote("fake", url+"/sse")
			e.object["type"] = "sse"
			return e, post(t, listen(t, golden().Handler(runtimetest.HTTPOptions{})))
		},
	}
}

// goldenRequests are what is asked for, with the server's own names.
var goldenRequests = map[string]struct{ method, params string }{
	"exact":   {"tools/call", `{"name":"exact","arguments":{}}`},
	"fail":    {"tools/call", `{"name":"fail"}`},
	"reflect": {"tools/call", `{"name":"reflect","arguments":` + odd + `}`},
	"read":    {"resources/read", `{"uri":"fake://note"}`},
	"blob":    {"resources/read", `{"uri":"fake://blob"}`},
	"prompt":  {"prompts/get", `{"name":"greet","arguments":{"who":"Ada"}}`},
}

func TestGoldenCommandLine(t *testing.T) {
	t.Parallel()
	for back, open := range goldenBackends() {
		t.Run(back, func(t *testing.T) {
			t.Parallel()
			e, peer := open(t)
			config := configure(t, e)
			for _, c := range []struct{ method, params, words string }{
				{"tools/list", `{}`, "--json tools fake"},
				{"prompts/list", `{}`, "--json prompts fake"},
				{"resources/list", `{}`, "--json resources fake"},
				{"resources/templates/list", `{}`, "--json resources fake --templates"},
				{"tools/call", `{"name":"exact","arguments":{}}`, "--json call fake exact"},
				{"tools/call", `{"name":"exact","arguments":{}}`, "fake exact"}, // a pipe alone means JSON, too
				{"resources/read", `{"uri":"fake://note"}`, "--json read fake fake://note"},
				{"prompts/get", `{"name":"greet","arguments":{"who":"Ada"}}`, "--json prompt fake greet who=Ada"},
			} {
				want := result(t, peer, c.method, c.params) + "\n"
				if !strings.Contains(want, "x-grease") {
					t.Fatalf("%s: the server has no grease: %s", c.words, want)
				}
				if got := ok(t, config, strings.Fields(c.words)...); got != want {
					t.Errorf("%s:\n got %q\nwant %q", c.words, got, want)
				}
			}
			o := mcpctl(t, config, "--json", "fake", "fail")
			if want := result(t, peer, "tools/call", `{"name":"fail"}`) + "\n"; o.code != 3 || o.stdout != want {
				t.Errorf("fail: exit %d\n got %q\nwant %q", o.code, o.stdout, want)
			}
		})
	}
}

// TestGoldenArguments: what a command line says is what the server sees.
func TestGoldenArguments(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	config := configure(t, fake("fake", "-log", log))
	for _, c := range []struct {
		words []string
		want  string
	}{
		{[]string{"big:=9007199254740993", "one:=1.0", "e:=1e2", "neg:=-0", "text=007"}, `{"big":9007199254740993,"one":1.0,"e":1e2,"neg":-0,"text":"007"}`},
		{[]string{"deep.list[]:=1.50", "deep.list[]:=12345678901234567890"}, `{"deep":{"list":[1.50,12345678901234567890]}}`},
		{[]string{`{"big":9007199254740993,"one":1.0,"e":1E400}`}, `{"big":9007199254740993,"one":1.0,"e":1E400}`},
	} {
		if err := os.Truncate(log, 0); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		out := ok(t, config, append([]string{"--json", "fake", "reflect"}, c.words...)...)
		if !strings.Contains(out, `"structuredContent":`+c.want) {
			t.Errorf("%q: got %s", c.words, out)
		}
		seen, err := os.ReadFile(log)
		if err != nil || !strings.Contains(string(seen), `"arguments":`+c.want) {
			t.Errorf("%q: the server saw %s, %v", c.words, seen, err)
		}
	}
}

// TestGoldenServe: both endpoints before each backend, where a call goes the slow
// way first (nothing is connected yet), then the quick one, then the slow one
// again because its name is written with escapes.
func TestGoldenServe(t *testing.T) {
	t.Parallel()
	for back, open := range goldenBackends() {
		t.Run(back, func(t *testing.T) {
			t.Parallel()
			e, peer := open(t)
			config := configure(t, e)
			stdio, _ := serveStdio(t, config)
			for gateway, c := range map[string]caller{"stdio": stdio, "http": post(t, serveHTTP(t, config).URL)} {
				for round, name := range []string{`"fake__`, `"fake__`, `"\u0066ake\u005f_`} {
					for what, r := range goldenRequests {
						params := strings.Replace(r.params, `"name":"`, `"name": `+name, 1)
						if got, want := result(t, c, r.method, params), result(t, peer, r.method, r.params); got != want {
							t.Errorf("%s, round %d, %s:\n got %q\nwant %q", gateway, round, what, got, want)
						}
					}
				}
				if back != "stdio" {
					got := result(t, c, "tools/call", `{"name":"fake__pretty"}`)
					want := result(t, peer, "tools/call", `{"name":"pretty"}`)
					if strings.HasSuffix(back, "sse") { // its lines may end with CR LF as well
						want = strings.ReplaceAll(want, "\r\n", "\n")
					}
					if oneLine(got) != oneLine(want) {
						t.Errorf("%s, pretty:\n got %q\nwant %q", gateway, got, want)
					}
				}
				goldenError(t, gateway, c, peer)
				goldenLists(t, gateway, c, peer)
			}
			if other := stdio.rest(); len(other) > 0 {
				t.Errorf("lines that answer nothing: %q", other)
			}
		})
	}
}

// oneLine replaces line breaks as a front of lines has to.
func oneLine(s string) string { return strings.NewReplacer("\n", " ", "\r", " ").Replace(s) }

func goldenError(t *testing.T, gateway string, c, peer caller) {
	t.Helper()
	got := c.call(t, "tools/call", `{"name":"fake__refuse","arguments":{"code":-32099}}`)
	want := peer.call(t, "tools/call", `{"name":"refuse","arguments":{"code":-32099}}`)
	if string(got.Error) != string(want.Error) || want.Error == nil {
		t.Errorf("%s, error:\n got %s\nwant %s", gateway, got.Error, want.Error)
	}
}

// goldenLists compares each entry with the server's own, but for its name.
func goldenLists(t *testing.T, gateway string, c, peer caller) {
	t.Helper()
	for method, member := range map[string]string{
		"tools/list": "tools", "prompts/list": "prompts", "resources/list": "resources", "resources/templates/list": "resourceTemplates",
	} {
		got, want := items(t, result(t, c, method, `{}`), member), items(t, result(t, peer, method, `{}`), member)
		if len(got) != len(want) || len(got) == 0 {
			t.Errorf("%s, %s: got %d entries, want %d", gateway, method, len(got), len(want))
			continue
		}
		for i := range want {
			if w := strings.Replace(want[i], `"name":"`, `"name":"fake__`, 1); got[i] != w {
				t.Errorf("%s, %s:\n got %s\nwant %s", gateway, method, got[i], w)
			}
		}
	}
}

func items(t *testing.T, result, member string) []string {
	t.Helper()
	var m map[string]json.RawMessage
	var list []json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(result), &m))
	require.NoError(t, json.Unmarshal(m[member], &list))
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = string(x)
	}
	return out
}
