package codegen_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/codegen"
	"github.com/mcpctl/mcpctl/test/require"
)

// drifting is a server whose tools are listed by a function.
type drifting struct {
	calls, lists atomic.Int64
	version      atomic.Uint64
	list         func(ctx context.Context) ([]string, error)
}

func (d *drifting) CallTool(context.Context, string, json.RawMessage, *runtime.CallOptions) (*runtime.ToolResult, error) {
	d.calls.Add(1)
	return &runtime.ToolResult{}, nil
}

func (d *drifting) Tools(ctx context.Context) iter.Seq2[runtime.Tool, error] {
	return func(yield func(runtime.Tool, error) bool) {
		d.lists.Add(1)
		tools, err := d.list(ctx)
		for _, raw := range tools {
			var t runtime.Tool
			if err := json.Unmarshal([]byte(raw), &t); err != nil {
				panic(err)
			}
			t.Raw = json.RawMessage(raw)
			if !yield(t, nil) {
				return
			}
		}
		if err != nil {
			yield(runtime.Tool{}, err)
		}
	}
}

func (d *drifting) ToolsVersion() uint64 { return d.version.Load() }

const echoTool = `{"name":"echo","description":"d","inputSchema":{"type":"object"}}`

func surfaceOf(t *testing.T, tools ...string) *codegen.Surface {
	t.Helper()
	s := &codegen.Surface{Server: "srv", Tools: map[string]string{}}
	for _, raw := range tools {
		d, err := codegen.DigestTool(json.RawMessage(raw))
		require.NoError(t, err)
		var tool runtime.Tool
		require.NoError(t, json.Unmarshal([]byte(raw), &tool))
		s.Tools[tool.Name] = d.Structure
	}
	return s
}

func lists(tools ...string) func(context.Context) ([]string, error) {
	return func(context.Context) ([]string, error) { return tools, nil }
}

// TestDrift: each policy, and what counts.
func TestDrift(t *testing.T) {
	tests := []struct {
		name, has string
		drifted   string // in the error; "" for none
	}{
		{"the same", echoTool, ""},
		{"other prose", strings.Replace(echoTool, `"d"`, `"e"`, 1), ""},
		{"another schema", strings.Replace(echoTool, `{"type":"object"}`, `{"type":"object","required":["a"]}`, 1), "tool echo of srv has changed since the client was generated"},
		{"an output schema", strings.Replace(echoTool, `"d"`, `"d","outputSchema":{}`, 1), "has changed"},
		{"gone", strings.Replace(echoTool, "echo", "other", 1), "tool echo of srv is gone"},
	}
	for _, tt := range tests {
		for _, policy := range []runtime.DriftPolicy{runtime.DriftIgnore, runtime.DriftWarn, runtime.DriftFail} {
			d := &drifting{list: lists(tt.has)}
			var told []*runtime.DriftError
			c := codegen.NewClient(d, surfaceOf(t, echoTool), runtime.WithDrift(policy, func(e *runtime.DriftError) { told = append(told, e) }))
			_, err := c.Call(t.Context(), "echo", nil, nil)
			_, again := c.Call(t.Context(), "echo", nil, nil)
			var drift *runtime.DriftError
			if fails := tt.drifted != "" && policy == runtime.DriftFail; fails {
				if !errors.As(err, &drift) || !errors.As(again, &drift) || !strings.Contains(err.Error(), tt.drifted) || d.calls.Load() != 0 {
					t.Errorf("%s, %d: got %v %v, %d calls", tt.name, policy, err, again, d.calls.Load())
				}
			} else if err != nil || again != nil || d.calls.Load() != 2 {
				t.Errorf("%s, %d: got %v %v, %d calls", tt.name, policy, err, again, d.calls.Load())
			}
			wantTold, wantLists := 0, int64(1)
			if tt.drifted != "" && policy != runtime.DriftIgnore {
				wantTold = 2
			}
			if policy == runtime.DriftIgnore {
				wantLists = 0
			}
			if len(told) != wantTold || d.lists.Load() != wantLists {
				t.Errorf("%s, %d: told %d times of %d lists, want %d of %d", tt.name, policy, len(told), d.lists.Load(), wantTold, wantLists)
			}
			if len(told) > 0 && (told[0].Tool != "echo" || told[0].Want == "" || (told[0].Got == "") != (tt.name == "gone") || len(told[0].Changes) != 1 || told[0].Hint() == "") {
				t.Errorf("%s: told %+v", tt.name, told[0])
			}
		}
	}
}

