//go:build attacks && linux

package attacks_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/mcpctl/mcpctl/test/issuer"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
	"github.com/mcpctl/mcpctl/test/wire"
)

// browserEnv has this test binary be a browser, which opens the page of its argument.
const browserEnv = "ATTACKS_BROWSER"

// account is a home with one server that wants a login, whose secrets are all known.
type account struct {
	*home
	server  *issuer.Server
	given   map[string]string                // secrets that are not the issuer's, to what they are
	inputs  []string                         // files that have such
	running chan struct{}                    // gets one for each call that hangs
	says    atomic.Pointer[http.HandlerFunc] // in the place of an answer
}

// login is one way of logging in: what it writes into the entry.
type login struct {
	name  string
	entry func(t *testing.T, a *account) map[string]any
	bound bool
	none  bool // nobody logs in: the entry has the credential
	slow  bool
	flags string // of auth login
}

func logins() class {
	c := class{name: "logins", apart: true}
	for _, l := range []login{
		{name: "a browser"},
		{name: "a browser, tokens bound to a key", bound: true, slow: true},
		{name: "a code on another device", flags: " --device", slow: true},
		{name: "a client's secret", entry: func(_ *testing.T, a *account) map[string]any {
			return map[string]any{"auth": map[string]any{"grant": "client_credentials", "clientId": "me", "issuer": a.server.URL, "clientSecret": a.secret("client secret of the entry")}}
		}},
		{name: "a client's key", slow: true, entry: func(t *testing.T, a *account) map[string]any {
			return map[string]any{"auth": map[string]any{"grant": "client_credentials", "clientId": "me", "clientKey": a.key(t)}}
		}},
		{name: "a workload", slow: true, entry: func(_ *testing.T, a *account) map[string]any {
			return map[string]any{"auth": map[string]any{"grant": "jwt_bearer", "clientId": "me", "issuer": a.server.URL, "assertion": a.secret("assertion of the entry")}}
		}},
		{name: "an enterprise", slow: true, entry: func(_ *testing.T, a *account) map[string]any {
			return map[string]any{"auth": map[string]any{"grant": "enterprise", "clientId": "me", "issuer": a.server.URL, "clientSecret": a.secret("client secret of the entry"), "idp": map[string]any{
				"tokenEndpoint": a.server.URL + "/token", "clientId": "me", "clientSecret": a.secret("client secret at the idp"), "idToken": a.secret("identity token"),
			}}}
		}},
		{name: "a file", none: true, slow: true, entry: func(t *testing.T, a *account) map[string]any {
			return map[string]any{"auth": map[string]any{"tokenFile": a.file(t)}}
		}},
		{name: "a command", none: true, slow: true, entry: func(t *testing.T, a *account) map[string]any {
			return map[string]any{"auth": map[string]any{"command": []string{"cat", a.file(t)}}}
		}},
		{name: "a header", none: true, entry: func(_ *testing.T, a *account) map[string]any {
			return map[string]any{"headers": map[string]string{"Authorization": "Bearer " + a.secret("header")}}
		}},
	} {
		c.cases = append(c.cases, attack{name: l.name, slow: l.slow, do: func(t *testing.T, _ *stage) { newAccount(t, l).life(t, l) }})
	}
	return c
}

func newAccount(t *testing.T, l login) *account {
	t.Helper()
	a := &account{home: newHome(t, ""), given: map[string]string{}, running: make(chan struct{}, 100)}
	mcp := newRemote(t, func(w http.ResponseWriter, r *http.Request, id string) {
		if r.Header.Get("X-Hang") != "" {
			a.running <- struct{}{}
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, wire.Result(json.RawMessage(id), `{"content":[{"type":"text","text":"done"}]}`)) // the client may be gone
	})
	a.server = issuer.New(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if says := a.says.Load(); says != nil {
			(*says)(w, r)
			return
		}
		mcp.ServeHTTP(w, r)
	}))
	t.Cleanup(a.server.Close)
	a.server.Bound = l.bound
	exe, err := os.Executable()
	require.NoError(t, err)
	a.env = []string{"BROWSER=" + exe, browserEnv + "=yes"}
	entry := map[string]any{"auth": map[string]any{"callbackPort": 0}}
	if l.entry != nil {
		entry = l.entry(t, a)
	}
	entry["url"] = a.server.URL + "/mcp"
	a.write(t, "servers.json", string(wire.Servers{"s": entry}.JSON()))
	if l.none {
		a.server.Admit(slices.Collect(maps.Keys(a.given))...)
	}
	return a
}

