// Package verdict is what policies say of requests: what they read of one, who asks the
// gate and the person behind a client, and a denial as an error of the protocol.
package verdict

import (
	"context"
	"net/netip"
	"time"

	"github.com/mcpctl/mcpctl/runtime/access"
	"github.com/mcpctl/mcpctl/runtime/access/flow"
	"github.com/mcpctl/mcpctl/runtime/access/gate"
	"github.com/mcpctl/mcpctl/runtime/access/policy"
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/asking"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/catalog"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/client"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// metaFlow is the member of a request's metadata that names the conversation.
const metaFlow = "dev.mcpctl/flow"

// Judge decides by the policies of a gate. All methods may be called concurrently. Errors
// are a *Denied, or those of the request's context.
type Judge struct {
	Gate    *gate.Gate
	Catalog *catalog.Publisher
}

// UseOf returns what policies read of a request for an item of a server. Line and m are the
// request's, nil and empty where it has none.
func UseOf(from *upstream.Origin, line []byte, m *rawjson.Message, server, item string) *gate.Use {
	u := &gate.Use{Server: server, Item: item, Flow: flowOf(from, line, m)}
	u.Principal, u.Now, u.Front = from.Who, time.Now(), from.Peer.Front
	u.Arguments = m.Arguments.Of(line)
	if at, err := netip.ParseAddrPort(from.Peer.Addr); err == nil {
		u.Addr = at.Addr().Unmap()
	}
	if at, err := rawjson.Field(m.Params.Of(line), "task"); err == nil {
		u.Task = at.Present()
	}
	return u
}

// flowOf returns the conversation that a request belongs to: its session, or the process
// whose client is on standard input and output. Of requests that stand alone it is what
// the client says it is, among those of one program of one principal.
func flowOf(from *upstream.Origin, line []byte, m *rawjson.Message) string {
	switch {
	case from.Peer.Front == client.FrontStdio:
		return flow.Key("stdio")
	case from.Client != nil:
		return flow.Key("session", from.Client.ID)
	}
	var program, named string
	if from.Who != nil {
		program = from.Who.Client
	}
	if at, err := rawjson.Field(m.Meta.Of(line), metaFlow); err == nil && at.Present() {
		named, _ = rawjson.String(m.Meta.Of(line), at)
	}
	return flow.Key("alone", from.Who.Key(), program, named)
}

// Decide asks the gate about a use under conditions, nil for none, and a person where the
// gate wants that.
func (j Judge) Decide(ctx context.Context, from *upstream.Origin, c *policy.Conditions, use *gate.Use, k inventory.Kind) error {
	if c == nil {
		return nil
	}
	q, err := j.Gate.Decide(c, use)
	if err == nil && q != nil {
		var answer gate.Answer
		if answer, err = asking.Person(ctx, from, q); err == nil {
			err = j.Gate.Answered(q, answer)
		}
	}
	return Named(err, k)
}

// DecideNow is Decide where nobody can be waited for.
func (j Judge) DecideNow(c *policy.Conditions, use *gate.Use, k inventory.Kind) error {
	if c == nil {
		return nil
	}
	q, err := j.Gate.Decide(c, use)
	if err == nil && q != nil {
		err = j.Gate.Answered(q, gate.Unasked)
	}
	return Named(err, k)
}

// Subscription decides about being told of changes of a resource.
func (j Judge) Subscription(ctx context.Context, from *upstream.Origin, to *catalog.Route) error {
	if to.Rules == nil {
		return nil
	}
	use := UseOf(from, nil, new(rawjson.Message), to.Backend.Name, to.Bare)
	return j.Decide(ctx, from, to.Rules.Use, use, inventory.Resources)
}

// May decides about what is done with a server itself.
func (j Judge) May(ctx context.Context, from *upstream.Origin, action policy.Action, server string) error {
	c, err := j.on(from.Who, action, server)
	if c == nil {
		return err
	}
	return j.Decide(ctx, from, c, UseOf(from, nil, new(rawjson.Message), server, ""), inventory.Kinds)
}

// MayNow is May where nobody can be waited for.
func (j Judge) MayNow(from *upstream.Origin, action policy.Action, server string) error {
	c, err := j.on(from.Who, action, server)
	if c == nil {
		return err
	}
	return j.DecideNow(c, UseOf(from, nil, new(rawjson.Message), server, ""), inventory.Kinds)
}

// on returns the conditions of an action on a server, or why it is denied whatever the
// request.
func (j Judge) on(who *access.Principal, action policy.Action, server string) (*policy.Conditions, error) {
	possible, c := catalog.On(j.Catalog, who, action, server)
	if !possible {
		return nil, &Denied{Denied: &access.Denied{Code: access.CodeDenied, Server: server}}
	}
	return c, nil
}

// Delivers reports whether results under rules, nil for none, are looked at.
func (j Judge) Delivers(rules *catalog.Rules) bool {
	return rules != nil && rules.Delivers() || j.Gate.Guarded()
}

// Deliver returns what policies let pass of the result of a use, nil rules for none.
func (j Judge) Deliver(rules *catalog.Rules, use *gate.Use, result []byte, k inventory.Kind) ([]byte, error) {
	if !j.Delivers(rules) {
		return result, nil
	}
	if rules == nil {
		rules = new(catalog.Rules)
	}
	out, err := j.Gate.Deliver(rules.Deliver, rules.Marks, use, result)
	return out, Named(err, k)
}
