//go:build linux

package hooks_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/test/require"
)

// draftEnv names a copy of the fixtures of the draft's working group: the folder conformance of
// https://github.com/modelcontextprotocol/experimental-ext-interceptors.
const draftEnv = "MCPCTL_TEST_INTERCEPTORS"

// draftFixture is a file of theirs. Its interceptors have a behaviour instead of a program; see
// their ADAPTER.md.
type draftFixture struct {
	ID           string
	Interceptors []draftInterceptor
	Steps        []draftStep
}

type draftInterceptor struct {
	Name, Type, Behavior, Phases, Mode string
	Events                             []string
	FailOpen                           bool
}

// descriptor is the interceptor in a list.
func (i *draftInterceptor) descriptor() map[string]any {
	d := map[string]any{"name": i.Name, "type": i.Type, "hook": map[string]any{"events": i.Events, "phase": i.Phases}, "failOpen": i.FailOpen}
	if i.Mode != "" {
		d["mode"] = i.Mode
	}
	return d
}

// draftStep is something to do, and what has to come of it. Op is list, invoke, or apply, which
// was chain before.
type draftStep struct {
	Op, Event, Phase string
	Payload          json.RawMessage
	Context          struct{ SessionID string }
	Params           struct {
		Name, Event, Phase string
		Payload            json.RawMessage
	}
	Expect struct {
		Decision          string
		FinalPayload      json.RawMessage
		Forbids, Requires []string
		ErrorCode         int64
		Result            json.RawMessage
	}
}

// TestDraft: the fixtures of the working group, each step of them.
func TestDraft(t *testing.T) {
	t.Parallel()
	dir := os.Getenv(draftEnv)
	if dir == "" {
		t.Skip("set " + draftEnv + " to a copy of the folder conformance of github.com/modelcontextprotocol/experimental-ext-interceptors")
	}
	n := 0
	require.NoError(t, filepath.WalkDir(filepath.Join(dir, "fixtures"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		var f draftFixture
		require.NoError(t, json.Unmarshal(raw, &f))
		n++
		t.Run(f.ID, func(t *testing.T) {
			t.Parallel()
			s := &draftSession{fixture: f, tool: map[string]string{}, read: map[string]map[string]string{}}
			for i := range f.Steps {
				s.do(t, &f.Steps[i])
			}
			if len(f.Steps) == 0 {
				t.Error("no steps")
			}
		})
		return nil
	}))
	if n < 24 {
		t.Errorf("%d fixtures, want 24 at least", n)
	}
}

// draftSession is a server with the interceptors of a fixture.
type draftSession struct {
	fixture draftFixture
	tool    map[string]string            // the last tool, by session
	read    map[string]map[string]string // where a secret was read, by session
}

func (s *draftSession) do(t *testing.T, step *draftStep) {
	t.Helper()
	switch step.Op {
	case "list":
		listStep(t, step)
	case "invoke":
		s.invokeStep(t, step)
	case "apply", "chain":
		s.applyStep(t, step)
	default:
		t.Errorf("step %q is not known", step.Op)
	}
}

// listStep: each interceptor of the list is asked in its phases.
func listStep(t *testing.T, step *draftStep) {
	t.Helper()
	var asked, want []string
	h := draftHook(t, false, step.Expect.Result, func(p *draftParams) (any, error) {
		asked = append(asked, p.Name+" "+p.Phase)
		return map[string]any{"valid": true, "modified": false}, nil
	})
	c := &proxy.HookCall{Params: json.RawMessage(`{"name":"t"}`), Result: json.RawMessage(`{}`)}
	require.NoError(t, h.Request(t.Context(), c))
	require.NoError(t, h.Response(t.Context(), c))
	var list struct {
		Interceptors []struct {
			Name  string
			Hooks []struct{ Phase string }
		}
	}
	require.NoError(t, json.Unmarshal(step.Expect.Result, &list))
	for _, i := range list.Interceptors {
		for _, on := range i.Hooks {
			want = append(want, i.Name+" "+on.Phase)
		}
	}
	slices.Sort(asked)
	slices.Sort(want)
	if !slices.Equal(asked, want) || len(want) == 0 {
		t.Errorf("asked %q, want %q", asked, want)
	}
}