// secret makes a secret and returns the placeholder for it.
func (a *account) secret(what string) string {
	text := canary(strings.ReplaceAll(what, " ", "-")) + "-" + rand.Text()
	a.given[text] = what
	name := "SECRET_" + strings.ToUpper(strings.NewReplacer(" ", "_").Replace(what))
	a.env = append(a.env, name+"="+text)
	return "${" + name + "}"
}

// file makes a file with a token.
func (a *account) file(t *testing.T) string {
	t.Helper()
	text := canary("file") + "-" + rand.Text()
	a.given[text] = "token of the file"
	a.inputs = append(a.inputs, a.write(t, "token", text))
	return a.inputs[0]
}

// key makes a private key and returns the placeholder for it.
func (a *account) key(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	a.addKey(string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})))
	a.env = append(a.env, "KEY="+string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})))
	return "${KEY}"
}

// addKey notes the lines of a private key as secrets.
func (a *account) addKey(text string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "--") {
			a.given[line] = "private key"
		}
	}
}

// clean checks that a text shows no secret, in any form, but one that is of a kind.
func (a *account) clean(t *testing.T, where, text, but string) {
	t.Helper()
	secrets := a.server.Secrets()
	maps.Copy(secrets, a.given)
	for secret, what := range secrets {
		if what == but {
			continue
		}
		for _, f := range forms(secret) {
			if i := strings.Index(text, f); i >= 0 {
				t.Errorf("%s shows the %s: …%s…", where, what, text[max(0, i-200):min(len(text), i+100)])
				break
			}
		}
	}
}

// run runs a command that shows no secret, and returns how it ended.
func (a *account) run(t *testing.T, words ...string) outcome {
	t.Helper()
	o := a.mcpctl(t, "", words...)
	a.clean(t, "mcpctl "+strings.Join(words, " "), o.output(), "")
	return o
}

// all runs what uses the server, and what looks at it, as wordy as can be.
func (a *account) all(t *testing.T, when, exit string) {
	t.Helper()
	for _, words := range []string{
		"call s echo -vvv", "call s echo -vvv --log-format json --json", "tools s --json -vvv", "ping s", "describe s echo", "auth status", "auth status s --json -vvv",
		"get s", "get s --json", "list --json", "config validate", "status --json", "doctor s -vvv", "doctor --json",
	} {
		o := a.run(t, strings.Fields(words)...)
		if strings.HasPrefix(words, "call") {
			if !slices.Contains(strings.Split(exit, "|"), string(rune('0'+o.code))) {
				t.Errorf("%s: mcpctl %s ends with %d, want %s:\n%s", when, words, o.code, exit, o.output())
			}
		}
	}
}

