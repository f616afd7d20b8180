// Command server serves package tasks:
//
//	go run ./test/tasks/server                  Streamable HTTP on a free port; prints "URL http://127.0.0.1:PORT/"
//	go run ./test/tasks/server -addr HOST:PORT  the same there
//	go run ./test/tasks/server -stdio           on stdin and stdout
//	-versions A,B                               other revisions than 2026-07-28, best first
//
// It ends with SIGINT or SIGTERM, or over stdio with the end of input.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/mcpctl/mcpctl/test/tasks"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "tasks server:", err)
		os.Exit(1)
	}
}

func run() error {
	addr := flag.String("addr", "127.0.0.1:0", "where to listen")
	stdio := flag.Bool("stdio", false, "serve stdin and stdout")
	versions := flag.String("versions", "", "revisions, best first, with commas")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var list []string
	if *versions != "" {
		list = strings.Split(*versions, ",")
	}
	s, t := tasks.New(list...)
	defer t.Close()
	if *stdio {
		err := s.Serve(ctx, os.Stdin, os.Stdout)
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", *addr)
	if err != nil {
		return err
	}
	fmt.Printf("URL http://%s/\n", l.Addr())
	// Listens end with the server's context, not with Shutdown.
	h := &http.Server{Handler: tasks.Handler(s), ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	go func() {
		<-ctx.Done()
		ending, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = h.Shutdown(ending)
	}()
	if err := h.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