// invokeStep: the invocation is that of the step, and what follows is what its result says.
func (s *draftSession) invokeStep(t *testing.T, step *draftStep) {
	t.Helper()
	want := &step.Params
	i := slices.IndexFunc(s.fixture.Interceptors, func(i draftInterceptor) bool { return i.Name == want.Name })
	one := draftInterceptor{Name: want.Name, Type: "validation", Events: []string{want.Event}, Phases: "both"} // it was there
	if i >= 0 {
		one = s.fixture.Interceptors[i]
	}
	lists := 0
	h := draftHook(t, false, func() json.RawMessage {
		lists++
		return encoded(t, map[string]any{"interceptors": []any{one.descriptor()}})
	}, func(p *draftParams) (any, error) {
		if p.Name != want.Name || p.Event != want.Event || p.Phase != want.Phase || !sameJSON(t, p.Payload, want.Payload) {
			t.Errorf("asked %+v, want %+v", p, want)
		}
		if step.Expect.ErrorCode != 0 {
			return nil, &runtime.Error{Code: step.Expect.ErrorCode, Message: "no such interceptor"}
		}
		return step.Expect.Result, nil
	})
	c := &proxy.HookCall{Params: want.Payload}
	err := h.Request(t.Context(), c)
	_, refused := errors.AsType[*proxy.Refusal](err)
	var said struct {
		Valid, Modified *bool
		Payload         json.RawMessage
	}
	if step.Expect.ErrorCode != 0 {
		_ = h.Request(t.Context(), c)
		if err == nil || refused || lists != 2 {
			t.Errorf("got %v after %d lists", err, lists)
		}
		return
	}
	require.NoError(t, json.Unmarshal(step.Expect.Result, &said))
	after := want.Payload
	if said.Modified != nil && *said.Modified {
		after = said.Payload
	}
	if ends := said.Valid != nil && !*said.Valid; refused != ends || (err != nil) != ends || !sameJSON(t, c.Params, after) {
		t.Errorf("got %v, %s", err, c.Params)
	}
}

// applyStep: all interceptors look, and their behaviour decides.
func (s *draftSession) applyStep(t *testing.T, step *draftStep) {
	t.Helper()
	var all []any
	opens := false
	for _, i := range s.fixture.Interceptors {
		all = append(all, i.descriptor())
		opens = opens || i.FailOpen
	}
	h := draftHook(t, opens, encoded(t, map[string]any{"interceptors": all}), func(p *draftParams) (any, error) {
		return s.behave(t, p)
	})
	c := &proxy.HookCall{Principal: step.Context.SessionID, Params: step.Payload}
	phase, out := h.Request, &c.Params
	if step.Phase == "response" {
		c.Params, c.Result = nil, step.Payload
		phase, out = h.Response, &c.Result
	}
	err := phase(t.Context(), c)
	if want := step.Expect.Decision == "allow"; (err == nil) != want {
		t.Fatalf("got %v, want %s", err, step.Expect.Decision)
	}
	if want := step.Expect.FinalPayload; want != nil && !sameJSON(t, *out, want) {
		t.Errorf("got %s, want %s", *out, want)
	}
	for _, text := range step.Expect.Forbids {
		if strings.Contains(string(*out), text) {
			t.Errorf("%s has %q", *out, text)
		}
	}
	for _, text := range step.Expect.Requires {
		if !strings.Contains(string(*out), text) {
			t.Errorf("%s does not have %q", *out, text)
		}
	}
}

// draftParams are those of interceptor/invoke. Who calls stands for the session of a fixture.
type draftParams struct {
	Name, Event, Phase string
	Payload            json.RawMessage
	Context            struct{ Principal struct{ ID string } }
}

