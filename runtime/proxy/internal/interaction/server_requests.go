package interaction

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/internal/ability"
	"github.com/mcpctl/mcpctl/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// ServerRequests answers what servers ask and takes what they log without naming a call, and
// keeps the log levels of clients. All methods may be called concurrently.
type ServerRequests struct {
	set *upstream.Set
	may May

	mu     sync.Mutex                          // guards levels
	levels map[*upstream.Client]revision.Level // that clients have asked for
}

// May refuses a question of a server to a client. done is called with what comes of it, and
// returns that, or why the server must not have the answer.
type May func(ctx context.Context, from *upstream.Caller, server, method string) (done func(error) error, err error)

// New returns the desk of a set of backends.
func New(set *upstream.Set, may May) *ServerRequests {
	return &ServerRequests{set: set, may: may, levels: map[*upstream.Client]revision.Level{}}
}

// Forget drops the level of a client whose session is over.
func (d *ServerRequests) Forget(client *upstream.Client) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.levels, client)
}

// Question answers a request of the server that names no call. It goes to the one
// client whose it can be, and to nobody where there are several (2025-11-25 has no
// word on it; SEP-2260 demands a call).
func (d *ServerRequests) Question(ctx context.Context, c *upstream.Conn, method string, params json.RawMessage) (json.RawMessage, error) {
	b := c.Slot.Backend
	if c.IsOpened() { // else there is no client of it yet
		if t, ok := c.Client.Transport().(ability.TaskOf); ok {
			if h := t.TaskOf(params); h != nil { // the wire tells
				return h.Request(ctx, nil, method, params)
			}
		}
	} else { // no client's call can have gone over it
		if c.Owner() == nil {
			return d.outside(method)
		}
		select {
		case <-c.Opened:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	asking, cancel := context.WithCancel(ctx)
	defer cancel()
	a, several := c.SoleClient(jsonrpc.BegunAtRead(ctx), cancel)
	if a == nil && !several {
		if owner := c.Owner(); owner != nil {
			return d.askOwner(ctx, c, owner, method, params)
		}
		return d.outside(method)
	}
	if c.Slot.Owner == nil && !c.Slot.Exclusive {
		b.Pool.SetAsksClients(c, true)
	}
	if several {
		return nil, &runtime.Error{Code: runtime.CodeInvalidRequest, Message: method + " cannot be told to belong to one of the clients with calls in flight"}
	}
	if method == revision.MethodRootsList && (a.From.Ask == nil || revision.MissingFor(method, params, a.From.Capabilities) != nil) {
		return d.outside(method) // it may have nothing to do with the calls
	}
	defer a.Suspend()()
	from := a.From
	from.Refuse = a.Refuse
	result, err := d.Put(asking, c, &from, method, params)
	if asking.Err() == nil || ctx.Err() != nil || method != revision.MethodRootsList {
		return result, err
	}
	// The calls have ended, and servers ask for roots outside of them, too.
	if owner := c.Owner(); owner != nil {
		return d.askOwner(ctx, c, owner, method, params)
	}
	return d.set.Roots(), nil
}

// outside answers a question that belongs to no call and to no client: roots are
// those configured, since some servers ask for them as soon as they are
// initialized.
func (d *ServerRequests) outside(method string) (json.RawMessage, error) {
	if method == revision.MethodRootsList {
		return d.set.Roots(), nil
	}
	return nil, &runtime.Error{Code: runtime.CodeInvalidRequest, Message: method + " belongs to no call: there is nobody to ask"}
}

// askOwner puts a question that belongs to no call to the client whose own the
// connection is.
func (d *ServerRequests) askOwner(ctx context.Context, c *upstream.Conn, owner *upstream.Client, method string, params json.RawMessage) (json.RawMessage, error) {
	from := upstream.Caller{Client: owner, Audience: owner.Audience(), Ask: func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
		return owner.Ask(ctx, owner.Push, method, params)
	}}
	from.Version, from.Capabilities = owner.TermsOf()
	if revision.MissingFor(method, params, from.Capabilities) != nil {
		return d.outside(method)
	}
	return d.Put(ctx, c, &from, method, params)
}

// Put puts a question of the server to a client, in the words of the client's
// revision. A client of the modern era that has not declared what is asked for
// learns that from the error its call ends with.
func (d *ServerRequests) Put(ctx context.Context, c *upstream.Conn, from *upstream.Caller, method string, params json.RawMessage) (json.RawMessage, error) {
	if from.Ask == nil {
		return nil, &runtime.Error{Code: runtime.CodeMethodNotFound, Message: "the client cannot be asked for " + method}
	}
	done, err := d.may(ctx, from, c.Slot.Backend.Name, method)
	if err != nil { // why is for nobody at the server
		return nil, &runtime.Error{Code: runtime.CodeInvalidRequest, Message: "the client is not to be asked for " + method}
	}
	result, err := d.put(ctx, c, from, method, params)
	if err = done(err); err != nil {
		return nil, err
	}
	return result, nil
}

// put is Put for what the client may be asked.
func (d *ServerRequests) put(ctx context.Context, c *upstream.Conn, from *upstream.Caller, method string, params json.RawMessage) (json.RawMessage, error) {
	q := revision.Question{From: c.Version, To: from.Version, Method: method, Capabilities: from.Capabilities}
	if b := c.Slot.Backend; len(d.set.All()) > 1 {
		q.Name = b.Name
	}
	out, err := q.Params(withoutContext(method, params))
	if err != nil {
		rpc, ok := errors.AsType[*runtime.Error](err)
		if !ok || rpc.Code != runtime.CodeMissingCapability || c.Modern() {
			return nil, err
		}
		if method == revision.MethodRootsList && d.set.HasRoots() {
			return d.set.Roots(), nil // in the place of a client that has none
		}
		if from.Modern() && from.Refuse != nil {
			from.Refuse(rpc)
		}
		return nil, undeclared(method, params)
	}
	defer keepOpen(ctx, c, params)()
	c.Promise(from.Client, method, out)
	if from.Client != nil { // nobody answers for a client that is gone
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(from.Client.State.Life, cancel)()
	}
	result, err := from.Ask(ctx, method, out)
	if err != nil {
		return nil, err
	}
	return q.Reply(result)
}

// progressEvery is how often a server hears that its question is still open:
// most give their own requests up after 60 s.
const progressEvery = 15 * time.Second

// keepOpen sends a server progress on its own question, where it has asked for
// that, until stop: a person may think for longer than the server would wait.
func keepOpen(ctx context.Context, c *upstream.Conn, params json.RawMessage) (stop func()) {
	meta, err := rawjson.Field(params, "_meta")
	if err != nil || !meta.Present() {
		return func() {}
	}
	at, err := rawjson.Field(meta.Of(params), "progressToken")
	if err != nil || !at.Present() {
		return func() {}
	}
	token := bytes.Clone(at.Of(meta.Of(params)))
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { // ended and waited for by stop
		defer close(done)
		t := time.NewTicker(progressEvery)
		defer t.Stop()
		for n := 1; ; n++ {
			select {
			case <-t.C:
			case <-ctx.Done():
				return
			}
			progress := append([]byte(`{"progressToken":`), token...)
			progress = strconv.AppendInt(append(progress, `,"progress":`...), int64(n), 10)
			// A server that is gone has ended the question as well.
			_ = c.Client.Transport().Notify(ctx, &runtime.Request{Method: revision.NotificationProgress, Params: append(progress, '}')})
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// undeclared refuses a question that the client has not declared to answer:
// -32601 for a method, -32602 for a mode of it (2025-11-25, Elicitation, Error
// Handling).
func undeclared(method string, params json.RawMessage) error {
	if at, err := rawjson.Field(params, "mode"); err == nil && at.Present() {
		return &runtime.Error{Code: runtime.CodeInvalidParams, Message: "the client does not support this mode of " + method}
	}
	return &runtime.Error{Code: runtime.CodeMethodNotFound, Message: "the client does not support " + method}
}

// withoutContext returns a question's params without the wish for context of other
// servers: behind a proxy "thisServer" would be all of them.
func withoutContext(method string, params json.RawMessage) json.RawMessage {
	if method != revision.MethodSamplingCreateMessage {
		return params
	}
	at, err := rawjson.Field(params, "includeContext")
	if err != nil || !at.Present() || string(at.Of(params)) == `"none"` {
		return params
	}
	return rawjson.Splice(nil, params, rawjson.Edit{Span: at, New: []byte(`"none"`)})
}

// RootsChanged tells the servers, in the background, of which a client has
// connections of its own, and which know of its roots, that these have changed.
// What comes while they are told counts once.
func (d *ServerRequests) RootsChanged(client *upstream.Client) {
	news := &client.State.RootsChanges
	if news.Add(1) > 1 || d.set.Lifetime.Err() != nil {
		return // the goroutine that tells them goes on
	}
	d.set.Work.Go(func() { // bounded by TellTime, and ends with the proxy
		for {
			n := news.Load()
			d.tellRoots(client)
			if news.CompareAndSwap(n, 0) {
				return
			}
		}
	})
}

func (d *ServerRequests) tellRoots(client *upstream.Client) {
	ctx, cancel := context.WithTimeout(d.set.Lifetime, limits.TellTime)
	defer cancel()
	defer context.AfterFunc(client.State.Life, cancel)()
	var wg sync.WaitGroup
	for _, b := range d.set.All() {
		for _, c := range b.Pool.Connections() {
			if c.Owner() != client || c.Modern() {
				continue
			}
			if at, err := rawjson.Field([]byte(c.Offer), "roots"); err == nil && at.Present() {
				wg.Go(func() {
					// One that is gone asks again when it is back.
					_ = c.Client.Transport().Notify(ctx, &runtime.Request{Method: revision.NotificationRootsListChanged})
				})
			}
		}
	}
	wg.Wait()
}
