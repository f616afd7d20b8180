package main_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mcpctl/mcpctl/internal/registrytest"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

// scriptCommands are the commands that scripts have beyond testscript's own:
//
//	exitcode N CMD ARGS…         runs it and wants exactly that exit code
//	nostack                      no Go stack trace in the last stderr
//	oneline                      the last stderr is one line, or one and a hint
//	startregistry [FILE…]        a registry of those records, or the samples, at $REGISTRY
//	htmlserver [STATUS]          a web page for every request, at $HTML
//	fakehttp [-sse] [-legacy] [-sessions] [-session-calls N] [-bearer T] [-status N] [-modern] [-both] [-full A,B]
//	                             the fake server over HTTP, at $FAKE
//	oddhttp METHOD STATUS [NAME: VALUE]... BODY
//	                             that, with one method answered otherwise; see oddhttp
//	fakeauth [-no-registration] [-unnamed] [-denies] [-device=PENDING] [-no-refresh] [-lifetime=SECONDS] [-by-hand=TOKEN]
//	                             a fake server that wants a login, at $FAKE, and its authorization server, at $ISSUER
//	fakeauth stop | end          ends that authorization server; ends all its tokens
//	fakeauth allow TOKEN | asked GRANT…
//	                             takes a token from now on; wants that tokens were asked for so since the last time
//	takeport VARIABLE            listens on a port of this machine
//	stubrunners NAME...          programs such as npx, which note what they are started with; see stubRunners
//	tamper STATEMENT             runs a statement of SQL on the audit log
//	closedout CMD ARGS…          runs it with a stdout whose reader has gone, wants exit 0 and no stderr
func scriptCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"exitcode":      exitcode,
		"nostack":       nostack,
		"oneline":       oneline,
		"startregistry": startregistry,
		"htmlserver":    htmlserver,
		"fakehttp":      fakehttp,
		"oddhttp":       oddhttp,
		"closedout":     closedout,
		"fakeauth":      fakeauth,
		"takeport":      takeport,
		"stubrunners":   stubRunners,
		"tamper":        tamper,
	}
}

func exitcode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exitcode N CMD ARGS…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// tamper changes the audit log behind mcpctl's back.
func tamper(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: tamper STATEMENT")
	}
	db, err := sql.Open("sqlite", filepath.Join(ts.Getenv("XDG_STATE_HOME"), "mcpctl", "audit.db"))
	ts.Check(err)
	_, err = db.Exec(args[0])
	ts.Check(errors.Join(err, db.Close()))
}

func nostack(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: nostack")
	}
	text := ts.ReadFile("stderr")
	for _, trace := range []string{"goroutine ", "panic:", ".go:"} {
		if strings.Contains(text, trace) {
			ts.Fatalf("stderr has a stack trace (%q)", trace)
		}
	}
}

func oneline(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: oneline")
	}
	lines := strings.Split(strings.TrimSuffix(ts.ReadFile("stderr"), "\n"), "\n")
	ok := len(lines) == 1 || len(lines) == 2 && strings.HasPrefix(lines[1], "hint: ")
	if !ok || !strings.HasPrefix(lines[0], "mcpctl: ") {
		ts.Fatalf("want one line and at most a hint on stderr, got %q", lines)
	}
}

func serve(ts *testscript.TestScript, variable string, h http.Handler) {
	srv := httptest.NewServer(h)
	ts.Defer(srv.Close)
	ts.Setenv(variable, srv.URL)
}

func startregistry(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: startregistry [FILE…]")
	}
	records, err := registrytest.Records()
	ts.Check(err)
	if len(args) > 0 {
		records = nil
		for _, f := range args {
			records = append(records, json.RawMessage(ts.ReadFile(f)))
		}
	}
	h, err := registrytest.NewServer(records, registrytest.Options{})
	ts.Check(err)
	serve(ts, "REGISTRY", h)
}

func htmlserver(ts *testscript.TestScript, neg bool, args []string) {
	status := http.StatusOK
	if len(args) > 0 {
		n, err := strconv.Atoi(args[0])
		ts.Check(err)
		status = n
	}
	serve(ts, "HTML", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "<!DOCTYPE html>\n<html><head><title>Welcome</title></head><body>Please sign in.</body></html>\n")
	}))
}

func fakehttp(ts *testscript.TestScript, neg bool, args []string) {
	s := runtimetest.New()
	var o runtimetest.HTTPOptions
	legacy := false
	next := func() string {
		if len(args) < 2 {
			ts.Fatalf("fakehttp: %s wants a value", args[0])
		}
		args = args[1:]
		return args[0]
	}
	number := func() int {
		n, err := strconv.Atoi(next())
		ts.Check(err)
		return n
	}
	for ; len(args) > 0; args = args[1:] {
		switch args[0] {
		case "-sse":
			o.SSE = true
		case "-legacy":
			legacy = true
		case "-sessions":
			o.Sessions = true
		case "-session-calls":
			o.SessionCalls = number()
		case "-bearer":
			o.Bearer = next()
		case "-status":
			o.Status = number()
		case "-modern":
			s.Versions = []string{runtimetest.RevJuly}
		case "-full":
			s = runtimetest.Full(strings.Split(next(), ",")...)
		case "-both":
			s.Versions = []string{runtimetest.RevJuly, runtimetest.RevNov}
		default:
			ts.Fatalf("fakehttp: unknown flag %s", args[0])
		}
	}
	h := s.Handler(o)
	if legacy {
		h = s.LegacySSE()
	}
	serve(ts, "FAKE", h)
}

func closedout(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: closedout CMD ARGS…")
	}
	// The shell's own pipe is the honest way to get a reader that leaves.
	script := `{ "$@"; echo "code $?" >&2; } | true`
	err := ts.Exec("sh", append([]string{"-c", script, "sh"}, args...)...)
	ts.Check(err)
	if got := ts.ReadFile("stderr"); got != "code 0\n" {
		ts.Fatalf("stderr is %q, want only exit code 0", got)
	}
}
