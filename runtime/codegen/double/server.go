package double

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"testing"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/fixture"
)

// Methods of the requests that a double answers, in [Call].
const (
	MethodTool     = "tools/call"
	MethodPrompt   = "prompts/get"
	MethodResource = "resources/read"
)

// Call is one request that reached a double.
type Call struct {
	// Method is one of the constants Method….
	Method string
	// Name is the tool's or prompt's name, or the resource's URI.
	Name string
	// Arguments is the JSON object; nil for resources.
	Arguments json.RawMessage
	// Params are the arguments as their generated type, nil where no function
	// answers or they do not fit it.
	Params any
}

// String returns the call on one line.
func (c Call) String() string {
	kind := map[string]string{MethodTool: "tool ", MethodPrompt: "prompt ", MethodResource: "resource "}[c.Method]
	if c.Arguments == nil {
		return kind + c.Name
	}
	return kind + c.Name + " " + string(c.Arguments)
}

// Server is a double of a server. Its methods and the functions that set answers
// may be used concurrently; answers run on the goroutine that made the call.
type Server struct {
	t    testing.TB
	name string

	mu        sync.Mutex // guards what follows
	answers   map[string]answer
	templates []template
	player    *fixture.Player
	calls     []Call
}

// answer is a function without its types. It gets the raw arguments, passes the
// decoded ones to params, and returns a raw result.
type answer func(ctx context.Context, args json.RawMessage, params func(any)) (json.RawMessage, error)

// New returns a double of a server; name is for messages.
func New(t testing.TB, name string) *Server {
	return &Server{t: t, name: name, answers: map[string]answer{}}
}

// Calls returns the requests so far, in their order.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// Replay answers from fixtures where no function does; see [fixture.Replay].
// Fixtures that cannot be read end the test.
func (s *Server) Replay(fsys fs.FS) {
	s.t.Helper()
	p, err := fixture.Replay(fsys)
	if err != nil {
		s.t.Fatalf("double of %s: %v", s.name, err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.player = p
}

// CallTool implements [runtime.Caller].
func (s *Server) CallTool(ctx context.Context, name string, args json.RawMessage, opts *runtime.CallOptions) (*runtime.ToolResult, error) {
	s.t.Helper()
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	h, n := s.record(Call{Method: MethodTool, Name: name, Arguments: slices.Clone(args)})
	if h == nil {
		if p := s.replayed(); p != nil {
			r, err := p.CallTool(ctx, name, args, opts)
			return r, s.missed(n, err)
		}
		return nil, s.unexpected(n)
	}
	raw, err := s.run(ctx, MethodTool, h, n, args, opts)
	if failed, ok := errors.AsType[*runtime.ToolError](err); ok {
		raw, err = encodeFailure(failed)
	}
	if err != nil {
		return nil, err
	}
	return runtime.ParseToolResult(raw)
}

// GetPrompt implements [runtime.PromptGetter].
func (s *Server) GetPrompt(ctx context.Context, name string, args map[string]string, opts *runtime.CallOptions) (*runtime.PromptResult, error) {
	s.t.Helper()
	object := json.RawMessage("{}")
	if len(args) > 0 {
		var err error
		if object, err = json.Marshal(args); err != nil {
			return nil, err
		}
	}
	h, n := s.record(Call{Method: MethodPrompt, Name: name, Arguments: object})
	if h == nil {
		if p := s.replayed(); p != nil {
			r, err := p.GetPrompt(ctx, name, args, opts)
			return r, s.missed(n, err)
		}
		return nil, s.unexpected(n)
	}
	return decoded[runtime.PromptResult](s.run(ctx, MethodPrompt, h, n, object, opts))
}

// ReadResource implements [runtime.ResourceReader].
func (s *Server) ReadResource(ctx context.Context, uri string, opts *runtime.CallOptions) (*runtime.ResourceResult, error) {
	s.t.Helper()
	h, n := s.record(Call{Method: MethodResource, Name: uri})
	if h == nil {
		if p := s.replayed(); p != nil {
			r, err := p.ReadResource(ctx, uri, opts)
			return r, s.missed(n, err)
		}
		return nil, s.unexpected(n)
	}
	return decoded[runtime.ResourceResult](s.run(ctx, MethodResource, h, n, nil, opts))
}

// record records a call and returns its answer, nil for none.
func (s *Server) record(c Call) (h answer, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, c)
	n = len(s.calls) - 1
	if h = s.answers[c.Method+" "+c.Name]; h != nil || c.Method != MethodResource {
		return h, n
	}
	for _, t := range s.templates {
		if t.re.MatchString(c.Name) {
			return t.answer(c.Name), n
		}
	}
	return nil, n
}

func (s *Server) replayed() *fixture.Player {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.player
}

func (s *Server) call(n int) Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[n]
}

// unexpected fails the test: nothing answers call n.
func (s *Server) unexpected(n int) error {
	s.t.Helper()
	err := fmt.Errorf("double of %s: unexpected call: %s", s.name, s.call(n))
	s.t.Errorf("%v (its On method sets an answer)", err)
	return err
}

// missed fails the test where the fixtures have no answer.
func (s *Server) missed(n int, err error) error {
	s.t.Helper()
	if errors.Is(err, fixture.ErrNotRecorded) {
		s.t.Errorf("double of %s: unexpected call: %s is in no fixture (its On method sets an answer)", s.name, s.call(n))
	}
	return err
}

// run calls an answer within the call's timeout.
func (s *Server) run(ctx context.Context, method string, h answer, n int, args json.RawMessage, opts *runtime.CallOptions) (json.RawMessage, error) {
	s.t.Helper()
	if opts == nil {
		opts = &runtime.CallOptions{}
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", method, runtime.ErrNotSent, err)
	}
	bounded := context.WithValue(ctx, progressKey{}, opts.Progress)
	if opts.Timeout > 0 {
		var cancel context.CancelFunc
		bounded, cancel = context.WithTimeout(bounded, opts.Timeout)
		defer cancel()
	}
	raw, err := h(bounded, args, func(v any) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.calls[n].Params = v
	})
	if err != nil && errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil && bounded.Err() != nil {
		return nil, &runtime.TimeoutError{Op: method, After: opts.Timeout}
	}
	if wrong, ok := errors.AsType[*answerError](err); ok {
		s.t.Errorf("double of %s: the answer to %s: %v", s.name, s.call(n), wrong.err)
	}
	return raw, err
}

// answerError says that the server could not send the test's answer.
type answerError struct{ err error }

func (e *answerError) Error() string {
	return "the server could not give this answer: " + e.err.Error()
}
func (e *answerError) Unwrap() error { return e.err }

type progressKey struct{}

// Progress sends a progress message inside a call, unless the caller asked for
// none; ctx is the answer's.
func Progress(ctx context.Context, p runtime.Progress) {
	if fn, ok := ctx.Value(progressKey{}).(func(runtime.Progress)); ok && fn != nil {
		fn(p)
	}
}
