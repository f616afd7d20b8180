package proxy

import (
	"context"
	"encoding/json"

	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/hooks"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/router"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// Hook looks into calls of tools, in the order
//
//	policy → Request → server → Response → guards and policies about the result
//
// Its methods may be called concurrently. A hook sees only calls that policies let pass. What
// it changes goes past policies again. A panic is an error.
//
//	Wants(Target) Phases
//	Request(ctx context.Context, c *HookCall) error
//	Response(ctx context.Context, c *HookCall) error
//
// Wants is asked once per tool, when what servers offer has changed: calls of tools that no
// hook wants cost nothing more. Request may replace c.Params, Response c.Result, or c.Err by
// another error. An error ends the call: a [*Refusal] is shown to the client, as the error
// access.CodeDenied with {"kind":"denied","hook":NAME}. Others are faults: they are logged, and
// the client learns the name of the hook alone. Response is not called after an error of
// Request, for a call that ends at a login, and for what is no result yet: a question, or a
// task. It is called each time that a client asks for a task that has ended.
type Hook = hooks.Hook

// Target is a tool: Server and Tool are the server's names, Exposed is what clients call it
// that have no view, Annotations the raw object of the server or nil. Tool is "" for a task
// whose call is not known any more: a hook says what it wants of any tool of that server then.
type Target = hooks.Target

// Phases says when a hook looks into a call: a bit set, 0 for never.
type Phases = hooks.Phases

// Phases of a call.
const (
	PhaseRequest  = hooks.PhaseRequest
	PhaseResponse = hooks.PhaseResponse
)

// HookCall is a call of a tool as its hooks see it, one after another. ID is a UUID that is
// the same in both phases. Principal is the ID of who calls, "" where nobody is asked who they
// are; Client the program as it says of itself, "" for unknown. Params is a raw object without
// the protocol's metadata; of a replaced one only arguments count, and name must stay. Result
// is a raw object, nil in Request, and where Err says why there is none. Bytes must not be
// changed in place, and not be kept. Label adds a label, which policies read as context.found.
type HookCall = hooks.Call

// Refusal is the error of a hook that the client gets, with its reason.
type Refusal = hooks.Refusal

// NamedHook is a hook and its name: letters, digits, '-', '_' and '.'.
type NamedHook = hooks.Named

// HookRule looks for a pattern in the strings of arguments or results, each as the text that it
// stands for, names of members among them; see [NewRule].
type HookRule = hooks.Rule

// HookPart is what a HookRule looks at.
type HookPart = hooks.Part

// HookAction is what follows where a HookRule finds something.
type HookAction = hooks.Action

// What a HookRule looks at, and what follows where it finds something: the call or result is
// refused, what was found is taken away (but from names), recorded, or the call gets the name
// of the rule as a label.
const (
	InArguments = hooks.InArguments
	InResult    = hooks.InResult
	InCall      = hooks.InCall
	Block       = hooks.Block
	Redact      = hooks.Redact
	Audit       = hooks.Audit
	Label       = hooks.Label
)

// NewRule returns the hook of a rule. Its error says what is wrong with it.
func NewRule(r HookRule) (Hook, error) { return hooks.NewMatch(r) }

// ServerHook is a hook that is a server with interceptors (SEP-2624, a draft); see
// [NewServerHook].
type ServerHook = hooks.External

// HookMode is the mode of a ServerHook.
type HookMode = hooks.Mode

// Modes of a ServerHook: what its server says counts, or is recorded alone.
const (
	HookEnforces = hooks.ModeEnforce
	HookAudits   = hooks.ModeAudit
)

// NewServerHook returns the hook of a server that ask reaches, such as [Proxy.Ask] of a proxy
// that stands for it alone. Its error says what is wrong with it.
func NewServerHook(o ServerHook, ask func(ctx context.Context, server, method string, params json.RawMessage) (json.RawMessage, error)) (Hook, error) {
	return hooks.NewExternal(o, ask)
}

// Start connects the servers that are to be connected without a call. Endpoints do that, too,
// when they have a client.
func (p *Proxy) Start() { p.router.Start(upstream.Audience{}) }

// Ask sends the server that the proxy stands for, see [Options.Single], a request of ours: one
// that no client has made. It is connected before, where it is not. The error is a
// *runtime.Error: the server's own, or -32000 and -32001 for a failure of the way to it.
func (p *Proxy) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	line := append(make([]byte, 0, len(params)+128), `{"jsonrpc":"2.0","id":0,"method":`...)
	line = rawjson.Quote(line, method)
	line = append(append(append(line, `,"params":`...), params...), '}')
	r := &router.Request{Line: line, Msg: new(rawjson.Message), Method: method, From: upstream.Caller{Version: revision.Latest}}
	if err := rawjson.Scan(line, r.Msg); err != nil {
		return nil, err
	}
	a := p.router.Serve(ctx, r)
	if a.Object != nil {
		return nil, runtime.ParseError(a.Object)
	}
	return a.Result, nil
}

// SetHooks sets the hooks, in their order. When it returns, new calls follow
// that; those under way end with the hooks that they began with. It fails, and changes nothing,
// for a name that is wrong or there twice.
func (p *Proxy) SetHooks(all []NamedHook) error {
	if err := p.hooks.Replace(all); err != nil {
		return err
	}
	p.router.Catalog.Repolicy()
	return nil
}
