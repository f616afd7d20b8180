// Package hooks has what looks into calls of tools: which hooks want the calls of a tool,
// and how they are asked about one. A hook looks at a request after policies have let it
// pass, and at what has come of it before guards and policies do. What follows from that is
// up to the verdict room.
package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/internal/rawjson"
)

// Phases says when a hook looks into a call: a bit set, 0 for never.
type Phases uint8

// Phases of a call.
const (
	PhaseRequest Phases = 1 << iota
	PhaseResponse
)

// Target is a tool.
type Target struct {
	// Server and Tool are the server's own names. Tool is "" for a task whose call is not
	// known any more: a hook says what it wants of any tool of that server then.
	Server, Tool string
	// Exposed is what clients call the tool that have no view.
	Exposed string
	// View is the view of who calls, "" for none, and always where Wants is asked.
	View string
	// Annotations are what the server says of the tool, a raw object; nil for nothing.
	Annotations json.RawMessage
}

// Hook looks into calls of tools. Its methods may be called concurrently.
type Hook interface {
	// Wants is asked once per tool, when a snapshot of what servers offer is made.
	Wants(t Target) Phases
	// Request may replace c.Params. An error ends the call: a *Refusal is shown to the client,
	// others are faults of the hook, of which the client learns the hook's name alone.
	Request(ctx context.Context, c *Call) error
	// Response may replace c.Result, or c.Err by another error. Its error is that of Request.
	Response(ctx context.Context, c *Call) error
}

// Call is a call of a tool as hooks see it. All hooks of a call see the same, one after
// another, and what the one before has changed.
type Call struct {
	// ID is a UUID, the same in both phases, and another for what a task has come to.
	ID     string
	Target Target
	// Principal is the ID of who calls, "" where nobody is asked who they are. Client is the
	// program as it says of itself, "" for unknown.
	Principal, Client string
	// Params are those of the request, a raw object without the protocol's metadata. Of a
	// replaced one only arguments count, and the name must stay. It is nil for a task.
	Params json.RawMessage
	// Result is what the client gets, a raw object; nil in the first phase, and with Err.
	Result json.RawMessage
	// Err is why there is no result: the server's own error, a *runtime.Error, or what has
	// failed on the way to it.
	Err   error
	Start time.Time
	// Traceparent is that of the request (W3C, Trace Context), "" for none.
	Traceparent string

	labels, noted []string
}

// Label adds a label to the request or result, which policies read as context.found.
func (c *Call) Label(name string) {
	if !slices.Contains(c.labels, name) {
		c.labels = append(c.labels, name)
	}
}

// note adds a finding to the record. No policy reads it.
func (c *Call) note(name string) {
	if !slices.Contains(c.noted, name) {
		c.noted = append(c.noted, name)
	}
}

// Found returns the labels since the last time, and what else is to be recorded.
func (c *Call) Found() (labels, noted []string) {
	labels, noted = c.labels, c.noted
	c.labels, c.noted = nil, nil
	return labels, noted
}

// Refusal is the error of a hook that a client gets.
type Refusal struct {
	// Reason is for people; "" for none.
	Reason string
}

func (e *Refusal) Error() string { return strings.TrimSuffix("refused: "+e.Reason, ": ") }

// Refused is a refusal, and which hook it is of.
type Refused struct {
	*Refusal
	Hook string
}

// Fault is that a hook has failed. Its text says which, and nothing of what it has said.
type Fault struct {
	Hook string
	// Cause is for the log.
	Cause error
}

func (e *Fault) Error() string { return fmt.Sprintf("hook %q has failed", e.Hook) }

// ExitKind is the kind of the failure; see ability.ExitKind.
func (*Fault) ExitKind() string { return "hook" }

// Named is a hook and what it is called.
type Named struct {
	// Name has letters, digits, '-', '_' and '.', and is nobody else's.
	Name string
	Hook Hook
}

// Registry holds the hooks in use. All methods may be called concurrently. A nil one
// has none.
type Registry struct{ set atomic.Pointer[Set] }

// Set is the hooks of a configuration. Nil has none.
type Set struct {
	all []Named
	of  sync.Map // the *Chain of a tool, by its key
}

type key struct{ server, tool string }

// Replace sets the hooks. What was made of the set before is to be made
// again.
func (r *Registry) Replace(all []Named) error {
	for i, n := range all {
		switch {
		case n.Hook == nil:
			return fmt.Errorf("hook %q: there is none", n.Name)
		case !IsName(n.Name):
			return fmt.Errorf("hook %q: a name has letters, digits, '-', '_' and '.'", n.Name)
		case slices.ContainsFunc(all[:i], func(o Named) bool { return o.Name == n.Name }):
			return fmt.Errorf("hook %q: there are two with this name", n.Name)
		}
	}
	if len(all) == 0 {
		r.set.Store(nil)
		return nil
	}
	r.set.Store(&Set{all: slices.Clone(all)})
	return nil
}

