// Command callpath lists the files of this repository that one tools/call passes through, in a
// gateway whose server is connected: from the request that a client writes to the answer that
// it reads. It counts statements, with the counters cleared right before the call, so that a
// file is on the path exactly if one of its statements ran.
//
// It prints the files of each way, and fails where docs/architecture.md says other numbers.
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/coverage"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

// dataVariable names the folder for what the one call covers. At its end a program writes to
// GOCOVERDIR what it has covered since, which does not count.
const dataVariable = "CALLPATH_DATA"

// timeout bounds each way, with the start of the server.
const timeout = time.Minute

func main() {
	if runtimetest.IsFake() {
		os.Exit(runtimetest.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	way := flag.String("way", "", "make one call this way, stdio or http, and write what it covers")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	var err error
	switch *way {
	case "":
		err = compare(ctx)
	case "stdio":
		err = withProxy(ctx, stdio)
	case "http":
		err = withProxy(ctx, overHTTP)
	default:
		err = fmt.Errorf("no such way: %s", *way)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "callpath:", err)
		os.Exit(1) //nolint:gocritic // the context ends with the process
	}
}

// compare builds this program so that it counts statements, runs it once for each way, and
// compares the number of files with that in docs/architecture.md.
func compare(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "callpath")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program := filepath.Join(dir, "callpath")
	if err := run(ctx, nil, "go", "build", "-cover", "-covermode=atomic", "-coverpkg=./...", "-o", program, "./test/callpath"); err != nil {
		return err
	}
	page, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		return err
	}
	var wrong error
	for _, way := range []string{"stdio", "http"} {
		files, err := covered(ctx, dir, program, way)
		if err != nil {
			return err
		}
		fmt.Printf("%s: %d files\n  %s\n", way, len(files), strings.Join(files, "\n  "))
		said := regexp.MustCompile(`<!-- callpath ` + way + ` -->(\d+)`).FindSubmatch(page)
		if said == nil {
			wrong = errors.Join(wrong, fmt.Errorf("docs/architecture.md does not say how many files %s passes through", way))
		} else if string(said[1]) != strconv.Itoa(len(files)) {
			wrong = errors.Join(wrong, fmt.Errorf("docs/architecture.md says %s files for %s, and it is %d", said[1], way, len(files)))
		}
	}
	return wrong
}

// covered returns the files with a statement that ran during the call of a way.
func covered(ctx context.Context, dir, program, way string) ([]string, error) {
	data, rest, profile := filepath.Join(dir, way), filepath.Join(dir, way+"-rest"), filepath.Join(dir, way+".txt")
	if err := errors.Join(os.Mkdir(data, 0o700), os.Mkdir(rest, 0o700)); err != nil {
		return nil, err
	}
	if err := run(ctx, []string{dataVariable + "=" + data, "GOCOVERDIR=" + rest}, program, "-way", way); err != nil {
		return nil, err
	}
	if err := run(ctx, nil, "go", "tool", "covdata", "textfmt", "-i="+data, "-o="+profile); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(profile)
	if err != nil {
		return nil, err
	}
	var files []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		file, _, ok := strings.Cut(strings.TrimPrefix(line, "github.com/mcpctl/mcpctl/"), ":")
		if ok && !strings.HasSuffix(line, " 0") && file != "mode" && !strings.HasPrefix(file, "test/") && !strings.HasPrefix(file, "runtime/runtimetest/") {
			files = append(files, file)
		}
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

func run(ctx context.Context, env []string, name string, args ...string) error {
	c := exec.CommandContext(ctx, name, args...)
	c.Env, c.Stderr = append(os.Environ(), env...), os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// withProxy puts a proxy in front of one server, which is a child process.
func withProxy(ctx context.Context, way func(context.Context, *proxy.Proxy) error) error {
	command, env := runtimetest.Command()
	entry := config.Entry{Name: "s", Command: command[0], Args: command[1:], Env: env}
	p, err := proxy.New(proxy.Options{
		Servers: proxy.Named("s"),
		Dial: func(ctx context.Context, _ proxy.Key, h runtime.Handler) (*runtime.Client, error) {
			return dial.Dial(ctx, entry, dial.Options{Handler: h, Listen: true})
		},
	})
	if err != nil {
		return err
	}
	return errors.Join(way(ctx, p), p.Close())
}

const (
	initialize  = `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	call        = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"s__echo","arguments":{"text":"a"}}}`
)

// measured makes calls until all is connected and warm, and then one that counts.
func measured(once func() error) error {
	for range 5 {
		if err := once(); err != nil {
			return err
		}
	}
	time.Sleep(time.Second) // what the start has begun is over
	if err := coverage.ClearCounters(); err != nil {
		return err
	}
	if err := once(); err != nil {
		return err
	}
	dir := os.Getenv(dataVariable)
	return errors.Join(coverage.WriteCountersDir(dir), coverage.WriteMetaDir(dir))
}

func stdio(ctx context.Context, p *proxy.Proxy) error {
	in, toProxy, err := os.Pipe()
	if err != nil {
		return err
	}
	fromProxy, out, err := os.Pipe()
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- p.ServeStdio(ctx, in, out) }()
	answers := bufio.NewReader(fromProxy)
	ask := func(line string) error {
		if _, err := io.WriteString(toProxy, line+"\n"); err != nil {
			return err
		}
		answer, err := answers.ReadString('\n')
		if err == nil && !strings.Contains(answer, `"result"`) {
			err = errors.New(answer)
		}
		return err
	}
	if err := ask(initialize); err != nil {
		return err
	}
	if _, err := io.WriteString(toProxy, initialized+"\n"); err != nil {
		return err
	}
	if err := measured(func() error { return ask(call) }); err != nil {
		return err
	}
	_ = toProxy.Close()
	return <-ended
}

func overHTTP(ctx context.Context, p *proxy.Proxy) error {
	handler := p.NewHTTPHandler(proxy.HTTPOptions{})
	defer handler.Close()
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	srv := proxy.NewHTTPServer(&http.Server{Handler: handler, ReadHeaderTimeout: timeout})
	go func() { _ = srv.Serve(l) }()
	session := ""
	ask := func(body string) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+l.Addr().String()+"/mcp", strings.NewReader(body))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			req.Header.Set("Mcp-Session-Id", session)
			req.Header.Set("Mcp-Protocol-Version", "2025-11-25")
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		answer, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if session == "" {
			session = resp.Header.Get("Mcp-Session-Id")
		}
		if err == nil && body != initialized && !bytes.Contains(answer, []byte(`"result"`)) {
			err = fmt.Errorf("status %d: %s", resp.StatusCode, answer)
		}
		return err
	}
	if err := errors.Join(ask(initialize), ask(initialized)); err != nil {
		return err
	}
	if err := measured(func() error { return ask(call) }); err != nil {
		return err
	}
	return srv.Close()
}
