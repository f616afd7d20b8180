package eras_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

// tapAddress names the variable with the address that a server in a process of
// its own copies what it reads and writes to; see serveTapped.
const tapAddress = "ERAS_TAP"

// controlAddress names the variable with the address that it takes commands
// from.
const controlAddress = "ERAS_CONTROL"

// wireServer is the server of the transcripts: little to list, one tool for each
// thing that is shown.
func wireServer(versions ...string) *runtimetest.Server {
	s := runtimetest.Full(versions...)
	s.Tools = slices.DeleteFunc(s.Tools, func(t runtimetest.Tool) bool {
		return !slices.ContainsFunc([]string{"tell", "ask_form", "ask_url", "ask_sample", "wait", "refuse"}, func(name string) bool {
			return bytes.HasPrefix(t.Definition, []byte(`{"name":"`+name+`"`))
		})
	})
	s.Resources, s.Prompts, s.Templates = s.Resources[:1], nil, nil
	s.Capabilities = []byte(`{"tools":{"listChanged":true},"resources":{"subscribe":true},"logging":{}}`)
	return s
}

// serveTapped is a process that is the server of a transcript. It copies each
// piece of its input and output to the recorder before anything follows from it,
// over a connection for each that begins with a line of direction and process.
func serveTapped(versions string) int {
	dial := func(variable string) net.Conn {
		c, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", os.Getenv(variable))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return c
	}
	up, down, control := dial(tapAddress), dial(tapAddress), dial(controlAddress)
	fmt.Fprintf(up, "up %d\n", os.Getpid())
	fmt.Fprintf(down, "down %d\n", os.Getpid())
	s := wireServer(strings.Split(versions, ",")...)
	go func() { // ends with the process
		for lines := bufio.NewScanner(control); lines.Scan(); {
			fmt.Fprintln(control, s.Command(lines.Text()))
		}
	}()
	if err := s.Serve(context.Background(), io.TeeReader(os.Stdin, up), io.MultiWriter(down, os.Stdout)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// taps takes the connections of servers in processes and records what they say.
type taps struct {
	l    net.Listener
	r    *recorder
	work sync.WaitGroup

	mu    sync.Mutex // guards the rest
	known map[string]*exchange
}

func newTaps(r *recorder) (*taps, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	t := &taps{l: l, r: r, known: map[string]*exchange{}}
	t.work.Go(func() { // ends with the listener
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.work.Go(func() { t.read(c) }) // ends with the server's process
		}
	})
	return t, nil
}

func (t *taps) read(c net.Conn) {
	defer c.Close()
	r := bufio.NewReader(c)
	first, err := r.ReadString('\n')
	if err != nil {
		return
	}
	direction, process, _ := strings.Cut(strings.TrimSpace(first), " ")
	t.mu.Lock()
	x := t.known[process]
	if x == nil {
		x = t.r.open(serverLeg, true)
		t.known[process] = x
	}
	t.mu.Unlock()
	to := x.upward()
	if direction == "down" {
		to = x.downward()
	}
	_, _ = io.Copy(to, r) // until the process ends
}

func (t *taps) close() {
	_ = t.l.Close()
	t.work.Wait()
}
