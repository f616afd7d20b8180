package policies

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/internal/clitool"
	"github.com/mcpctl/mcpctl/internal/lockfile"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// Refusal is what policies say of a request: ours, or those of another mcpctl.
type Refusal struct {
	rpc  *runtime.Error
	Kind string // denied, limit or unrecorded
	hint string
}

// Error returns the reason as it was given.
func (r *Refusal) Error() string { return r.rpc.Message }

// Unwrap returns the JSON-RPC error.
func (r *Refusal) Unwrap() error { return r.rpc }

// ExitKind is that of all refusals.
func (*Refusal) ExitKind() string { return "denied" }

// Hint returns the command that explains it.
func (r *Refusal) Hint() string { return r.hint }

// Refused returns the error of a request to a server as a [*Refusal] where it is one. server
// is the name that our policies know it by.
func Refused(err error, server string) error {
	rpc, ok := errors.AsType[*runtime.Error](err)
	if !ok || rpc.Code != access.CodeDenied && rpc.Code != access.CodeLimited && rpc.Code != access.CodeUnrecorded {
		return err
	}
	var data struct{ Kind, Server, Tool, Prompt, URI string }
	if json.Unmarshal(rpc.Data, &data) != nil || data.Kind != "denied" && data.Kind != "limit" && data.Kind != "unrecorded" {
		return err
	}
	r := &Refusal{rpc: rpc, Kind: data.Kind}
	if data.Kind == "unrecorded" {
		r.hint = "mcpctl doctor says what is wrong with it"
		return r
	}
	if data.Server != server {
		return r // of another mcpctl: its policies are there
	}
	switch {
	case data.Tool != "":
		r.hint = "call " + word(server+"/"+data.Tool)
	case data.Prompt != "":
		r.hint = "get " + word(server+"/"+data.Prompt)
	case data.URI != "":
		r.hint = "read " + word(server+"/"+data.URI)
	default:
		return r
	}
	r.hint = "mcpctl policy explain " + r.hint + " --as local"
	return r
}

// Hidden returns why the policies keep an item from whoever uses this machine, as a
// [*Refusal]; nil where they do not. items are those of a list as the server has sent it, nil
// where that is not known, and member is that of the list in a result, such as tools.
// Strangers are told that there is no such item, as [Policies.Connect] does.
func (p *Policies) Hidden(entry config.Entry, member, name string, items []json.RawMessage) error {
	l, ok := lockfile.ListOf(member)
	if concern, err := p.Concern(entry); err != nil || !ok || !concern {
		return err
	}
	all := ItemsOf(entry, l, items)
	i := slices.IndexFunc(all, func(it policy.Item) bool { return it.Name == name })
	switch {
	case i >= 0:
	case items != nil:
		return nil // the server has none either
	default: // what the policies say of the name, all that is known
		i, all = 0, []policy.Item{{Kind: kindOf(l), Server: entry.Name, Name: name}}
	}
	view := p.read.Set.Snapshot([]policy.Server{ServerOf(entry)}, all).View(nil)
	why := view.Explain(all[i].Kind.Action(), all[i], &policy.Request{Now: time.Now()})
	if why.Visible || items == nil && len(why.Outcome.By) == 0 { // no rule allows a name that may not exist
		return nil
	}
	denied := access.Denied{Code: access.CodeDenied}
	if !p.read.Quiet {
		if denied.Reason = why.Outcome.Reason; len(why.Outcome.By) > 0 {
			denied.Policy = why.Outcome.By[0].ID
		}
	}
	verb := map[policy.Kind]string{policy.Tool: "call ", policy.Prompt: "get "}[all[i].Kind]
	return &Refusal{
		rpc: &runtime.Error{Code: denied.Code, Message: denied.Error()}, Kind: "denied",
		hint: "mcpctl policy explain " + verb + word(entry.Name+"/"+name) + " --as local",
	}
}

// Unread refuses to run a server whose messages nobody reads, where a policy is about it;
// with noPolicy that is said, and the server runs. command is the one that is refused.
func (p *Policies) Unread(entry config.Entry, command string, noPolicy bool, say func(format string, a ...any)) error {
	concern, err := p.Concern(entry)
	switch {
	case noPolicy:
		say("warning: --no-policy: no policy decides about %s", entry.Name)
		concern = false
	case err != nil:
		return err
	}
	if !concern {
		if command != "run" { // others read what is said, and record it
			return nil
		}
		return p.recordUnread(entry, command)
	}
	remedy := "mcpctl bridge " + word(entry.Name) + " obeys them; --no-policy does without"
	if entry.File == "" {
		remedy = "add it to servers.json: mcpctl bridge SERVER obeys them; --no-policy does without"
	}
	return &ui.Error{Kind: "denied", Err: fmt.Errorf("policies are about %s, and %s does not read what is said", entry.Name, command), Remedy: remedy}
}

func word(w string) string { return clitool.Line([]string{w}) }
