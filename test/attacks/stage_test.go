//go:build attacks && linux

package attacks_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

// stage has what the cases of a class share. Its methods may be called
// concurrently.
type stage struct {
	t       *testing.T // the class's: what it has lasts as long
	mu      sync.Mutex // guards the rest
	daemons map[string]*wire.Daemon
	pipe    *stdio  // see lines
	remote  *remote // of those cases that share one
	gates   map[string]*gate
	issuers *issuerGate
	// policies are those of policed.
	policies map[string]*policed
}

func newStage(t *testing.T) *stage { return &stage{t: t, daemons: map[string]*wire.Daemon{}} }

// serve returns the mcpctl serve of a name, which is started the first time.
func (s *stage) serve(name string, servers wire.Servers, args ...string) *wire.Daemon {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.daemons[name]
	if d == nil {
		d = serve(s.t, servers, args...)
		s.daemons[name] = d
	}
	return d
}

// pair returns one with a server good and a server bad, see rogue.
func (s *stage) pair() *wire.Daemon {
	return s.serve("pair", wire.Servers{"good": rogue(s.t, spec{Name: "good"}), "bad": rogue(s.t, spec{Name: "bad"})})
}

// serve starts one that is the test's own.
func serve(t testing.TB, servers wire.Servers, args ...string) *wire.Daemon {
	t.Helper()
	return wire.Serve(t, wire.Setup{Program: *program, Servers: servers, Each: addMark, Args: args})
}

// addMark notes whose process a server is.
func addMark(mark string, entry map[string]any) {
	if entry["command"] == nil {
		return
	}
	env, _ := entry["env"].(map[string]string)
	if env == nil {
		env = map[string]string{}
	}
	env[wire.MarkName] = mark
	entry["env"] = env
}

// Headers of a request that is in order.
const (
	isJSON  = "Content-Type: application/json"
	accepts = "Accept: application/json, text/event-stream"
	local   = "Host: 127.0.0.1"
	ping    = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
)

// post sends a message, with headers beside those that have to be there.
func post(t testing.TB, d *wire.Daemon, body string, headers ...string) wire.Response {
	t.Helper()
	return exchange(t, d, wire.RawPost("/mcp", body, append([]string{local, isJSON, accepts}, headers...)...))
}

func exchange(t testing.TB, d *wire.Daemon, request string) wire.Response {
	t.Helper()
	return exchangeFor(t, d, request, 15*time.Second) // longer than any answer here
}

// exchangeBriefly is exchange for what may be answered with a stream that does not end.
func exchangeBriefly(t testing.TB, d *wire.Daemon, request string) wire.Response {
	t.Helper()
	return exchangeFor(t, d, request, quiet)
}

func exchangeFor(t testing.TB, d *wire.Daemon, request string, wait time.Duration) wire.Response {
	t.Helper()
	res, err := wire.RawExchange(d.URL, request, wait)
	if err != nil {
		t.Fatalf("%v\n%s", err, d.Stderr.Tail())
	}
	return res
}

// tool is a call of a tool.
func tool(id, name, arguments string) string {
	return wire.Request(id, "tools/call", `{"name":`+wire.Quote(name)+`,"arguments":`+arguments+`}`)
}

// helloOf is the params of initialize.
func helloOf(capabilities string) string {
	return strings.Replace(wire.Hello, `"capabilities":{}`, `"capabilities":`+capabilities, 1)
}

// openSession begins a session and returns the header that names it.
func openSession(t testing.TB, d *wire.Daemon, capabilities string) string {
	t.Helper()
	res := post(t, d, wire.Request("0", "initialize", helloOf(capabilities)))
	id := res.Header.Get("Mcp-Session-Id")
	if res.Status != 200 || id == "" {
		t.Fatalf("initialize: status %d, %s", res.Status, res.Body)
	}
	return "Mcp-Session-Id: " + id
}

// expect compares a response with what is wanted: words of which the first is
// the status, or several with | between; the next, where it is a number, the code
// of the error, and where it is "result" there has to be none; the rest has to be
// in the body.
func expect(t testing.TB, res wire.Response, want string) {
	t.Helper()
	statuses, rest, _ := strings.Cut(want, " ")
	if !slices.Contains(strings.Split(statuses, "|"), strconv.Itoa(res.Status)) {
		t.Errorf("status %d, want %s: %.300q", res.Status, statuses, res.Body)
	}
	expectMessage(t, res.Message(), rest)
}

// expectMessage compares one message with the part of that which is about it.
func expectMessage(t testing.TB, message, want string) {
	t.Helper()
	kind, text, _ := strings.Cut(want, " ")
	var m wire.Message
	var result json.RawMessage
	err := json.Unmarshal([]byte(message), &m)
	if err == nil {
		result, err = m.Outcome()
	}
	code, notCode := strconv.Atoi(kind)
	switch e, _ := errors.AsType[*wire.RPCError](err); {
	case notCode == nil && (e == nil || e.Code != code):
		t.Errorf("got %.300q, want error %d", message, code)
	case kind == "result" && (err != nil || result == nil):
		t.Errorf("got %.300q, want a result", message)
	case notCode == nil || kind == "result":
	default:
		text = want
	}
	if !strings.Contains(message, text) {
		t.Errorf("got %.500q, want %q in it", message, text)
	}
}

