//go:build integration

package peers_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

// caller is a raw client: params go out as they are, answers come back as they
// are.
type caller interface {
	call(t *testing.T, method, params string) wire.Message
}

// result returns the bytes of a result.
func result(t *testing.T, c caller, method, params string) string {
	t.Helper()
	m := c.call(t, method, params)
	raw, err := m.Outcome()
	if err != nil {
		t.Fatalf("%s %s: got error %s", method, params, m.Error)
	}
	return string(raw)
}

// lines is a raw client of a process that speaks newline-delimited JSON.
type lines struct {
	*wire.Process
	next  atomic.Int64
	ended chan struct{} // closed when its output has ended

	mu    sync.Mutex // guards the rest
	wait  map[string]chan wire.Message
	other []string // lines that answer nothing
}

// startClient starts a process and reads what it writes; it is ended with the test.
func startClient(t *testing.T, cmd *exec.Cmd) *lines {
	t.Helper()
	l := startUnread(t, cmd)
	go l.readFrom(l.Out)
	return l
}

// startUnread starts a process whose output nobody reads yet.
func startUnread(t *testing.T, cmd *exec.Cmd) *lines {
	t.Helper()
	p, err := wire.Start(cmd)
	require.NoError(t, err)
	l := &lines{Process: p, wait: map[string]chan wire.Message{}, ended: make(chan struct{})}
	t.Cleanup(func() { l.end(t) })
	return l
}

func (l *lines) readFrom(r io.Reader) {
	defer close(l.ended)
	_ = wire.Lines(r, l.deliver) // it ends with the process
}

// one reads one line of a process whose output nobody reads yet.
func (l *lines) one(t *testing.T, r *bufio.Reader) {
	t.Helper()
	line, err := r.ReadBytes('\n')
	require.NoError(t, err)
	l.deliver(line[:len(line)-1])
}

func (l *lines) deliver(line []byte) {
	var m wire.Message
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(line) > 256<<10 {
		// Parsing this under the race detector takes long; only the id counts.
		if rest, found := bytes.CutPrefix(line, []byte(`{"jsonrpc":"2.0","id":`)); found {
			id, body, _ := bytes.Cut(rest, []byte(","))
			m.ID, m.Result = bytes.Clone(id), bytes.Clone(body)
		}
	} else if json.Unmarshal(line, &m) != nil {
		m.ID = nil
	}
	if ch := l.wait[string(m.ID)]; ch != nil && m.Method == "" {
		delete(l.wait, string(m.ID))
		ch <- m
		return
	}
	l.other = append(l.other, string(line))
}

// rest returns the lines that answered nothing.
func (l *lines) rest() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.other...)
}

// end closes the process's input and waits.
func (l *lines) end(t *testing.T) {
	if !l.End(wire.Limit) {
		t.Errorf("%s does not end with its input", l.Cmd.Path)
	}
}

func (l *lines) send(line string) { _, _ = io.WriteString(l.In, line+"\n") }

// start sends a request and returns where its answer comes.
func (l *lines) start(id, method, params string) <-chan wire.Message {
	ch := make(chan wire.Message, 1)
	l.mu.Lock()
	l.wait[id] = ch
	l.mu.Unlock()
	l.send(wire.Request(id, method, params))
	return ch
}

func (l *lines) call(t *testing.T, method, params string) wire.Message {
	t.Helper()
	return l.await(t, l.start(fmt.Sprint(l.next.Add(1)), method, params), wire.Limit)
}

func (l *lines) await(t *testing.T, ch <-chan wire.Message, within time.Duration) (m wire.Message) {
	t.Helper()
	select {
	case m = <-ch:
	case <-l.ended:
		select {
		case m = <-ch:
		default:
			t.Fatal("the process ended without an answer")
		}
	case <-time.After(within):
		t.Fatalf("no answer within %s", within)
	}
	return m
}

func (l *lines) initialize(t *testing.T) *lines {
	t.Helper()
	result(t, l, "initialize", wire.Hello)
	l.send(wire.Notification("notifications/initialized", "{}"))
	return l
}

// startDirect starts the server of an entry itself, without mcpctl.
func startDirect(t *testing.T, e entry) *lines {
	t.Helper()
	words, _ := e.object["args"].([]string)
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), e.object["command"].(string), words...)
	env, _ := e.object["env"].(map[string]string)
	for k, v := range env {
		cmd.Env = append(cmd.Environ(), k+"="+v)
	}
	return startClient(t, cmd).initialize(t)
}

// serveStdio starts mcpctl serve with a raw client.
func serveStdio(t *testing.T, config string, args ...string) (*lines, *wire.Output) {
	t.Helper()
	cmd, stderr := command(context.WithoutCancel(t.Context()), t, config, append([]string{"serve"}, args...)...)
	return startClient(t, cmd).initialize(t), stderr
}

// poster is a raw client of an HTTP endpoint.
type poster struct{ wire.Client }

// session returns a client of a session that there is, for a request beside
// others of it.
func session(url, id string) *poster {
	return &poster{wire.Client{URL: url, Session: id, Version: legacyRevision}}
}

// post opens a session at an endpoint.
func post(t *testing.T, url string) *poster {
	t.Helper()
	p := &poster{wire.Client{URL: url}}
	result(t, p, "initialize", wire.Hello)
	p.Version = legacyRevision
	return p
}

func (p *poster) call(t *testing.T, method, params string) wire.Message {
	t.Helper()
	id := p.Next()
	m, err := p.Exchange(t.Context(), id, method, params)
	if err != nil || string(m.ID) != id {
		t.Fatalf("%s: got id %s, want %s: %v", method, m.ID, id, err)
	}
	return m
}
