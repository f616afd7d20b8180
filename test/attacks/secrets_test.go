//go:build attacks && linux

package attacks_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

// planted are the secrets of one home, which nothing may show.
type planted struct {
	*home
	remote *remote
}

// plant makes a home with a server that works and secrets in every place that
// takes one, and servers over HTTP that answer calls by how.
func plant(t *testing.T, how http.HandlerFunc) *planted {
	t.Helper()
	p := &planted{home: newHome(t, "")}
	p.remote = newRemote(t, func(w http.ResponseWriter, r *http.Request, _ string) { how(w, r) })
	p.env = []string{"TOKEN=" + canary("header"), "KEY=" + canary("env"), "WORD=" + canary("argument"), "PASSWORD=" + canary("password"), "QUERY=" + canary("query")}
	local := rogue(t, spec{Name: "local"})
	env := local["env"].(map[string]string)
	env["API_KEY"] = "${KEY}"
	local["args"] = []string{"--token", "${WORD}"}
	at := strings.TrimPrefix(p.remote.URL, "http://")
	p.write(t, "servers.json", string(wire.Servers{
		"local":  local,
		"remote": {"url": p.remote.URL + "/mcp", "headers": map[string]string{"Authorization": "Bearer ${TOKEN}"}, "requestTimeout": "2s"},
		"url":    {"url": "http://user:${PASSWORD}@" + at + "/mcp?key=${QUERY}", "requestTimeout": "2s"},
		// Written out, as people do.
		"plain": {"url": "http://user:" + canary("written") + "@" + at + "/mcp?key=" + canary("written")},
	}.JSON()))
	return p
}

// forms are those in which a secret is still one.
func forms(secret string) []string {
	return []string{secret, base64.StdEncoding.EncodeToString([]byte(secret)), base64.StdEncoding.EncodeToString([]byte("user:" + secret)), url.QueryEscape(secret), fmt.Sprintf("%x", secret)}
}

// clean checks that a text has no secrets but those named.
func clean(t *testing.T, where, text string, but ...string) {
	t.Helper()
	for _, of := range []string{"header", "env", "argument", "password", "query", "written", "remote"} {
		if strings.Contains(strings.Join(but, " "), of) {
			continue
		}
		for _, f := range forms(canary(of)) {
			if i := strings.Index(text, f); i >= 0 {
				t.Errorf("%s shows the secret of %s: …%s…", where, of, text[max(0, i-100):min(len(text), i+60)])
				break
			}
		}
	}
}

// echo answers with the credential it got, in one way or another.
func echo(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		if status == http.StatusFound {
			w.Header().Set("Location", "http://"+r.Host+"/login?"+r.URL.RawQuery+"&was="+url.QueryEscape(r.Header.Get("Authorization")))
		}
		if status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", `Bearer error="`+r.Header.Get("Authorization")+`"`)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, strings.NewReplacer("$AUTH", r.Header.Get("Authorization"), "$QUERY", r.URL.RawQuery).Replace(body)) // the client may be gone
	}
}

