package authorize

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/netip"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/access/gate"
	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/internal/audit/journal"
	"github.com/mcpctl/mcpctl/internal/deadline"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/catalog"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/client"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// Asked is a request as it is recorded.
type Asked struct {
	// Kind is the action, From who asks: of that Who, Client, Peer and Version are read.
	Kind audit.Kind
	From upstream.Caller
	// Meta is the metadata of the request, nil where there is none but the protocol's own.
	Meta []byte
	// To is where it leads, in the list K. Where it is nil, Server and Item say that.
	To           *catalog.Route
	K            inventory.Kind
	Server, Item string
	// Through is the tool of the proxy's own inside whose call it was, "" for none.
	Through string
	// Arguments are those that the server gets.
	Arguments []byte
	// Use is what policies have read of it, nil where none had to.
	Use *gate.Use
	// Found is what hooks have found in it.
	Found []string
	// Verdict is "" where no policy was asked, By who has decided where Use does not say.
	Verdict string
	By      []string
	Scopes  []string
}

// MetaOf returns the metadata of a request, nil where there is none but the protocol's own.
func MetaOf(line []byte, m *rawjson.Message) []byte {
	if m.MetaOthers == 0 {
		return nil
	}
	return m.Meta.Of(line)
}

// ActionOf returns the kind of record for the use of an item of a list.
func ActionOf(k inventory.Kind) audit.Kind {
	return [inventory.Kinds + 1]audit.Kind{audit.KindCall, audit.KindGet, audit.KindRead, audit.KindRead, audit.KindOperate}[k]
}

// Allowed is the verdict about what was let through.
func (j *Authorizer) Allowed() string {
	if j.Gate.Set() == nil {
		return ""
	}
	return audit.VerdictAllow
}

// Begin records a request that is let through, before anything of it is sent. It does not
// wait. The error is journal.ErrUnwritten: then the request may be let through where it can
// wait, see BeginPatiently.
func (j *Authorizer) Begin(a *Asked) (journal.Ticket, error) {
	if j.Journal == nil {
		return journal.Ticket{}, nil
	}
	d := journal.Request{
		Kind: a.Kind, Principal: j.asker(a), Arguments: a.Arguments,
		Target:   audit.Target{Server: a.Server, Item: a.Item, Era: a.From.Version, View: a.From.View, Through: a.Through},
		Decision: audit.Decision{Verdict: a.Verdict, By: a.By, Scopes: a.Scopes, Generation: j.Gate.Set().Digest()},
	}
	if to := a.To; to != nil {
		d.Target.Server, d.Target.Item, d.Target.Definition = to.Backend.Name, to.Bare, to.Digest(a.K)
	}
	if a.Kind == audit.KindRead || a.K == inventory.Resources || a.K == inventory.Templates {
		d.Target.Item = withoutQuery(d.Target.Item)
	}
	if u := a.Use; u != nil {
		d.Decision.Seen, d.Decision.Found, d.Decision.Would = u.Seen, u.Found, idsOf(u.Would)
		if a.By == nil {
			d.Decision.By = idsOf(u.By)
		}
	}
	if len(a.Found) > 0 {
		d.Decision.Found = slices.Concat(d.Decision.Found, a.Found)
		slices.Sort(d.Decision.Found)
		d.Decision.Found = slices.Compact(d.Decision.Found)
	}
	if len(d.Decision.By) == 0 && a.To != nil && a.Verdict == audit.VerdictAllow {
		d.Decision.By = j.Catalog.By(a.From.Audience, a.K, a.To)
	}
	trace := a.trace()
	d.Target.Trace = string(trace)
	return j.Journal.Begin(&d)
}

// asker returns who has made a request.
func (j *Authorizer) asker(a *Asked) audit.Principal {
	out := audit.Principal{ID: access.Local, Flow: j.flow(a)}
	if principal := a.From.Who; principal != nil {
		out.ID, out.Name, out.Groups, out.Client, out.Via = principal.ID, principal.Name, principal.Groups, principal.Client, principal.Provider
	}
	if a.From.Peer.Addr == "" {
		return out
	}
	if at, err := netip.ParseAddrPort(a.From.Peer.Addr); err == nil {
		out.Addr = at.Addr().Unmap()
	}
	return out
}

