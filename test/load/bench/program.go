package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"time"

	"github.com/mcpctl/mcpctl/test/load/gen"
	"github.com/mcpctl/mcpctl/test/wire"
)

// program is one that stands between the load and its servers.
type program struct {
	name string
	// path is that of its endpoint of Streamable HTTP; "": it speaks over stdio.
	path  string
	start func(at place) (launch, error)
}

// place is where a program runs, and what it is to serve.
type place struct {
	dir     string // its own, empty
	port    string // where it listens on 127.0.0.1, "" for a program that speaks over stdio
	url     string // of the server behind it, "" for one over stdio
	servers map[string]any
}

// launch is how it is started: variables come to those of [bench.home].
type launch struct{ words, env []string }

// contenders are programs before a server, which is reached over HTTP or stdio.
func (b *bench) contenders(remote bool, programs []program) []contender {
	out := make([]contender, len(programs))
	for i, p := range programs {
		out[i] = contender{p.name, b.through(p, remote)}
	}
	return out
}

// through connects to a program before one server.
func (b *bench) through(p program, remote bool) func(ctx context.Context) (*gen.Conn, func(), error) {
	return func(ctx context.Context) (*gen.Conn, func(), error) {
		if !remote {
			return b.before(ctx, p, b.overStdio(""), "")
		}
		back, err := start(os.Environ(), "URL ", b.load, "backend", "-http", "127.0.0.1:0")
		if err != nil {
			return nil, nil, err
		}
		c, stop, err := b.before(ctx, p, overURL(back.URL), back.URL)
		return c, func() { stop(); back.Stop(endTimeout) }, err
	}
}

// before starts a program before servers, with nothing left of earlier starts, and
// connects to it.
func (b *bench) before(ctx context.Context, p program, servers map[string]any, url string) (c *gen.Conn, stop func(), err error) {
	stop = func() {}
	l, env, at, err := b.launch(ctx, p, servers, url)
	if err != nil {
		return nil, stop, err
	}
	if p.path == "" {
		c, err = gen.Open(ctx, gen.Target{Command: l.words, Env: env})
		return c, stop, err
	}
	cmd := exec.Command(l.words[0], l.words[1:]...)
	cmd.Env, cmd.Dir = env, at.dir
	running, err := wire.Start(cmd)
	if err != nil {
		return nil, stop, err
	}
	go func() { _, _ = io.Copy(io.Discard, running.Out) }() // ends with the process; some log each call there
	c, err = reach(ctx, running, gen.Target{URL: "http://127.0.0.1:" + at.port + p.path, PID: running.Cmd.Process.Pid})
	return c, stopAll(running), err
}

// launch says how a program is started, with its whole environment.
func (b *bench) launch(ctx context.Context, p program, servers map[string]any, url string) (l launch, env []string, at place, err error) {
	at = place{url: url, servers: servers}
	if at.dir, err = os.MkdirTemp(b.dir, "program-"); err != nil {
		return l, nil, at, err
	}
	if p.path != "" {
		if at.port, err = freePort(ctx); err != nil {
			return l, nil, at, err
		}
	}
	if l, err = p.start(at); err != nil {
		return l, nil, at, err
	}
	return l, append(homeIn(at.dir), l.env...), at, nil
}

// freePort returns a port that nobody has just now: some programs take none that is 0.
func freePort(ctx context.Context) (string, error) {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(ln.Addr().String())
	return port, errors.Join(err, ln.Close())
}

const (
	// acceptTimeout is how long a program may take to listen.
	acceptTimeout = 30 * time.Second
	// acceptAgain is how soon it is tried again.
	acceptAgain = 5 * time.Millisecond
)

// reach connects to a process as soon as it serves: some listen before they do.
func reach(ctx context.Context, p *wire.Process, t gen.Target) (*gen.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, acceptTimeout)
	defer cancel()
	for {
		c, err := gen.Open(ctx, t)
		if err == nil {
			return c, nil
		}
		select {
		case <-p.Exited:
			return nil, fmt.Errorf("it ended: %s", p.Stderr.Tail())
		case <-ctx.Done():
			return nil, fmt.Errorf("it does not serve: %w", err)
		case <-time.After(acceptAgain):
		}
	}
}
