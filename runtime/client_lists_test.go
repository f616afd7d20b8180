package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
)

// All that generated clients need besides calls.
var _ interface {
	runtime.Caller
	runtime.PromptGetter
	runtime.ResourceReader
	runtime.Completer
	runtime.ToolLister
	runtime.PromptLister
	runtime.ResourceLister
	runtime.ResourceTemplateLister
} = (*runtime.Client)(nil)

// TestListsAreLazy: a page is requested when it is reached, and an error is the last
// entry.
func TestListsAreLazy(t *testing.T) {
	asked := 0
	c := runtime.NewClient(transportFunc(func(_ context.Context, req *runtime.Request) (json.RawMessage, error) {
		if asked++; asked == 3 {
			return nil, errors.New("no third page")
		}
		for method, key := range map[string]string{"tools/list": "tools", "prompts/list": "prompts", "resources/list": "resources", "resources/templates/list": "resourceTemplates"} {
			if req.Method == method {
				return json.RawMessage(fmt.Sprintf(`{%q:[{"name":"a%d"},{"name":"b"}],"nextCursor":"%d"}`, key, asked, asked)), nil
			}
		}
		return nil, errors.New(req.Method)
	}), runtime.ClientOptions{})
	take := func(seq iter.Seq2[string, error], n int) (names []string, last error) {
		asked = 0
		for name, err := range seq {
			if err != nil {
				return names, err
			}
			if names = append(names, name); len(names) == n {
				break
			}
		}
		return names, nil
	}
	ctx := t.Context()
	for kind, seq := range map[string]iter.Seq2[string, error]{
		"tools":     named(c.Tools(ctx), func(v runtime.Tool) string { return v.Name }),
		"prompts":   named(c.Prompts(ctx), func(v runtime.Prompt) string { return v.Name }),
		"resources": named(c.Resources(ctx), func(v runtime.Resource) string { return v.Name }),
		"templates": named(c.ResourceTemplates(ctx), func(v runtime.ResourceTemplate) string { return v.Name }),
	} {
		if names, err := take(seq, 2); err != nil || asked != 1 || strings.Join(names, " ") != "a1 b" {
			t.Errorf("%s: got %v %v after %d pages", kind, names, err, asked)
		}
		if names, err := take(seq, 3); err != nil || asked != 2 || strings.Join(names, " ") != "a1 b a2" {
			t.Errorf("%s: got %v %v after %d pages", kind, names, err, asked)
		}
		if names, err := take(seq, 9); err == nil || asked != 3 || len(names) != 4 {
			t.Errorf("%s: got %v %v after %d pages, want the error behind 4", kind, names, err, asked)
		}
	}
}

func named[T any](list iter.Seq2[T, error], name func(T) string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for v, err := range list {
			if !yield(name(v), err) {
				return
			}
		}
	}
}

func TestComplete(t *testing.T) {
	var sent string
	answer := `{"completion":{"values":["a","b"],"total":7,"hasMore":true}}`
	c := runtime.NewClient(transportFunc(func(_ context.Context, req *runtime.Request) (json.RawMessage, error) {
		sent = req.Method + string(req.Params)
		return json.RawMessage(answer), nil
	}), runtime.ClientOptions{})
	got, err := c.Complete(t.Context(), runtime.CompletionRef{Prompt: "p"}, "city", "Os", nil, nil)
	if err != nil || len(got.Values) != 2 || *got.Total != 7 || !got.HasMore {
		t.Errorf("got %+v %v", got, err)
	}
	if want := `completion/complete{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"city","value":"Os"}}`; sent != want {
		t.Errorf("sent %s, want %s", sent, want)
	}
	_, err = c.Complete(t.Context(), runtime.CompletionRef{Template: "x://{a}"}, "a", "", map[string]string{"b": "c"}, nil)
	if want := `completion/complete{"ref":{"type":"ref/resource","uri":"x://{a}"},"argument":{"name":"a","value":""},"context":{"arguments":{"b":"c"}}}`; err != nil || sent != want {
		t.Errorf("sent %s %v, want %s", sent, err, want)
	}
	for _, answer = range []string{`{}`, `{"completion":null}`, `[]`, `{"completion":{"values":1}}`} {
		var broken *runtime.ProtocolError
		if _, err := c.Complete(t.Context(), runtime.CompletionRef{Prompt: "p"}, "city", "", nil, nil); !errors.As(err, &broken) {
			t.Errorf("%s: got %v, want a ProtocolError", answer, err)
		}
	}
}

// TestCallOptions: what options come to, and that they leave a client's own
// alone.
func TestCallOptions(t *testing.T) {
	var s runtime.CallSettings
	apply := func(opts ...runtime.CallOption) {
		for _, o := range opts {
			o.ApplyTo(&s)
		}
	}
	told := 0
	apply(runtime.WithTimeout(time.Second), runtime.WithMeta("a", json.RawMessage("1")), runtime.WithProgress(func(runtime.Progress) { told++ }),
		runtime.WithValidation(false), runtime.WithDrift(runtime.DriftFail, func(*runtime.DriftError) { told++ }))
	s.Progress(runtime.Progress{})
	s.OnDrift(nil)
	if s.Timeout != time.Second || !s.NoValidation || s.Drift != runtime.DriftFail || told != 2 {
		t.Errorf("got %+v", s)
	}
	shared := s.Meta
	apply(runtime.WithMeta("a", json.RawMessage("2")), runtime.WithMeta("b", json.RawMessage("3")), runtime.WithValidation(true), runtime.WithDrift(runtime.DriftIgnore, nil))
	if string(s.Meta["a"]) != "2" || len(s.Meta) != 2 || s.NoValidation || s.Drift != runtime.DriftIgnore || s.OnDrift != nil {
		t.Errorf("got %+v", s)
	}
	if len(shared) != 1 || string(shared["a"]) != "1" {
		t.Errorf("the meta before is %s now", shared)
	}
}

func TestDriftError(t *testing.T) {
	for _, tt := range []struct {
		err  runtime.DriftError
		want string
	}{
		{runtime.DriftError{Server: "s", Tool: "t"}, "tool t of s is gone since the client was generated"},
		{runtime.DriftError{Tool: "t", Got: "x", Changes: []runtime.Change{{Pointer: "/inputSchema/required", Message: "has one more"}, {Message: "is another one"}}}, "tool t has changed since the client was generated: /inputSchema/required has one more; is another one"},
	} {
		if got := tt.err.Error(); got != tt.want || tt.err.ExitKind() != "drift" {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}