func idsOf(all []*policy.Policy) (out []string) {
	for _, p := range all {
		out = append(out, p.ID)
	}
	return out
}

// maxFlows bounds the names of conversations that are kept.
const maxFlows = 16 << 10

// flow returns a short name of the conversation of a request: see flowOf.
func (j *Authorizer) flow(a *Asked) string {
	switch {
	case a.From.Peer.Transport == client.TransportStdio:
		return ofStdio
	case a.From.Client != nil:
		return a.From.Client.Flow(func(id string) string { return short(gate.FlowKey("session", id)) })
	case a.Meta != nil: // the client may say which it is
		return short(flowOf(&a.From, a.Meta))
	}
	if known, ok := j.flows.Load(a.From.Who); ok {
		return known.(string) //nolint:forcetypeassert // it has nothing else
	}
	out := short(flowOf(&a.From, nil))
	if j.numFlows.Add(1) > maxFlows {
		j.flows.Clear()
		j.numFlows.Store(1)
	}
	j.flows.Store(a.From.Who, out)
	return out
}

var ofStdio = short(gate.FlowKey("stdio")) //nolint:gochecknoglobals // constant

// short returns what stands for the key of a conversation.
func short(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:8])
}

// trace returns the trace id that the client sent, nil for none (W3C, Trace Context:
// VERSION-TRACEID-PARENT-FLAGS).
func (a *Asked) trace() []byte {
	if a.Meta == nil {
		return nil
	}
	at, err := rawjson.Field(a.Meta, "traceparent")
	if raw := at.Of(a.Meta); err == nil && len(raw) >= 4+32 && raw[0] == '"' && raw[3] == '-' && raw[4+32] == '-' {
		if id := raw[4 : 4+32]; strings.Trim(string(id), "0123456789abcdef") == "" {
			return id
		}
	}
	return nil
}

// withoutQuery returns a URI without its query, fragment and user.
func withoutQuery(uri string) string {
	if i := strings.IndexAny(uri, "?#"); i >= 0 {
		uri = uri[:i]
	}
	if scheme, rest, ok := strings.Cut(uri, "://"); ok {
		host, _, _ := strings.Cut(rest, "/")
		if at := strings.LastIndexByte(host, '@'); at >= 0 {
			return scheme + "://" + rest[at+1:]
		}
	}
	return uri
}

// BeginPatiently is Begin for a request that can wait: for room in the journal, and until
// the record is safe. The error is a *Denied, or that of the context.
func (j *Authorizer) BeginPatiently(ctx context.Context, a *Asked) (journal.Ticket, error) {
	t, err := j.Begin(a)
	if errors.Is(err, journal.ErrUnwritten) && j.Journal.Wait(ctx, t) == nil {
		t, err = j.Begin(a)
	}
	if err == nil && j.Journal.Waits() {
		if err = j.Journal.Wait(ctx, t); err != nil {
			_ = j.Journal.End(t, audit.Outcome{Out: outcomeOf(err)}, nil) // nothing is sent
		}
	}
	switch {
	case err == nil:
		return t, nil
	case ctx.Err() != nil:
		return journal.Ticket{}, deadline.Cause(ctx)
	}
	return journal.Ticket{}, Unrecorded()
}

// Unrecorded refuses what cannot be recorded.
func Unrecorded() error {
	return &Denied{Denied: &access.Denied{Code: access.CodeUnrecorded}}
}