// saidBack are answers with the credential, by where it is.
func saidBack() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"a text":     echo(500, "text/plain", "not with $AUTH"),
		"an error":   echo(400, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"not with $AUTH","data":"$AUTH"}}`),
		"garbage":    echo(200, "application/json", "$AUTH"),
		"a page":     echo(200, "text/html", "<html>$AUTH</html>"),
		"a redirect": echo(302, "text/plain", ""),
	}
}

// life takes an account through all that can happen to it.
func (a *account) life(t *testing.T, l login) {
	set := func(refuses, barred bool) {
		a.server.Set(func(s *issuer.Server) { s.Refuses, s.Barred = refuses, barred })
	}
	login := func() {
		a.run(t, strings.Fields("auth login s -vvv"+l.flags)...)
		a.keys(t)
	}
	set(true, false)
	login() // which is refused
	set(false, false)
	login()
	a.all(t, "after the login", "0")
	if !l.none {
		a.server.Expire()
		a.all(t, "after its end", "0") // a refresh, or the grant again
		a.server.Expire()
	}
	set(true, true)
	a.all(t, "while all is refused", "4")
	set(false, true)
	a.all(t, "while tokens are refused", "4")
	set(false, false)
	login()
	for _, says := range saidBack() {
		a.says.Store(&says)
		a.run(t, strings.Fields("call s echo -vvv")...)
		a.run(t, strings.Fields("tools s --json")...)
	}
	a.says.Store(nil)
	a.serve(t, l, false)
	a.serve(t, l, true)
	a.inFlight(t)
	login()
	if l.none {
		a.clean(t, "auth token", a.mcpctl(t, "", "auth", "token", "s").stderr, "")
	} else {
		for _, flags := range [][]string{nil, {"--header"}, {"--json"}} {
			o := a.mcpctl(t, "", append([]string{"auth", "token", "s"}, flags...)...)
			a.clean(t, "auth token", o.stdout, "access token")
			a.clean(t, "auth token on standard error", o.stderr, "")
			if flags == nil && len(a.server.Shown(o.stdout)) != 1 {
				t.Errorf("auth token prints %q", o.stdout)
			}
		}
	}
	a.files(t)
	a.run(t, "auth", "logout", "s", "-vvv")
	a.files(t)
	if raw, err := os.ReadFile(filepath.Join(a.dir, "auth.json")); err == nil && strings.Contains(string(raw), "token") && !strings.Contains(string(raw), `"tokens": []`) && !strings.Contains(string(raw), `"tokens": null`) {
		t.Errorf("after the logout there is %s", raw)
	}
}

// keys notes the keys that tokens are bound to.
func (a *account) keys(t *testing.T) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(a.dir, "auth.json"))
	if err != nil {
		return
	}
	var file struct {
		Tokens []struct {
			Key string `json:"key"`
		} `json:"tokens"`
	}
	require.NoError(t, json.Unmarshal(raw, &file))
	for _, k := range file.Tokens {
		a.addKey(k.Key)
	}
}

// serve looks at what clients of mcpctl serve, its log, its status and its report of
// all goroutines show, while the server changes its mind.
func (a *account) serve(t *testing.T, l login, onPipe bool) {
	t.Helper()
	setup := wire.Setup{Program: *program, Config: a.config, Home: a.dir, Env: a.env, Args: []string{"-vvv"}, Stdio: onPipe}
	d := wire.Serve(t, setup)
	var ask func(request string) string
	if onPipe {
		p := &stdio{Daemon: d, out: wire.NewOutput()}
		go func() { _, _ = io.Copy(p.out, d.Out) }() // until it ends
		p.initialize(t, "{}")
		ask = func(request string) string { return p.reply(t, request) }
	} else {
		ask = func(request string) string { return post(t, d, request).Body }
	}
	round := func(when string) {
		for _, request := range []string{tool("1", "s__echo", `{}`), tool("2", "s__echo", `{}`), wire.Request("3", "tools/list", "{}"), wire.Request("4", "prompts/list", "{}")} {
			a.clean(t, "an answer of serve, "+when, ask(request), "")
		}
		a.clean(t, "status, "+when, a.mcpctl(t, "", "status", "--json").output(), "")
	}
	round("after the login")
	if !l.none {
		a.server.Expire()
		round("after its end")
		a.server.Expire()
	}
	for _, refuses := range []bool{true, false} {
		a.server.Set(func(s *issuer.Server) { s.Refuses, s.Barred = refuses, true })
		round("while it is refused")
	}
	a.server.Set(func(s *issuer.Server) { s.Refuses, s.Barred = false, false })
	for when, says := range saidBack() {
		a.says.Store(&says)
		round("while it says it back in " + when)
	}
	a.says.Store(nil)
	d.Signal(syscall.SIGQUIT)
	<-d.Exited
	d.Stopped = true // it ends with a report
	log := d.Stderr.String()
	if !strings.Contains(log, "goroutine ") {
		t.Errorf("there is no report of goroutines: %.300s", log)
	}
	a.clean(t, "the log and the report", log, "")
}

// inFlight looks at the report of all goroutines of a call that waits for its answer.
func (a *account) inFlight(t *testing.T) {
	t.Helper()
	a.run(t, strings.Fields("auth login s")...)
	cmd := a.command(wait.Context(t), "call", "s", "echo", "-vvv", "-H", "X-Hang=yes")
	out := wire.NewOutput()
	cmd.Stdout, cmd.Stderr = out, out
	require.NoError(t, cmd.Start())
	wait.For(t, "the call", a.running)
	_ = cmd.Process.Signal(syscall.SIGQUIT) // it is there: it waits
	_ = cmd.Wait()                          // it ends with a report
	if !strings.Contains(out.String(), "goroutine ") {
		t.Errorf("there is no report of goroutines: %.300s", out)
	}
	a.clean(t, "the report of a call", out.String(), "")
}

// files looks at all files that mcpctl has written but the token file.
func (a *account) files(t *testing.T) {
	t.Helper()
	seen := 0
	err := filepath.WalkDir(a.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || slices.Contains(append(a.inputs, filepath.Join(a.dir, "auth.json")), path) {
			return nil //nolint:nilerr // it has just gone
		}
		raw, err := os.ReadFile(path)
		if err == nil {
			seen++
			a.clean(t, path, string(raw), "")
		}
		return nil
	})
	if err != nil || seen < 3 {
		t.Errorf("%d files, %v", seen, err)
	}
}