// TestDriftUnknown: a tool that the code was not generated from is called.
func TestDriftUnknown(t *testing.T) {
	d := &drifting{list: lists()}
	c := codegen.NewClient(d, surfaceOf(t, echoTool), runtime.WithDrift(runtime.DriftFail, nil))
	if _, err := c.Call(t.Context(), "other", nil, nil); err != nil || d.lists.Load() != 0 {
		t.Errorf("got %v after %d lists", err, d.lists.Load())
	}
	if _, err := c.Call(t.Context(), "echo", nil, options(runtime.WithDrift(runtime.DriftIgnore, nil))); err != nil || d.lists.Load() != 0 {
		t.Errorf("a call's own policy: got %v after %d lists", err, d.lists.Load())
	}
}

// TestDriftUnlisted: tools that cannot be listed are listed again later.
func TestDriftUnlisted(t *testing.T) {
	broken := errors.New("broken")
	d := &drifting{list: func(context.Context) ([]string, error) { return []string{echoTool}, broken }}
	c := codegen.NewClient(d, surfaceOf(t, echoTool), runtime.WithDrift(runtime.DriftFail, nil))
	if _, err := c.Call(t.Context(), "echo", nil, nil); !errors.Is(err, broken) || d.calls.Load() != 0 {
		t.Errorf("got %v, want the list's error", err)
	}
	if _, err := c.Call(t.Context(), "echo", nil, options(runtime.WithDrift(runtime.DriftWarn, nil))); err != nil || d.calls.Load() != 1 {
		t.Errorf("warn: got %v", err)
	}
	d.list = lists(echoTool)
	if _, err := c.Call(t.Context(), "echo", nil, nil); err != nil || d.lists.Load() != 3 {
		t.Errorf("got %v after %d lists, want another try", err, d.lists.Load())
	}
	c = codegen.NewClient(&fake{result: &runtime.ToolResult{}}, surfaceOf(t, echoTool), runtime.WithDrift(runtime.DriftFail, nil))
	if _, err := c.Call(t.Context(), "echo", nil, nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("got %v, want a caller that cannot list", err)
	}
	if _, err := c.Call(t.Context(), "echo", nil, options(runtime.WithDrift(runtime.DriftWarn, nil))); err != nil {
		t.Errorf("got %v, want the call made", err)
	}
}

// TestDriftVersion: a caller that is notified of changes lists again.
func TestDriftVersion(t *testing.T) {
	d := &drifting{list: lists(echoTool)}
	c := codegen.NewClient(d, surfaceOf(t, echoTool), runtime.WithDrift(runtime.DriftFail, nil))
	call := func() error { return errOf(c.Call(t.Context(), "echo", nil, nil)) }
	if err := errors.Join(call(), call()); err != nil || d.lists.Load() != 1 {
		t.Fatal(err, d.lists.Load())
	}
	d.list = lists()
	if err := call(); err != nil {
		t.Fatal("asked though nothing was heard:", err)
	}
	d.version.Add(1)
	if err := call(); err == nil || d.lists.Load() != 2 {
		t.Error("the change was not seen")
	}
	d.list = lists(echoTool)
	d.version.Add(1)
	if err := call(); err != nil {
		t.Error("back again, but", err)
	}
}

// TestDriftTogether: concurrent calls share a list, each waits until its deadline,
// and one that gives up does not fail the others.
func TestDriftTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &drifting{list: func(ctx context.Context) ([]string, error) {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(time.Second):
				return []string{echoTool}, nil
			}
		}}
		c := codegen.NewClient(d, surfaceOf(t, echoTool), runtime.WithDrift(runtime.DriftFail, nil))
		var wg sync.WaitGroup
		call := func(limit time.Duration, fails bool) {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				defer cancel()
				if _, err := c.Call(ctx, "echo", nil, nil); (err != nil) != fails || fails && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("with %v: got %v", limit, err)
				}
			})
			synctest.Wait()
		}
		call(100*time.Millisecond, true) // asks, and gives up
		call(50*time.Millisecond, true)  // gives up waiting
		for range 10 {
			call(time.Minute, false)
		}
		wg.Wait()
		if d.lists.Load() != 2 || d.calls.Load() != 10 {
			t.Errorf("%d lists and %d calls, want 2 and 10", d.lists.Load(), d.calls.Load())
		}
	})
}

// TestDriftFailsTogether: a failure of the server is everyone's who waited.
func TestDriftFailsTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &drifting{list: func(context.Context) ([]string, error) {
			time.Sleep(time.Second)
			return nil, errors.New("broken")
		}}
		c := codegen.NewClient(d, surfaceOf(t, echoTool), runtime.WithDrift(runtime.DriftFail, nil))
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				if _, err := c.Call(t.Context(), "echo", nil, nil); err == nil || !strings.Contains(err.Error(), "broken") {
					t.Errorf("got %v", err)
				}
			})
		}
		wg.Wait()
		if d.lists.Load() != 1 {
			t.Errorf("%d lists, want 1", d.lists.Load())
		}
	})
}
