package upstream

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// Client is one client of the handshake era for as long as its session lasts:
// what initialize has settled, and the questions it has not answered yet.
type Client struct {
	id string // no other client of any process has it
	// Push sends the client a framed message that belongs to no request. It
	// must not wait.
	Push func(frame []byte) error
	// SendLater sends the client a notification that belongs to no request, later
	// where there is no way now. It must not wait. Nil: push does.
	SendLater func(method string, params []byte)

	State clientState

	Terms atomic.Pointer[Terms] // read with each call; nil before initialize

	since    time.Time                // when it came
	identity atomic.Pointer[identity] // nil where it has not said

	mu      sync.Mutex // guards what follows
	asked   uint64
	waiting map[string]chan clientAnswer // by the raw id of the question
}

// Terms are what initialize has settled.
type Terms struct {
	Version      string
	Capabilities json.RawMessage
}

// clientAnswer is a client's answer to a question: a result or an error object.
type clientAnswer struct{ result, object json.RawMessage }

func NewClient(push func(frame []byte) error) *Client {
	p := &Client{id: rand.Text(), Push: push, since: time.Now(), waiting: map[string]chan clientAnswer{}}
	p.State.Life, p.State.End = context.WithCancel(context.Background())
	return p
}

// SetTerms notes what an initialize request settles, and who the client says it is. A
// session has one: another would replace what the client has declared, so it gets
// an error, as in the official SDKs. A request that is refused for another reason
// settles nothing.
func (p *Client) SetTerms(line []byte, m *rawjson.Message) error {
	if claim, ok := rawjson.String(line, m.MetaVersion); ok && !slices.Contains(revision.LegacyVersions(), claim) {
		return nil // Proxy.serve refuses it
	}
	version, capabilities := InitializeTerms(line, m)
	if !p.Terms.CompareAndSwap(nil, &Terms{version, capabilities}) {
		return ErrInitialized
	}
	p.setIdentity(line, m)
	return nil
}

var ErrInitialized = &runtime.Error{Code: runtime.CodeInvalidRequest, Message: "the session is initialized already: a new one begins without Mcp-Session-Id, or on a new connection"}

// revision returns what initialize has settled, "" before it.
func (p *Client) Revision() string {
	version, _ := p.TermsOf()
	return version
}

// TermsOf gives what initialize has settled; "" and nil before it.
func (p *Client) TermsOf() (version string, capabilities json.RawMessage) {
	if t := p.Terms.Load(); t != nil {
		return t.Version, t.Capabilities
	}
	return "", nil
}

// Ask sends the client a request and waits for the answer. When ctx ends
// first, the client is told that nobody waits any more.
func (p *Client) Ask(ctx context.Context, send func(frame []byte) error, method string, params json.RawMessage) (json.RawMessage, error) {
	answered := make(chan clientAnswer, 1)
	p.mu.Lock()
	p.asked++
	id := strconv.Quote("mcpctl-" + strconv.FormatUint(p.asked, 10))
	p.waiting[id] = answered
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.waiting, id)
		p.mu.Unlock()
	}()
	if err := send(jsonrpc.AppendRequest(nil, []byte(id), method, params)); err != nil {
		return nil, err
	}
	select {
	case r := <-answered:
		if r.object != nil {
			return nil, runtime.ParseError(r.object)
		}
		return r.result, nil
	case <-ctx.Done():
		reason := rawjson.Quote([]byte(`{"requestId":`+id+`,"reason":`), jsonrpc.Reason(ctx))
		// The client may be gone: then there is nobody to tell.
		_ = send(jsonrpc.AppendNotification(nil, revision.NotificationCancelled, append(reason, '}')))
		return nil, ctx.Err()
	}
}

// Resolve hands an answer to whoever waits for it; one that nobody waits for
// is ignored (specification, Cancellation).
func (p *Client) Resolve(id, result, object []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.waiting[string(id)]; c != nil {
		delete(p.waiting, string(id))
		c <- clientAnswer{bytes.Clone(result), bytes.Clone(object)} // has room for one
	}
}

// InitializeTerms reads what an initialize request settles: the revision to speak, the
// newest where the client's is not ours, and what the client can be asked.
func InitializeTerms(line []byte, m *rawjson.Message) (version string, capabilities json.RawMessage) {
	version, _ = rawjson.String(line, m.ProtocolVersion)
	if !slices.Contains(revision.LegacyVersions(), version) {
		version = revision.LegacyVersions()[0]
	}
	if at, err := rawjson.Field(m.Params.Of(line), "capabilities"); err == nil && at.Present() {
		capabilities = bytes.Clone(at.Of(m.Params.Of(line)))
	}
	return version, capabilities
}
