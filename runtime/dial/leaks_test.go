package dial_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/mcpctl/mcpctl/internal/secret"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
	"github.com/mcpctl/mcpctl/test/faults/hostile"
	"github.com/mcpctl/mcpctl/test/require"
)

// record collects all output of a connection besides results.
type record struct {
	runtime.NopHandler
	lookup func(string) (string, bool) // nil for secrets
	mu     sync.Mutex                  // guards buf
	buf    bytes.Buffer
}

// Write implements io.Writer, for the log.
func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.buf.Write(p)
}

func (r *record) Notification(_ context.Context, _ *runtime.Request, method string, params json.RawMessage) {
	if method == "notifications/message" { // of others the payload is nobody's but the server's
		fmt.Fprintf(r, "notification %s\n", params)
	}
}

func (r *record) Closed(err error) { r.error("closed", err) }

// error writes all that programs look at in an error.
func (r *record) error(what string, err error) {
	if err == nil {
		return
	}
	fmt.Fprintf(r, "%s: %v\n", what, err)
	var (
		hinter  interface{ Hint() string }
		rpc     *runtime.Error
		auth    *runtime.AuthError
		proto   *runtime.ProtocolError
		connect *runtime.ConnectError
		dead    interface{ StderrLines() []string }
	)
	if errors.As(err, &hinter) {
		fmt.Fprintln(r, "hint", hinter.Hint())
	}
	if errors.As(err, &rpc) {
		fmt.Fprintf(r, "rpc %s %s %s\n", rpc.Message, rpc.Data, rpc.Raw)
	}
	if errors.As(err, &auth) {
		fmt.Fprintln(r, "challenge", auth.Challenge)
	}
	if errors.As(err, &proto) {
		fmt.Fprintln(r, "protocol", proto.Reason, proto.Sample)
	}
	if errors.As(err, &connect) {
		fmt.Fprintln(r, "connect", connect.Target, connect.Err, connect.Remedy)
	}
	if errors.As(err, &dead) {
		fmt.Fprintln(r, "stderr", strings.Join(dead.StderrLines(), "\n"))
	}
	fmt.Fprintf(r, "%+v %#v\n", err, err)
}

func (r *record) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.buf.String()
}

// secrets are the values of the variables of leakyHTTP and leakyProgram.
func secrets(name string) (string, bool) {
	value, ok := map[string]string{
		"HDR": hostile.Canary("/hdr+1?a&b=c"), "KEY": hostile.Canary("-key"), "PASS": hostile.Canary("-pass"), "QUERY": hostile.Canary("-query"), "PART": hostile.Canary("-part"),
		"TOKEN": hostile.Canary(`/env+1?a&b="c`), "DB_PASSWORD": hostile.Canary("-db"),
		"BASIC": base64.StdEncoding.EncodeToString([]byte("me:" + hostile.Canary("-basic"))),
	}[name]
	return value, ok
}

func leakyHTTP(address string) config.Entry {
	return config.Entry{
		Name: "h", URL: strings.Replace(address, "://", "://someone:${PASS}@", 1) + "/${PART}/mcp?key=${QUERY}&v=2",
		Headers: map[string]string{"X-Api-Key": "${KEY}", "Cookie": "sid=" + hostile.Canary("-cookie") + "; theme=dark", "Authorization": "Bearer ${HDR}"},
	}
}

// leakyBasic returns the same with the user of the URL as credentials, or with
// Basic ones in the header.
func leakyBasic(address string, header bool) config.Entry {
	e := leakyHTTP(address)
	delete(e.Headers, "Authorization")
	if header {
		e.URL = strings.Replace(e.URL, "someone:${PASS}@", "", 1)
		e.Headers["authorization"] = "Basic ${BASIC}"
	}
	return e
}

func leakyProgram(t *testing.T, fault, at string) config.Entry {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	return config.Entry{
		Name: "p", Command: exe, Args: []string{"-fault", fault, "-leak-at", at, "-token", "${TOKEN}", "postgres://u:${DB_PASSWORD}@db/x", "--api-key=" + hostile.Canary("-arg")},
		Env: map[string]string{hostile.Env: "1", hostile.LeakVariable + "TOKEN": "${TOKEN}", hostile.LeakVariable + "KEY": hostile.Canary("-literal"), hostile.LeakVariable + "DB": "postgres://u:${DB_PASSWORD}@db/x"},
	}
}

// run connects to a server that repeats its credentials, lists and calls, and
// gives what came of it.
func (r *record) run(t *testing.T, e config.Entry) string {
	t.Helper()
	lookup := r.lookup
	if lookup == nil {
		lookup = secrets
	}
	o := quick(dial.Options{Handler: r, Lookup: lookup, HTTP: dial.HTTPOptions{Headers: map[string]string{"X-Extra": "unused"}}})
	o.Logger = slog.New(slog.NewJSONHandler(r, &slog.HandlerOptions{Level: slog.LevelDebug}))
	c, err := dial.Dial(t.Context(), e, o)
	r.error("dial", err)
	if err == nil {
		_, err = c.ListTools(t.Context())
		r.error("list", err)
		_, err = c.CallTool(t.Context(), "echo", []byte(`{"message":"hi"}`), nil)
		r.error("call", err)
		_ = c.Close()
	}
	return r.text()
}

