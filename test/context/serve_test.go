package context_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

// answerBytes is how long the text of a result is.
const answerBytes = 1200

// behind starts the servers of a corpus, and returns the environment of an mcpctl that has
// them. Each tool answers with its name and a text of answerBytes.
func behind(t *testing.T, c *corpus) []string {
	t.Helper()
	mux, entries := http.NewServeMux(), map[string]any{}
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	for i, name := range c.servers() {
		s := runtimetest.New()
		s.Tools = nil
		for _, one := range c.tools {
			if one.alias() != name {
				continue
			}
			text := one.key() + "\n" + strings.Repeat("a line of what was found\n", answerBytes/25)
			result := marshal(t, map[string]any{"content": []any{map[string]string{"type": "text", "text": text}}})
			s.Tools = append(s.Tools, runtimetest.Tool{Definition: one.definition, Call: func(context.Context, *runtimetest.Call) (json.RawMessage, error) { return result, nil }})
		}
		path := fmt.Sprintf("/%d", i)
		mux.Handle(path, s.Handler(runtimetest.HTTPOptions{}))
		entries[name] = map[string]string{"url": web.URL + path}
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "servers.json")
	require.NoError(t, os.WriteFile(file, marshal(t, map[string]any{"mcpServers": entries}), 0o600))
	return append(os.Environ(), "MCPCTL_CONFIG="+file, "MCPCTL_HOME="+dir, "MCPCTL_LIST_GRACE=never")
}

// endpoint is a running mcpctl serve, as a client over standard input and output has it.
type gateway struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Reader
	id  int
}

// serve starts one with a form of the list.
func serve(t *testing.T, program string, env []string, form string) *gateway {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, "serve", "-q", "--list", form)
	cmd.Env, cmd.Stderr = env, os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = in.Close()
		delayed := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		defer delayed.Stop()
		_ = cmd.Wait()
	})
	f := &gateway{t: t, in: in, out: bufio.NewReader(out)}
	f.request("initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]string{"name": "bench", "version": "1"}})
	_, err = io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	require.NoError(t, err)
	return f
}

// request returns the result of a request.
func (f *gateway) request(method string, params any) json.RawMessage {
	f.t.Helper()
	result, failure := f.ask(method, params)
	if failure != nil {
		f.t.Fatalf("%s: %s", method, failure)
	}
	return result
}

// ask returns the result of a request, or the error object.
func (f *gateway) ask(method string, params any) (result, failure json.RawMessage) {
	f.t.Helper()
	f.id++
	line := marshal(f.t, map[string]any{"jsonrpc": "2.0", "id": f.id, "method": method, "params": params})
	_, err := f.in.Write(append(line, '\n'))
	require.NoError(f.t, err)
	for {
		line, err := f.out.ReadBytes('\n')
		require.NoError(f.t, err)
		var m struct {
			ID     *int
			Result json.RawMessage
			Error  json.RawMessage
		}
		require.NoError(f.t, json.Unmarshal(line, &m))
		if m.ID == nil || *m.ID != f.id {
			continue
		}
		return m.Result, m.Error
	}
}

// list returns the definitions of all tools that are listed.
func (f *gateway) list() (all []json.RawMessage) {
	f.t.Helper()
	params := map[string]any{}
	for {
		var page struct {
			Tools      []json.RawMessage
			NextCursor string
		}
		require.NoError(f.t, json.Unmarshal(f.request("tools/list", params), &page))
		all = append(all, page.Tools...)
		if page.NextCursor == "" {
			return all
		}
		params["cursor"] = page.NextCursor
	}
}

// call returns the text of a tool's result.
func (f *gateway) call(name string, arguments any) (text string, failed bool) {
	f.t.Helper()
	return textOf(f.t, f.request("tools/call", map[string]any{"name": name, "arguments": arguments}))
}

// attempt is call for a name and arguments that may be wrong. It returns the error as a text.
func (f *gateway) attempt(name string, arguments json.RawMessage) (text string, failed bool) {
	f.t.Helper()
	if !json.Valid(arguments) {
		return "the arguments are no JSON", true
	}
	result, failure := f.ask("tools/call", map[string]any{"name": name, "arguments": arguments})
	if failure != nil {
		return string(failure), true
	}
	return textOf(f.t, result)
}

func textOf(t *testing.T, result json.RawMessage) (text string, failed bool) {
	t.Helper()
	var r struct {
		Content []struct{ Text string }
		IsError bool
	}
	require.NoError(t, json.Unmarshal(result, &r))
	for _, c := range r.Content {
		text += c.Text
	}
	return text, r.IsError
}