// Refuse records that a request is refused, and returns why, with the name of the record. It
// reports false for what is no refusal.
func (j *Authorizer) Refuse(ctx context.Context, a *Asked, why error) (recorded bool, _ error) {
	if j.Journal == nil {
		return false, why
	}
	refusal, denied := errors.AsType[*Denied](why)
	rpc, unknown := errors.AsType[*runtime.Error](why)
	switch {
	case denied && refusal.Code == access.CodeUnrecorded:
		return true, why
	case denied:
		a.Verdict, a.Scopes = audit.VerdictDeny, refusal.Scopes
		if refusal.Code == access.CodeLimited {
			a.Verdict = audit.VerdictLimit
		}
		if a.To == nil && a.Server == "" {
			a.Server, a.Item = refusal.Server, refusal.Item
		}
		if a.Use == nil && a.By == nil || strings.HasPrefix(refusal.Policy, ownPolicies) || strings.HasPrefix(refusal.Policy, ofHook) {
			a.By = []string{refusal.Policy}[:min(1, len(refusal.Policy))]
		}
	case unknown && a.To == nil && (rpc.Code == runtime.CodeInvalidParams || rpc.Code == runtime.CodeResourceNotFound):
		a.Verdict = audit.VerdictDeny
		if server, item, policies := j.Catalog.Hidden(a.From.Audience, a.K, a.Item); server != "" {
			a.Server, a.Item, a.By = server, item, policies
		}
		a.Item = plain.Clip(a.Item, maxItem)
	default:
		return false, why
	}
	t, err := j.BeginPatiently(ctx, a)
	if err == nil && denied {
		refusal.Record = j.Journal.Ref(t)
	}
	return true, why
}

const (
	// ownPolicies begins the ids of what refuses and is no policy of the configuration.
	ownPolicies = "mcpctl."
	// maxItem bounds a name that nobody knows, in bytes.
	maxItem = 2 << 10
)

// End records what has come of a request, before it is answered. err is what it failed with,
// nil for a result. It does not wait. The error is that it cannot be recorded: then the
// client gets that.
func (j *Authorizer) End(t journal.Ticket, result []byte, err error) error {
	if t.N == 0 {
		return nil
	}
	out := outcomeOf(err)
	if err == nil && isToolError(result) {
		out = audit.OutToolError
	}
	if j.Journal.End(t, audit.Outcome{Out: out}, result) != nil {
		return Unrecorded()
	}
	return nil
}

// EndPatiently is End that waits until the record is safe.
func (j *Authorizer) EndPatiently(ctx context.Context, t journal.Ticket, result []byte, err error) error {
	if refused := j.End(t, result, err); refused != nil || t.N == 0 || !j.Journal.Waits() {
		return refused
	}
	if j.Journal.Wait(context.WithoutCancel(ctx), t) != nil {
		return Unrecorded()
	}
	return nil
}

// outcomeOf returns what has come of a request that ended with an error, nil for none.
func outcomeOf(err error) string {
	if err == nil {
		return audit.OutOK
	}
	_, timeout := errors.AsType[*runtime.TimeoutError](err)
	_, answered := errors.AsType[*runtime.Error](err)
	switch {
	case timeout, errors.Is(err, context.DeadlineExceeded):
		return audit.OutTimeout
	case errors.Is(err, upstream.ErrCancelled), errors.Is(err, upstream.ErrSessionEnded), errors.Is(err, upstream.ErrProxyClosed), errors.Is(err, context.Canceled):
		return audit.OutCancelled
	case answered, errors.Is(err, runtime.ErrNotSent):
		return audit.OutError
	case errors.Is(err, runtime.ErrClosed):
		return audit.OutLost
	}
	return audit.OutError
}

// maxLook bounds what is read of a result to know whether it is an error, at its beginning
// and at its end.
const maxLook = 64 << 10

// isToolError reports whether a result says that a tool has failed. Of a large result only
// the beginning and the end are looked at, where servers write it.
func isToolError(result []byte) bool {
	if len(result) > 2*maxLook {
		return failsIn(result[:maxLook]) || failsIn(result[len(result)-maxLook:])
	}
	if !failsIn(result) {
		return false
	}
	at, err := rawjson.Field(result, "isError") // not that of something inside
	return err == nil && string(at.Of(result)) == "true"
}

// failsIn reports whether a part of a result has a member that says so.
func failsIn(part []byte) bool {
	for {
		_, rest, found := bytes.Cut(part, []byte(`"isError"`))
		if !found {
			return false
		}
		if bytes.HasPrefix(bytes.TrimLeft(rest, ": \t\r\n"), []byte("true")) {
			return true
		}
		part = rest
	}
}
