//go:build integration

package peers_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// handshake is what every raw client sends first.
const handshake = `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}`

// reply is one answer, result and error as the bytes that came.
type reply struct {
	ID            json.RawMessage
	Result, Error json.RawMessage
}

// caller is a raw client: params go out as they are, answers come back as they
// are.
type caller interface {
	call(t *testing.T, method, params string) reply
}

// result gives the bytes of a result.
func result(t *testing.T, c caller, method, params string) string {
	t.Helper()
	r := c.call(t, method, params)
	if r.Error != nil || r.Result == nil {
		t.Fatalf("%s %s: got error %s", method, params, r.Error)
	}
	return string(r.Result)
}

// lines is a raw client of a process that speaks newline-delimited JSON.
type lines struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.ReadCloser
	next   atomic.Int64
	exited chan struct{}

	mu    sync.Mutex // guards the rest
	wait  map[string]chan reply
	other []string // lines that answer nothing
}

// speak starts a process and reads what it writes; it is ended with the test.
func speak(t *testing.T, cmd *exec.Cmd) *lines {
	t.Helper()
	l := begin(t, cmd)
	go l.read()
	return l
}

// begin starts a process whose output nobody reads yet.
func begin(t *testing.T, cmd *exec.Cmd) *lines {
	t.Helper()
	l := &lines{cmd: cmd, wait: map[string]chan reply{}, exited: make(chan struct{})}
	var err error
	if l.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if l.out, err = cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.end(t) })
	return l
}

func (l *lines) read() { l.readFrom(bufio.NewReaderSize(l.out, 1<<20)) }

func (l *lines) readFrom(r *bufio.Reader) {
	defer close(l.exited)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			_ = l.cmd.Wait() // the state is in ProcessState
			return
		}
		l.deliver(bytes.TrimSuffix(line, []byte("\n")))
	}
}

func (l *lines) deliver(line []byte) {
	var m struct {
		reply
		Method *string
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(line) > 256<<10 {
		// Parsing this under the race detector takes long; only the id counts.
		if rest, found := bytes.CutPrefix(line, []byte(`{"jsonrpc":"2.0","id":`)); found {
			id, body, _ := bytes.Cut(rest, []byte(","))
			m.ID, m.Result = id, body
		}
	} else if json.Unmarshal(line, &m) != nil {
		m.ID = nil
	}
	if m.ID != nil && m.Method == nil {
		if ch := l.wait[string(m.ID)]; ch != nil {
			delete(l.wait, string(m.ID))
			ch <- m.reply
			return
		}
	}
	l.other = append(l.other, string(line))
}

// rest gives the lines that answered nothing.
func (l *lines) rest() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.other...)
}

// end closes the process's input and waits.
func (l *lines) end(t *testing.T) {
	_ = l.in.Close()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-l.exited:
	case <-timer.C:
		_ = l.cmd.Process.Kill()
		t.Errorf("%s does not end with its input", l.cmd.Path)
	}
}

func (l *lines) send(line string) { _, _ = io.WriteString(l.in, line+"\n") }

// start sends a request and gives where its answer comes.
func (l *lines) start(id, method, params string) <-chan reply {
	ch := make(chan reply, 1)
	l.mu.Lock()
	l.wait[id] = ch
	l.mu.Unlock()
	l.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params))
	return ch
}

func (l *lines) call(t *testing.T, method, params string) reply {
	t.Helper()
	return l.await(t, l.start(fmt.Sprint(l.next.Add(1)), method, params), limit)
}

func (l *lines) await(t *testing.T, ch <-chan reply, within time.Duration) reply {
	t.Helper()
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case r := <-ch:
		return r
	case <-l.exited:
		t.Fatalf("the process ended without an answer: %v", l.cmd.ProcessState)
	case <-timer.C:
		t.Fatalf("no answer within %s", within)
	}
	return reply{}
}

func (l *lines) initialize(t *testing.T) *lines {
	t.Helper()
	result(t, l, "initialize", handshake)
	l.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return l
}

// direct starts the server of an entry itself, without mcpctl.
func direct(t *testing.T, e entry) *lines {
	t.Helper()
	words, _ := e.object["args"].([]string)
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), e.object["command"].(string), words...)
	env, _ := e.object["env"].(map[string]string)
	for k, v := range env {
		cmd.Env = append(cmd.Environ(), k+"="+v)
	}
	return speak(t, cmd).initialize(t)
}

// serveStdio starts mcpctl serve with a raw client.
func serveStdio(t *testing.T, config string, args ...string) (*lines, *output) {
	t.Helper()
	cmd, stderr := command(context.WithoutCancel(t.Context()), t, config, append([]string{"serve"}, args...)...)
	return speak(t, cmd).initialize(t), stderr
}

// poster is a raw client of an HTTP endpoint.
type poster struct {
	url, session string
	next         atomic.Int64
}

// post opens a session at an endpoint.
func post(t *testing.T, url string) *poster {
	t.Helper()
	p := &poster{url: url}
	result(t, p, "initialize", handshake)
	return p
}

func (p *poster) call(t *testing.T, method, params string) reply {
	t.Helper()
	id := fmt.Sprint(p.next.Add(1))
	r, err := p.exchange(t.Context(), id, method, params)
	if err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	if string(r.ID) != id {
		t.Fatalf("%s: got id %s, want %s", method, r.ID, id)
	}
	return r
}

func (p *poster) exchange(ctx context.Context, id, method, params string) (reply, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, strings.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if p.session != "" {
		req.Header.Set("Mcp-Session-Id", p.session)
		req.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer res.Body.Close()
	if s := res.Header.Get("Mcp-Session-Id"); s != "" {
		p.session = s
	}
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return reply{}, err
	}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		raw = lastEvent(raw)
	}
	var r reply
	if err := json.Unmarshal(raw, &r); err != nil {
		return reply{}, fmt.Errorf("%s: %q: %w", res.Status, raw, err)
	}
	return r, nil
}

// lastEvent gives the data of the last message of an event stream.
func lastEvent(stream []byte) []byte {
	var last []byte
	for block := range bytes.SplitSeq(stream, []byte("\n\n")) {
		var data [][]byte
		for line := range bytes.SplitSeq(block, []byte("\n")) {
			if d, found := bytes.CutPrefix(line, []byte("data: ")); found {
				data = append(data, d)
			}
		}
		if data != nil {
			last = bytes.Join(data, []byte("\n"))
		}
	}
	return last
}

// notify sends a notification and gives the HTTP status.
func (p *poster) notify(t *testing.T, method, params string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.url, strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Mcp-Session-Id", p.session)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode
}
