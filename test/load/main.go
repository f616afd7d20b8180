// Command load puts servers of the Model Context Protocol under load, and is
// the server and the relay that a proxy is measured between:
//
//	load backend                      the server of package echo, on standard input and output
//	load backend -http 127.0.0.1:0    the same over Streamable HTTP; the first line it prints is "URL " and its URL
//	load relay COMMAND ARGS           starts a command and copies bytes both ways: what a proxy costs at the least
//	load call -stdio "COMMAND ARGS"   calls a server, or a proxy before one
//	load call -url URL                the same over Streamable HTTP
//	load once TEXT COMMAND ARGS       starts a command and calls its echo once: what a command line costs at the least
//
// call prints what it measured as one JSON object, and fails when an answer was
// wrong. What it measures and how is said in package gen.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/test/load/echo"
	"github.com/mcpctl/mcpctl/test/load/gen"
)

const usage = "usage: load backend|relay|call|once [flags]"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	switch args[0] {
	case "backend":
		return backend(args[1:])
	case "relay":
		return relay(args[1:])
	case "call":
		return call(args[1:])
	case "once":
		return once(args[1:])
	}
	return fmt.Errorf("unknown role %q; %s", args[0], usage)
}

func backend(args []string) error {
	var o echo.Options
	fs := flag.NewFlagSet("backend", flag.ExitOnError)
	addr := fs.String("http", "", "serve Streamable HTTP on this `address`")
	mark := fs.String("mark", "", "leave a file in this `directory` for each start")
	fs.IntVar(&o.Tools, "tools", 0, "tools beside the three")
	fs.DurationVar(&o.Delay, "delay", 0, "wait before anything is read")
	fs.IntVar(&o.Wrong, "wrong", 0, "answer each so many-th call with another's text")
	fs.IntVar(&o.WrongID, "wrong-id", 0, "answer each so many-th call with another id")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if *mark != "" {
		if err := os.WriteFile(filepath.Join(*mark, strconv.Itoa(os.Getpid())), nil, 0o600); err != nil {
			return err
		}
	}
	if *addr == "" {
		return echo.Serve(os.Stdin, os.Stdout, o)
	}
	ln, err := net.Listen("tcp", *addr)
	if err != nil {
		return err
	}
	fmt.Printf("URL http://%s/mcp\n", ln.Addr())
	return http.Serve(ln, echo.Handler(o))
}

func call(args []string) error {
	var t gen.Target
	var w gen.Work
	fs := flag.NewFlagSet("call", flag.ExitOnError)
	stdio := fs.String("stdio", "", "call this `command line` over its standard input and output")
	stateless := fs.Bool("stateless", false, "speak 2026-07-28, without a handshake")
	fs.StringVar(&t.URL, "url", "", "call this `endpoint` of Streamable HTTP")
	fs.IntVar(&t.PID, "pid", 0, "tell the time and memory of this `process`; with -stdio it is the command")
	fs.IntVar(&t.Sessions, "sessions", 1, "sessions of HTTP that the callers are divided among")
	fs.IntVar(&w.Callers, "c", 16, "callers")
	fs.DurationVar(&w.Duration, "d", 5*time.Second, "for how long")
	fs.Int64Var(&w.Count, "n", 0, "end after so many calls")
	fs.IntVar(&w.Size, "size", 100, "`bytes` of the text")
	fs.IntVar(&w.Warmup, "warmup", 200, "calls before those that are measured")
	fs.StringVar(&w.Tool, "tool", "echo", "end of the tool's `name`")
	if err := fs.Parse(args); err != nil {
		return err
	}
	t.Command = strings.Fields(*stdio)
	if *stateless {
		t.Revision = gen.Stateless
	}
	if w.Count > 0 {
		w.Duration = 0
	}
	ctx := context.Background()
	c, err := gen.Open(ctx, t)
	if err != nil {
		return err
	}
	res, err := c.Run(ctx, w)
	if err != nil {
		return errors.Join(err, c.Close())
	}
	if err := json.NewEncoder(io.Writer(os.Stdout)).Encode(res); err != nil {
		return err
	}
	return errors.Join(res.Err(), c.Close())
}