// IsName reports whether a hook may have a name.
func IsName(name string) bool {
	return name != "" && len(name) <= 64 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == ""
}

// Now returns the hooks that count, nil for none.
func (r *Registry) Now() *Set {
	if r == nil {
		return nil
	}
	return r.set.Load()
}

// Of returns what looks into the calls of a tool that a server lists, nil for nothing.
// definition is the tool as the server has sent it, nil for one that it does not list.
func (s *Set) Of(server, tool, exposed string, definition []byte) *Chain {
	if s == nil {
		return nil
	}
	t := Target{Server: server, Tool: tool, Exposed: exposed}
	if at, err := rawjson.Field(definition, "annotations"); err == nil && at.Present() {
		t.Annotations = at.Of(definition)
	}
	c := &Chain{Target: t}
	for _, n := range s.all {
		wanted := wants(n, t)
		if wanted&PhaseRequest != 0 {
			c.request = append(c.request, n)
		}
		if wanted&PhaseResponse != 0 {
			c.response = append(c.response, n)
		}
	}
	if c.request == nil && c.response == nil {
		c = nil
	}
	if definition != nil {
		s.of.Store(key{server, tool}, c)
	}
	return c
}

// OfTask is Of for a task, by the tool of its call, "" for not known.
func (s *Set) OfTask(server, tool string) *Chain {
	if s == nil {
		return nil
	}
	if known, ok := s.of.Load(key{server, tool}); ok {
		return known.(*Chain) //nolint:forcetypeassert // it has nothing else
	}
	return s.Of(server, tool, tool, nil)
}

// wants asks a hook what it wants. One that cannot say is asked about each call.
func wants(n Named, t Target) (p Phases) {
	defer func() {
		if recover() != nil {
			p = PhaseRequest | PhaseResponse
		}
	}()
	return n.Hook.Wants(t)
}

// Chain is the hooks that want the calls of a tool. It is immutable.
type Chain struct {
	Target            Target
	request, response []Named
}

// Request asks about a request. The error is a *Refused, a *Fault, or that of ctx.
func (h *Chain) Request(ctx context.Context, c *Call) error {
	for _, n := range h.request {
		params := c.Params
		if err := ask(ctx, n, c, Hook.Request); err != nil {
			return err
		}
		if err := changed(params, c.Params); err != nil {
			return &Fault{n.Name, err}
		}
		c.Result, c.Err = nil, nil
	}
	return nil
}

// changed returns what is wrong with the params that a hook has left, nil for nothing.
func changed(before, after []byte) error {
	if same(before, after) {
		return nil
	}
	if !rawjson.IsObject(after) || rawjson.Valid(after) != nil {
		return errors.New("its params are no object")
	}
	was, _ := rawjson.FieldString(before, "name")
	if name, ok := rawjson.FieldString(after, "name"); !ok || name != was {
		return errors.New("it names another tool")
	}
	if at, err := rawjson.Field(after, "arguments"); err != nil || at.Present() && !rawjson.IsObject(at.Of(after)) {
		return errors.New("its arguments are no object")
	}
	return nil
}

// Response asks about what has come of a call.
func (h *Chain) Response(ctx context.Context, c *Call) error {
	for _, n := range h.response {
		params, result, failure := c.Params, c.Result, c.Err
		if err := ask(ctx, n, c, Hook.Response); err != nil {
			return err
		}
		c.Params = params
		switch {
		case failure != nil:
			if c.Result = nil; c.Err == nil {
				return &Fault{n.Name, errors.New("it has made a success of a failure")}
			}
		case c.Err != nil:
			return &Fault{n.Name, errors.New("it has made a failure of a result")}
		case !same(result, c.Result) && (!rawjson.IsObject(c.Result) || rawjson.Valid(c.Result) != nil):
			return &Fault{n.Name, errors.New("its result is no object")}
		}
	}
	return nil
}

// Responds reports whether anything wants to see what comes of calls.
func (h *Chain) Responds() bool { return h != nil && len(h.response) > 0 }

// same reports whether two texts are the same bytes of memory.
func same(a, b []byte) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// ask asks one hook. A panic of it is a fault.
func ask(ctx context.Context, n Named, c *Call, phase func(Hook, context.Context, *Call) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &Fault{n.Name, fmt.Errorf("it has panicked with a %T", r)} // whose text may be of the call
		}
	}()
	err = phase(n.Hook, ctx, c)
	switch refusal, ok := errors.AsType[*Refusal](err); {
	case err == nil:
		return nil
	case ok:
		return &Refused{refusal, n.Name}
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return &Fault{n.Name, err}
}