// outcome is how a command ended.
type outcome struct {
	code           int
	stdout, stderr string
}

// home is a servers.json and everything else of one user.
type home struct {
	dir, config string
	env         []string // for every command
}

func newHome(t testing.TB, servers string) *home {
	t.Helper()
	h := &home{dir: t.TempDir()}
	h.config = filepath.Join(h.dir, "servers.json")
	if servers != "" {
		h.write(t, "servers.json", servers)
	}
	return h
}

func (h *home) write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(h.dir, name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func (h *home) read(t testing.TB, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(h.dir, name))
	require.NoError(t, err)
	return string(raw)
}

// command makes a command of mcpctl.
func (h *home) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, *program, args...)
	cmd.Env = append(wire.Environment(h.config, h.dir), h.env...)
	cmd.Dir = h.dir
	cmd.WaitDelay = time.Second
	return cmd
}

// mcpctl runs a command.
func (h *home) mcpctl(t testing.TB, stdin string, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), wire.Limit)
	defer cancel()
	cmd := h.command(ctx, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		t.Errorf("mcpctl %s does not end", strings.Join(args, " "))
	} else if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.Errorf("mcpctl %s: %v", strings.Join(args, " "), err)
	}
	o := outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
	if strings.Contains(o.stderr, "panic:") || strings.Contains(o.stderr, "goroutine ") {
		t.Errorf("mcpctl %s: %s", strings.Join(args, " "), o.stderr)
	}
	return o
}

// output is what a command printed.
func (o outcome) output() string { return o.stdout + o.stderr }

// expectExit compares how a command ended with what is wanted: the exit code,
// then a text that it has to say; "!text" is one that it must not say.
func expectExit(t testing.TB, o outcome, want string) {
	t.Helper()
	code, text, _ := strings.Cut(want, " ")
	if !slices.Contains(strings.Split(code, "|"), strconv.Itoa(o.code)) {
		t.Errorf("exit code %d, want %s:\n%.600s", o.code, code, o.output())
	}
	if not, ok := strings.CutPrefix(text, "!"); ok {
		if strings.Contains(o.output(), not) {
			t.Errorf("it says %q:\n%.600s", not, o.output())
		}
	} else if !strings.Contains(o.output(), text) {
		t.Errorf("it does not say %q:\n%.600s", text, o.output())
	}
}

// stdio is a client of mcpctl serve on standard input and output.
type stdio struct {
	*wire.Daemon
	out  *wire.Output
	next int
}

// pipe starts mcpctl serve with a client on standard input.
func pipe(t testing.TB, servers wire.Servers) *stdio {
	t.Helper()
	p := &stdio{Daemon: wire.Serve(t, wire.Setup{Program: *program, Servers: servers, Each: addMark, Stdio: true}), out: wire.NewOutput()}
	go func() { _, _ = io.Copy(p.out, p.Out) }() // until it ends
	return p
}

// send writes a line.
func (p *stdio) send(line string) { _, _ = io.WriteString(p.In, line+"\n") }

// exchange writes a line and then a ping, and returns what is written up to the
// ping's answer: nothing else need come.
func (p *stdio) exchange(t testing.TB, line string) []string {
	t.Helper()
	p.next++
	id := fmt.Sprintf(`"after %d"`, p.next)
	from := len(p.out.String())
	p.send(line)
	p.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`)
	answer := `{"jsonrpc":"2.0","id":` + id + `,"result":{}}` + "\n"
	text := p.out.Await(t, "answer to "+id, func(text string) string {
		if before, _, found := strings.Cut(text[from:], answer); found {
			return before + "\n"
		}
		return ""
	})
	return strings.Split(strings.TrimSpace(text), "\n")
}

// reply writes a line and returns the next that is written that is no request and
// no notification.
func (p *stdio) reply(t testing.TB, line string) string {
	t.Helper()
	from := len(p.out.String())
	p.send(line)
	return p.out.Await(t, "reply", func(text string) string {
		for l := range strings.Lines(text[from:]) {
			if strings.HasSuffix(l, "\n") && !strings.Contains(l[:min(len(l), 40)], `"method":`) {
				return strings.TrimSpace(l)
			}
		}
		return ""
	})
}

// answer waits for the answer to a request with this id.
func (p *stdio) answer(t testing.TB, id string) string {
	t.Helper()
	return p.out.Await(t, "answer to "+id, func(text string) string {
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, `{"jsonrpc":"2.0","id":`+id+`,`) && !strings.Contains(line[:min(len(line), 80)], `"method":`) {
				return strings.TrimSpace(line)
			}
		}
		return ""
	})
}

// initialize performs the handshake.
func (p *stdio) initialize(t testing.TB, capabilities string) {
	t.Helper()
	p.send(wire.Request(`"hello"`, "initialize", helloOf(capabilities)))
	expectMessage(t, p.answer(t, `"hello"`), "result serverInfo")
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// entryText is an entry as it stands in a servers.json.
func entryText(entry map[string]any) string {
	raw, err := json.Marshal(entry)
	if err != nil {
		panic(err) // texts
	}
	return string(raw)
}