// draftHook is the hook of a server that lists what list is or returns, and answers as invoked
// says. Opens lets it fail open: with mcpctl that is up to the configuration, which the server
// can only make stricter.
func draftHook(t *testing.T, opens bool, list any, invoked func(*draftParams) (any, error)) proxy.Hook {
	t.Helper()
	var mu sync.Mutex // for invoked: validations are asked side by side
	h, err := proxy.NewServerHook(proxy.ServerHook{Server: "guard", FailOpen: opens}, func(_ context.Context, _, method string, params json.RawMessage) (json.RawMessage, error) {
		switch method {
		case "interceptors/list":
			if made, ok := list.(func() json.RawMessage); ok {
				return made(), nil
			}
			return encoded(t, list), nil
		case "interceptor/invoke":
			p := &draftParams{}
			require.NoError(t, json.Unmarshal(params, p))
			mu.Lock()
			defer mu.Unlock()
			out, err := invoked(p)
			if err != nil {
				return nil, err
			}
			return encoded(t, out), nil
		}
		return nil, fmt.Errorf("method %s", method)
	})
	require.NoError(t, err)
	return h
}

var draftSecret = regexp.MustCompile(`sk_live_\w+|ghp_\w+|AKIA[0-9A-Z]{16}`)

// behave is the vocabulary of behaviours.
func (s *draftSession) behave(t *testing.T, p *draftParams) (any, error) {
	t.Helper()
	i := slices.IndexFunc(s.fixture.Interceptors, func(i draftInterceptor) bool { return i.Name == p.Name })
	var call struct {
		Name      string
		Arguments map[string]any
	}
	require.NoError(t, json.Unmarshal(p.Payload, &call))
	note, isText := call.Arguments["note"].(string)
	verdict := func(valid bool) (any, error) { return map[string]any{"valid": valid, "severity": "error"}, nil }
	switch behavior := s.fixture.Interceptors[i].Behavior; behavior {
	case "allow-all":
		return map[string]any{"valid": true}, nil
	case "deny-all":
		return verdict(false)
	case "require-note":
		return verdict(note != "")
	case "require-uppercase-note":
		return verdict(isText && note == strings.ToUpper(note))
	case "uppercase-note":
		if !isText {
			return map[string]any{"modified": false, "payload": p.Payload}, nil
		}
		call.Arguments["note"] = strings.ToUpper(note)
		return map[string]any{"modified": true, "payload": map[string]any{"name": call.Name, "arguments": call.Arguments}}, nil
	case "crash":
		return nil, errors.New("the server has ended")
	case "cross-boundary-guard":
		return verdict(s.passes(p, call.Name))
	case "secretless-redactor":
		return map[string]any{"modified": true, "payload": json.RawMessage(draftSecret.ReplaceAll(p.Payload, []byte("[handle]")))}, nil
	default:
		t.Errorf("behaviour %q is not known", behavior)
		return nil, errors.New("not known")
	}
}

// passes reports whether a call may pass: no secret in it was read from another server.
func (s *draftSession) passes(p *draftParams, tool string) bool {
	session := p.Context.Principal.ID
	server := map[string]string{"read_file": "filesystem", "write_file": "filesystem", "write_query": "sqlite"}
	if s.read[session] == nil {
		s.read[session] = map[string]string{}
	}
	if p.Phase == "request" {
		s.tool[session] = tool
	}
	for _, secret := range draftSecret.FindAllString(string(p.Payload), -1) {
		switch from, known := s.read[session][secret]; {
		case p.Phase == "response":
			s.read[session][secret] = server[s.tool[session]]
		case known && from != server[tool]:
			return false
		}
	}
	return true
}

func encoded(t *testing.T, v any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return raw
}

func sameJSON(t *testing.T, a, b json.RawMessage) bool {
	t.Helper()
	var x, y any
	require.NoError(t, json.Unmarshal(a, &x))
	require.NoError(t, json.Unmarshal(b, &y))
	return reflect.DeepEqual(x, y)
}
