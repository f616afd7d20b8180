package eras_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/wire"
)

// backend is one kind of server behind the proxy.
type backend struct {
	name, title string
	// legacy and modern are the eras it speaks.
	legacy, modern bool
	http           bool
	// session reports whether, over HTTP, it has sessions; stream whether it can
	// send something outside of requests.
	session, stream bool
	flags           string // of the process
	o               runtimetest.HTTPOptions
	faults          runtimetest.Faults
	sse             bool // the deprecated transport
}

func (b backend) versions() []string {
	old := []string{runtimetest.RevNov, runtimetest.RevJune, runtimetest.RevMar, runtimetest.Rev2024}
	switch {
	case b.legacy && b.modern:
		return append([]string{runtimetest.RevJuly}, old...)
	case b.modern:
		return []string{runtimetest.RevJuly}
	}
	return old
}

// speaksModern reports whether the proxy speaks the modern era to the backend for
// a client.
func (b backend) speaksModern(f endpoint) bool { return b.modern && (f.modern || !b.legacy) }

func backends() []backend {
	full := runtimetest.HTTPOptions{SSE: true, Sessions: true, Stream: true, Resume: true}
	with := func(change func(*runtimetest.HTTPOptions)) runtimetest.HTTPOptions {
		o := full
		change(&o)
		return o
	}
	return []backend{
		{name: "stdio", title: "legacy stdio", legacy: true, stream: true},
		{name: "http", title: "legacy HTTP with session", legacy: true, http: true, session: true, stream: true, o: full},
		{name: "nosession", title: "legacy HTTP without session", legacy: true, http: true, o: runtimetest.HTTPOptions{SSE: true}},
		{name: "sse", title: "HTTP+SSE", legacy: true, http: true, stream: true, sse: true},
		{name: "modern-stdio", title: "modern stdio", modern: true, stream: true},
		{name: "modern-http", title: "modern HTTP", modern: true, http: true, stream: true, o: runtimetest.HTTPOptions{SSE: true}},
		{name: "exits", title: "exits on the probe (stdio)", legacy: true, stream: true, flags: "-exit-on-probe"},
		{name: "silent", title: "silent on the probe (stdio)", legacy: true, stream: true, flags: "-silent-probe"},
		{name: "refuses", title: "answers -32602 to the probe (stdio)", legacy: true, stream: true, flags: "-invalid-probe"},
		{name: "lists-legacy", title: "discover with legacy versions only (HTTP)", legacy: true, http: true, session: true, stream: true, o: full, faults: runtimetest.Faults{LegacyDiscover: true}},
		{name: "404", title: "404 and HTML to the probe (HTTP)", legacy: true, http: true, session: true, stream: true, o: with(func(o *runtimetest.HTTPOptions) { o.NotFound = true })},
		{name: "401", title: "401 first (HTTP)", legacy: true, http: true, session: true, stream: true, o: with(func(o *runtimetest.HTTPOptions) { o.Unauthorized = 1 })},
		{name: "modern-only", title: "modern-only, exits on a handshake (stdio)", modern: true, stream: true, flags: "-exit-on-initialize"},
		{name: "dual", title: "dual, one process (stdio)", legacy: true, modern: true, stream: true},
		{name: "dual-http", title: "dual, one URL (HTTP)", legacy: true, modern: true, http: true, session: true, stream: true, o: full},
	}
}

// serverControl is what a test can see of a backend and do to it, beside talking to it.
type serverControl interface {
	status() runtimetest.Status
	do(command string)
	close()
}

// start makes the backend ready to be connected to.
func (b backend) start() (config.Entry, serverControl, error) {
	if b.http {
		s := runtimetest.Full(b.versions()...)
		s.PageSize, s.Grease, s.Faults = 7, true, b.faults
		h := s.Handler(b.o)
		path := "/"
		if b.sse {
			h, path = s.LegacySSE(), "/sse"
		}
		srv := httptest.NewServer(h)
		return config.Entry{Name: "b", URL: srv.URL + path}, &localServer{s, srv}, nil
	}
	w, err := newChildServers()
	if err != nil {
		return config.Entry{}, nil, err
	}
	command, env := runtimetest.Command(slices.Concat(
		[]string{"-full", strings.Join(b.versions(), ","), "-grease", "-page", "7", "-control", w.l.Addr().String()}, strings.Fields(b.flags))...)
	entry := config.Entry{Name: "b", Command: command[0], Args: command[1:], Env: env}
	if b.name == "silent" {
		entry.ProbeTimeout = 150 * time.Millisecond
	}
	return entry, w, nil
}

// localServer is a backend in this process.
type localServer struct {
	s   *runtimetest.Server
	srv *httptest.Server
}

func (h *localServer) status() runtimetest.Status { return h.s.Status() }
func (h *localServer) do(command string)          { h.s.Command(command) }
func (h *localServer) close() {
	h.s.Drop()
	h.srv.CloseClientConnections()
	h.srv.Close()
}

// childServers is a backend in processes of its own, which all connect here.
type childServers struct {
	l    net.Listener
	work sync.WaitGroup

	mu    sync.Mutex // guards the rest; held across an exchange
	conns []net.Conn
	read  map[net.Conn]*bufio.Reader
}

func newChildServers() (*childServers, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w := &childServers{l: l, read: map[net.Conn]*bufio.Reader{}}
	w.work.Go(func() { // ends with the listener
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			w.mu.Lock()
			w.conns = append(w.conns, c)
			w.read[c] = bufio.NewReader(c)
			w.mu.Unlock()
		}
	})
	return w, nil
}

// tell sends a line to every process that is alive and returns their answers.
func (w *childServers) tell(command string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	w.conns = slices.DeleteFunc(w.conns, func(c net.Conn) bool {
		_ = c.SetDeadline(time.Now().Add(wire.Limit)) // a dead one shows below
		_, err := fmt.Fprintln(c, command)
		line, err2 := w.read[c].ReadString('\n')
		if err != nil || err2 != nil {
			_ = c.Close()
			delete(w.read, c)
			return true
		}
		out = append(out, line)
		return false
	})
	return out
}

func (w *childServers) do(command string) { w.tell(command) }

// status adds up what the processes that are alive report.
func (w *childServers) status() runtimetest.Status {
	var out runtimetest.Status
	for _, line := range w.tell("status") {
		var s runtimetest.Status
		if json.Unmarshal([]byte(line), &s) != nil {
			continue
		}
		out.Running += s.Running
		out.Cancelled += s.Cancelled
		out.Handshakes += s.Handshakes
		out.Calls += s.Calls
		out.Sessions += s.Sessions
		out.Listens += s.Listens
		out.Ready += s.Ready
		out.Watched = append(out.Watched, s.Watched...)
		out.Answers = append(out.Answers, s.Answers...)
		out.RootsChanged += s.RootsChanged
		if s.Level != "" {
			out.Level = s.Level
		}
	}
	return out
}

func (w *childServers) close() {
	_ = w.l.Close()
	w.work.Wait()
	for _, c := range w.conns {
		_ = c.Close()
	}
}

// until polls a backend's status until something holds.
func until(ctx context.Context, w serverControl, what string, holds func(runtimetest.Status) bool) error {
	for {
		s := w.status()
		if holds(s) {
			return nil
		}
		select {
		case <-time.After(2 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("the backend never had %s; it has %+v", what, s)
		}
	}
}
