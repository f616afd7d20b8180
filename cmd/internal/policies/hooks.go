package policies

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/mcpctl/mcpctl/cmd/internal/find"
	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/runtime/proxy"
)

// hookPolicies begins the ids of what hooks refuse.
const hookPolicies = "hook."

// hooked is serve.hooks, and what names and places of them depend on.
type hooked struct {
	all   []settings.HookEntry
	serve settings.Serve
	file  string
}

// decideHooks runs the rules on a call that policies let pass, as serve does: policies decide
// again where that has changed what they read. It returns what hooks look at besides.
func (l *loaded) decideHooks(ctx context.Context, r *request, d *decision) (unasked []string, err error) {
	if len(l.hooked.all) == 0 || r.action != policy.Call || !d.allowed() {
		return nil, nil
	}
	call := l.hookCall(r)
	looks, err := settings.HookLookInto(ctx, l.hooked.all, call)
	if err != nil {
		return nil, err
	}
	labels, _ := call.Found()
	var params callParams
	if err := json.Unmarshal(call.Params, &params); err != nil {
		return nil, err
	}
	if len(labels) > 0 || !bytes.Equal(params.Arguments, r.arguments) {
		again := *r
		again.arguments, again.found = params.Arguments, slices.Concat(r.found, labels)
		*d = l.decide(&again)
	}
	for _, h := range looks {
		switch blocks := h.Refused != nil; {
		case h.Unasked != "":
			unasked = append(unasked, h.Name+" "+h.Unasked)
		case h.Action == string(proxy.Block):
			forbid := &policy.Policy{ID: hookPolicies + h.Name, File: l.hooked.file, Line: h.Line}
			text := "context.found.contains(" + strconv.Quote(forbid.ID) + ")"
			d.Policies = append(d.Policies, policy.Applied{Policy: forbid, Holds: blocks, Conditions: []policy.Condition{{Text: text, Holds: blocks}}})
			if blocks {
				policies := []*policy.Policy{forbid}
				d.Outcome = policy.Outcome{Verdict: policy.Deny, By: policies, Reason: h.Refused.Reason}
				d.verdict, d.deciding, d.policies = deny, policies, ids(policies)
			}
		}
	}
	return unasked, nil
}

// hookCall returns the call as hooks see it.
func (l *loaded) hookCall(r *request) *proxy.HookCall {
	var servers, tools []string
	for _, e := range l.entries {
		servers = append(servers, e.Name)
	}
	for _, it := range l.items {
		if it.Kind == policy.Tool && it.Server == r.server {
			tools = append(tools, it.Name)
		}
	}
	at := slices.Index(tools, r.name)
	if at < 0 {
		at, tools = len(tools), append(tools, r.name)
	}
	exposed := find.ServeNames(l.hooked.serve, servers).Exposed(r.server, tools)[at]
	params, _ := json.Marshal(callParams{exposed, r.arguments}) // which are an object
	return &proxy.HookCall{Target: proxy.Target{Server: r.server, Tool: r.name, Exposed: exposed}, Params: params}
}

type callParams struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
}