func secrets() class {
	c := class{name: "secrets", apart: true}
	// Commands that have no business with secrets.
	for _, row := range [][2]string{
		{"list", ""},
		{"list --json", ""},
		{"list -o text -vvv", ""},
		{"get plain", ""},
		{"get plain --json", ""},
		{"get url", ""},
		{"get remote --json", ""},
		{"get local", ""},
		{"config validate", ""},
		{"config path -vvv", ""},
		{"status", ""},
		{"status --json", ""},
		{"version --json", ""},
		{"ping local -vvv", ""},
		{"ping remote -vvv", ""},
		{"ping url -vvv", ""},
		{"ping plain -vvv --log-format json", ""},
		{"tools local -vvv", ""},
		{"tools remote -vvv --log-format json", ""},
		{"tools url --json -vvv", ""},
		{"call local echo -vvv", "{}"},
		{"call remote echo -vvv", "{}"},
		{"call url echo --json -vvv", "{}"},
		{"call plain echo --json", "{}"},
		{"call remote none", "{}"},
		{"describe url none", ""},
		{"prompts plain", ""},
		{"resources url -vvv", ""},
		{"read plain x:y", ""},
		{"ping nosuch", ""},
		{"get nosuch", ""},
		{"remove plain", ""},
		{"--url http://user:" + canary("written") + "@127.0.0.1:1/mcp?key=" + canary("written") + " ping", ""},
		{"--url ftp://user:" + canary("written") + "@127.0.0.1:1/mcp?key=" + canary("written") + " ping", ""},
		{"--url http://user:" + canary("written") + "@127.0.0.1:1/mcp?key=" + canary("written") + " nosuch extra words", "{}"},
		{"--url http://user:" + canary("written") + "@[::1/mcp ping", ""},
		{"ping plain extra -vvv", ""},
		{"-H Authorization=" + canary("written") + " ping url extra", ""},
		{"generate url --check -vvv", ""},
		{"search thing --registry http://user:" + canary("written") + "@127.0.0.1:1 -vvv", ""},
		{"search thing --registry ftp://user:" + canary("written") + "@127.0.0.1:1", ""},
	} {
		name := strings.NewReplacer(canary("written"), "SECRET", "/", " ").Replace(row[0])
		c.cases = append(c.cases, attack{name: name, do: func(t *testing.T, _ *stage) {
			p := plant(t, echo(500, "text/plain", "no"))
			o := p.mcpctl(t, row[1], strings.Fields(row[0])...)
			clean(t, "standard output", o.stdout)
			clean(t, "standard error", o.stderr)
		}})
	}
	// Servers that say the credential back.
	for _, row := range []struct {
		name string
		how  http.HandlerFunc
	}{
		{"in a text with 500", echo(500, "text/plain", "bad credentials $AUTH $QUERY")},
		{"in a page with 403", echo(403, "text/html", "<html><title>$AUTH</title>$QUERY</html>")},
		{"in a page with 404", echo(404, "text/html", "<html>$AUTH $QUERY</html>")},
		{"in a challenge", echo(401, "text/plain", "$AUTH")},
		{"in a redirect", echo(302, "text/plain", "")},
		{"in an error of JSON-RPC with 400", echo(400, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no: $AUTH $QUERY"}}`)},
		{"in an error of JSON-RPC with 500", echo(500, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no","data":"$AUTH $QUERY"}}`)},
		{"in garbage", echo(200, "application/json", `$AUTH $QUERY`)},
		{"in a page in place of an answer", echo(200, "text/html", `<html>$AUTH $QUERY</html>`)},
		{"in a stream of garbage", echo(200, "text/event-stream", "data: $AUTH $QUERY\n\n")},
		{"in the kind of content", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "x/"+strings.ReplaceAll(r.Header.Get("Authorization"), " ", "-"))
			w.WriteHeader(200)
		}},
	} {
		for _, server := range []string{"remote", "url"} {
			c.cases = append(c.cases, attack{name: "said back " + row.name + ", " + server, do: func(t *testing.T, _ *stage) {
				p := plant(t, row.how)
				o := p.mcpctl(t, "{}", "call", server, "echo", "-vvv", "--log-format", "json")
				clean(t, "call", o.output())
			}})
		}
		c.cases = append(c.cases, attack{name: "said back " + row.name + ", to clients of serve", do: func(t *testing.T, _ *stage) {
			p := plant(t, row.how)
			d := p.serve(t)
			for _, server := range []string{"remote", "url"} {
				clean(t, "an answer", post(t, d, tool("1", server+"__echo", `{}`)).Body)
			}
			clean(t, "the log", d.Stderr.String())
		}})
	}
	// A server that cannot be connected says why in everybody's lists.
	for _, row := range []struct {
		name string
		how  http.HandlerFunc
	}{
		{"a text with 500", echo(500, "text/plain", "bad credentials $AUTH $QUERY")},
		{"a page with 403", echo(403, "text/html", "<html>$AUTH $QUERY</html>")},
		{"an error of JSON-RPC", echo(200, "application/json", `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no: $AUTH $QUERY"}}`)},
	} {
		c.cases = append(c.cases, attack{name: "said back at the start in " + row.name, do: func(t *testing.T, _ *stage) {
			p := plant(t, row.how)
			s := newRemoteOf(t, row.how)
			at := strings.TrimPrefix(s, "http://")
			p.write(t, "servers.json", string(wire.Servers{
				"remote": {"url": s + "/mcp", "headers": map[string]string{"Authorization": "Bearer ${TOKEN}"}},
				"url":    {"url": "http://user:${PASSWORD}@" + at + "/mcp?key=${QUERY}"},
			}.JSON()))
			d := p.serve(t)
			for _, list := range []string{"tools/list", "prompts/list", "resources/list"} {
				clean(t, list, post(t, d, `{"jsonrpc":"2.0","id":1,"method":"`+list+`"}`).Body)
			}
			clean(t, "status", p.mcpctl(t, "", "status", "--json").output())
			clean(t, "the log", d.Stderr.String())
			o := p.mcpctl(t, "", "ping", "url", "-vvv")
			clean(t, "ping", o.output())
		}})
	}
	for name, begins := range map[string]string{
		"as it is": canary("env"), "in base64": base64.StdEncoding.EncodeToString([]byte(canary("env"))), "escaped": url.QueryEscape(canary("env") + "/+="),
	} {
		c.cases = append(c.cases, attack{name: "a program writes its secret to standard error and ends, " + name, do: func(t *testing.T, _ *stage) {
			p := plant(t, echo(500, "text/plain", "no"))
			bad := rogue(t, spec{Name: "bad", Stderr: "cannot sign in with " + begins, Exits: true})
			bad["env"].(map[string]string)["API_KEY"] = "${KEY}"
			if name == "escaped" {
				p.env = append(p.env, "KEY="+canary("env")+"/+=")
			}
			p.write(t, "servers.json", string(wire.Servers{"bad": bad}.JSON()))
			clean(t, "ping", p.mcpctl(t, "", "ping", "bad", "-vvv").output())
			d := p.serve(t)
			clean(t, "a list", post(t, d, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`).Body)
			res := post(t, d, tool("1", "bad__echo", `{}`)).Body
			clean(t, "an answer", res)
			clean(t, "status", p.mcpctl(t, "", "status", "--json").output())
			clean(t, "the log", d.Stderr.String())
		}})
	}
	c.cases = append(c.cases,
		attack{name: "files that are kept hold none", do: func(t *testing.T, _ *stage) {
			p := plant(t, func(w http.ResponseWriter, r *http.Request) { echo(500, "text/plain", "$AUTH $QUERY")(w, r) })
			d := p.serve(t)
			toolNames(t, d)
			for _, server := range []string{"local", "remote", "url"} {
				post(t, d, tool("1", server+"__echo", `{}`))
			}
			before := p.read(t, "servers.json")
			err := filepath.WalkDir(p.dir, func(path string, e fs.DirEntry, err error) error {
				if err != nil || !e.Type().IsRegular() || path == p.config {
					return nil //nolint:nilerr // it has just gone
				}
				raw, err := os.ReadFile(path)
				if err == nil {
					clean(t, path, string(raw))
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
			clean(t, "servers.json", before, "written")
		}},
		attack{name: "a report of all goroutines holds none", do: func(t *testing.T, _ *stage) {
			p := plant(t, echo(500, "text/plain", "$AUTH $QUERY"))
			d := p.serve(t)
			post(t, d, tool("1", "remote__echo", `{}`))
			post(t, d, tool("1", "local__echo", `{}`))
			d.Signal(syscall.SIGQUIT)
			<-d.Exited
			d.Stopped = true // it ends with a report
			clean(t, "the report", d.Stderr.String())
		}},
		attack{name: "the command line of serve holds none", do: func(t *testing.T, _ *stage) {
			p := plant(t, echo(500, "text/plain", "no"))
			d := p.serve(t)
			post(t, d, tool("1", "remote__echo", `{}`))
			raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", d.Cmd.Process.Pid))
			require.NoError(t, err)
			clean(t, "the command line", string(raw))
		}},
		attack{name: "what add writes is what was given", do: func(t *testing.T, _ *stage) {
			p := plant(t, echo(500, "text/plain", "no"))
			p.mcpctl(t, "", "add", "new", "--url", "http://127.0.0.1:1/mcp", "--header", "Authorization=Bearer ${TOKEN}")
			p.mcpctl(t, "", "add", "new2", "--env", "TOKEN", "--", "true")
			clean(t, "servers.json", p.read(t, "servers.json"), "written")
		}},
	)
	return c
}

// newRemoteOf starts a server that answers everything by how.
func newRemoteOf(t testing.TB, how http.HandlerFunc) string {
	t.Helper()
	s := newRemote(t, nil)
	s.Config.Handler = how
	return s.URL
}

// serve starts mcpctl serve for this home, as wordy as can be.
func (h *home) serve(t testing.TB) *wire.Daemon {
	t.Helper()
	return wire.Serve(t, wire.Setup{Program: *program, Config: h.config, Home: h.dir, Env: h.env, Args: []string{"-vvv"}})
}
