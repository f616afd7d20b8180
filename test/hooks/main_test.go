//go:build linux

package hooks_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/wire"
)

// Variables of this binary as a server: its fixture, and the file in which it notes what it is
// asked.
const (
	fixtureEnv = "HOOK_FIXTURE"
	notesEnv   = "HOOK_NOTES"
)

var program = flag.String("mcpctl", "", "the program to test; it is built where none is given")

func TestMain(m *testing.M) {
	if text, ok := os.LookupEnv(fixtureEnv); ok {
		os.Exit(serve(text))
	}
	flag.Parse()
	os.Exit(wire.Main(m, program))
}

// serve is a server on standard input and output: with a fixture one with interceptors, else
// one with tools.
func serve(text string) int {
	notes, err := os.OpenFile(os.Getenv(notesEnv), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return 1
	}
	s := runtimetest.New()
	if text == "" {
		s.Seen = func(frame []byte) {
			if bytes.Contains(frame, []byte(`"tools/call"`)) {
				fmt.Fprintln(notes, "call")
			}
		}
	} else {
		var f fixture
		if err := json.Unmarshal([]byte(text), &f); err != nil {
			return 1
		}
		if f.Quick {
			return f.serveQuickly()
		}
		s.Methods = map[string]runtimetest.Func{
			"interceptors/list": func(context.Context, *runtimetest.Call) (json.RawMessage, error) {
				return json.RawMessage(`{"interceptors":` + string(f.Interceptors) + `}`), nil
			},
			"interceptor/invoke": func(_ context.Context, c *runtimetest.Call) (json.RawMessage, error) {
				return f.answer(notes, c.Params)
			},
		}
	}
	if err := s.Serve(context.Background(), os.Stdin, os.NewFile(1, "out")); err != nil {
		return 1
	}
	return 0
}

// serveQuickly answers on the goroutine that reads, and looks at little: what a call takes longer
// with this hook is what mcpctl and the pipes take.
func (f *fixture) serveQuickly() int {
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return 0
		}
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal(line, &m) != nil || m.ID == nil {
			continue
		}
		answer := `"error":{"code":-32601,"message":"method not found"}`
		switch m.Method {
		case "initialize":
			answer = `"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"quick","version":"1"}}`
		case "interceptors/list":
			answer = `"result":{"interceptors":` + string(f.Interceptors) + `}`
		case "interceptor/invoke":
			answer = `"result":{"valid":true}`
		}
		if _, err := fmt.Printf(`{"jsonrpc":"2.0","id":%s,%s}`+"\n", m.ID, answer); err != nil {
			return 1
		}
	}
}

// answer is what the fixture answers to an invocation.
func (f *fixture) answer(notes *os.File, params json.RawMessage) (json.RawMessage, error) {
	var p struct {
		Name, Event, Phase string
		Payload            json.RawMessage
		Context            struct {
			Principal struct{ Type string }
			RequestID string
		}
	}
	if err := json.Unmarshal(params, &p); err != nil || p.Event != "tools/call" || p.Context.RequestID == "" || p.Context.Principal.Type != "anonymous" || bytes.Contains(p.Payload, []byte(`"_meta"`)) {
		fmt.Fprintln(notes, "wrong", string(params))
		return nil, &runtime.Error{Code: -32602, Message: "wrong params"}
	}
	key := p.Name + " " + p.Phase
	fmt.Fprintln(notes, key)
	switch answer := f.Answers[key]; string(answer) {
	case "":
		return nil, &runtime.Error{Code: -32602, Message: "no such interceptor"}
	case `"error"`:
		return nil, &runtime.Error{Code: -32603, Message: "canary-of-an-error"}
	case `"crash"`:
		os.Exit(3)
	case `"crash once"`:
		if at, err := notes.Seek(0, io.SeekEnd); err == nil && at <= int64(len(key)+1) {
			os.Exit(3)
		}
		return json.RawMessage(`{"valid":true}`), nil
	case `"hang"`:
		select {}
	case `"rubbish"`:
		fmt.Fprintf(os.NewFile(1, "out"), "{\"jsonrpc\":\"2.0\",\"id\":\x00 rubbish\n%s\n", bytes.Repeat([]byte("x"), 1<<16))
		select {}
	case `"slow"`:
		time.Sleep(700 * time.Millisecond)
		return json.RawMessage(`{"valid":true}`), nil
	case `"big"`:
		text := bytes.Repeat([]byte("big"), 8<<20/3)
		return fmt.Appendf(nil, `{"modified":true,"payload":{"content":[{"type":"text","text":%q}]}}`, text), nil
	default:
		return answer, nil
	}
	return nil, nil
}