// TestNothingLeaks: credentials that a server repeats in an error, in its log or on
// standard error are redacted.
func TestNothingLeaks(t *testing.T) {
	for _, at := range []string{"initialize", "tools/list", "tools/call"} {
		for _, leak := range hostile.Leaks() {
			t.Run(leak+"@"+at, func(t *testing.T) {
				t.Parallel()
				srv := httptest.NewServer(hostile.Handler("h", leak+"@"+at))
				defer srv.Close()
				for _, e := range []config.Entry{leakyHTTP(srv.URL), leakyBasic(srv.URL, false), leakyBasic(srv.URL, true)} {
					check(t, (&record{}).run(t, e))
				}
			})
			if at != "initialize" {
				continue
			}
			t.Run(leak+"@sse", func(t *testing.T) {
				t.Parallel()
				srv := httptest.NewServer(hostile.Handler("h", leak+"@"))
				defer srv.Close()
				e := leakyHTTP(srv.URL)
				e.Type = config.TransportSSE
				check(t, (&record{}).run(t, e))
			})
		}
		for _, leak := range hostile.ProgramLeaks() {
			for _, strict := range []bool{false, true} {
				t.Run(fmt.Sprint("program/", leak, "@", at, "/strict=", strict), func(t *testing.T) {
					t.Parallel()
					e := leakyProgram(t, leak, at)
					e.Strict = strict
					check(t, (&record{}).run(t, e))
				})
			}
		}
	}
}

func check(t *testing.T, text string) {
	t.Helper()
	if len(text) < 20 {
		t.Errorf("nothing has gone wrong: %q", text)
	}
	for i, found := range hostile.Find(text) {
		if i < 3 {
			t.Errorf("it shows …%s…", found)
		}
	}
	if testing.Verbose() {
		t.Log(text)
	}
}

// TestWhatIsNoSecret: common texts stay in messages.
func TestWhatIsNoSecret(t *testing.T) {
	lookup := func(name string) (string, bool) {
		value, ok := map[string]string{
			"HOME": "/home/someone", "USER": "someonelong", "BASE": "https://api.example.com", "PATH": "/usr/local/bin:/usr/bin", "LANG": "en_US.UTF-8", "SHELL": "/usr/bin/fish",
			"TERM": "xterm-256color", "TZ": "Europe/Berlin", "PWD": "/home/someone/src", "REGION": "eu-central-1", "SHORT": "1234567", "TENANT": "tenant-0001",
		}[name]
		return value, ok
	}
	e := config.Entry{
		URL: "${BASE}/mcp", Headers: map[string]string{"X-Home": "${HOME}", "X-User": "${USER}", "Accept": "application/json"},
	}
	x, err := e.Expand(lookup)
	require.NoError(t, err)
	const text = "open /home/someone/x as someonelong at https://api.example.com/mcp: application/json"
	if got := x.Redactor().String(text); got != text {
		t.Errorf("got %s", got)
	}
	p := config.Entry{
		Command: "x", Cwd: "/srv/place", Args: []string{"--root", "${HOME}"},
		Env: map[string]string{"LEVEL": "verbose-debugging", "AUTH_DIR": "/srv/place", "CACHE": "${HOME}"},
	}
	if x, err = p.Expand(lookup); err != nil || len(x.Secrets()) > 0 {
		t.Errorf("got %v, %v", x.Secrets(), err)
	}
	// A log of ordinary values is as the program wrote it.
	e = config.Entry{
		Command: "x", Cwd: "/srv/${TENANT}", Args: []string{"--region=${REGION}", "-n", "${SHORT}", "${MODE:-verbose-debugging}"}, Public: []string{"REGION"},
		Env: map[string]string{"A": "${HOME}", "B": "${PATH}", "C": "${LANG}", "D": "${SHELL}", "E": "${TERM}", "F": "${TZ}", "G": "${PWD}", "R": "${REGION}"},
	}
	if x, err = e.Expand(lookup); err != nil {
		t.Fatal(err)
	}
	const log = "2026-11-28T10:00:00Z INFO started pid=12345678 in /srv/tenant-0001, region eu-central-1, id 1234567, verbose-debugging\n" +
		"PATH=/usr/local/bin:/usr/bin LANG=en_US.UTF-8 SHELL=/usr/bin/fish TERM=xterm-256color TZ=Europe/Berlin PWD=/home/someone/src\n"
	if got := x.Redactor().String(log); got != log {
		t.Errorf("got %s", got)
	}
}

// TestNothingLeaksByAnyName: what a variable holds is secret whatever it is called, in the
// entry and outside, wherever a program repeats it.
func TestNothingLeaksByAnyName(t *testing.T) {
	const chunks, names = 10, 20 // few at a time: of a long text only the beginning or the end is said
	random := rand.New(rand.NewPCG(7, 33))
	exe, err := os.Executable()
	require.NoError(t, err)
	for chunk := range chunks {
		values, env := map[string]string{}, map[string]string{hostile.Env: "1"}
		for i := range names {
			const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
			name := ""
			for range 1 + random.IntN(4) {
				name += string(letters[random.IntN(len(letters))])
			}
			name += strconv.Itoa(i)
			word := ""
			for range 3 {
				word += string("bdfgklmnprstvz"[random.IntN(14)]) + string("aeiou"[random.IntN(5)])
			}
			values[name] = hostile.Canary(word)
			if secret.LooksText(values[name]) || secret.LooksName(name) {
				t.Fatalf("%s=%s looks secret", name, values[name])
			}
			env[hostile.LeakVariable+strconv.Itoa(i)+name] = "${" + name + "}"
		}
		at := []string{"initialize", "tools/list", "tools/call"}[chunk%3]
		for _, leak := range hostile.ProgramLeaks() {
			t.Run(fmt.Sprint(leak, "@", at, "/", chunk), func(t *testing.T) {
				t.Parallel()
				r := &record{lookup: func(name string) (string, bool) { v, ok := values[name]; return v, ok }}
				check(t, r.run(t, config.Entry{Name: "p", Command: exe, Args: []string{"-fault", leak, "-leak-at", at}, Env: env}))
			})
		}
	}
}
