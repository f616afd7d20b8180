// Package client is what the proxy knows of one client of the handshake era
// whatever servers it uses: what initialize has settled, who it says it is, and the
// questions that it has not answered yet. No other lock is taken under a Client's,
// and nothing is sent under it.
package client

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

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
)

// Client is one client of the handshake era for as long as its session lasts.
type Client struct {
	ID string // no other client of any process has it
	// Push sends the client a framed message that belongs to no request. It
	// must not wait.
	Push func(frame []byte) error
	// SendLater sends the client a notification that belongs to no request, later
	// where there is no way now. It must not wait. Nil: Push does.
	SendLater func(method string, params []byte)

	Terms atomic.Pointer[Terms] // read with each call; nil before initialize

	audience atomic.Pointer[Audience] // never nil
	since    time.Time                // when it came
	identity atomic.Pointer[identity] // nil where it has not said
	flow     atomic.Pointer[string]   // see Flow
	found    atomic.Pointer[[]string] // see Found
	long     atomic.Pointer[bool]     // see TooLong

	mu      sync.Mutex // guards what follows
	asked   uint64
	waiting map[string]chan answer // by the raw id of the question
}

// Terms are what initialize has settled.
type Terms struct {
	Version      string
	Capabilities json.RawMessage
}

// answer is a client's answer to a question: a result or an error object.
type answer struct{ result, object json.RawMessage }

// Peer is the way on which a request has come.
type Peer struct {
	// Transport is TransportStdio, TransportHTTP or TransportSSE.
	Transport string
	// Addr is HOST:PORT of who has connected, "" for none.
	Addr string
}

// Values of [Peer.Transport].
const (
	TransportStdio = "stdio"
	TransportHTTP  = "http"
	TransportSSE   = "sse"
)

// Who returns whose the session is, by the credential of the latest request; nil for one
// without a name.
func (cl *Client) Who() *access.Principal { return cl.audience.Load().Who }

// Audience returns what the session sees: as whom, and through which view.
func (cl *Client) Audience() Audience { return *cl.audience.Load() }

// SetAudience notes that.
func (cl *Client) SetAudience(a Audience) { cl.audience.Store(&a) }

// SetWho notes the credential of the latest request.
func (cl *Client) SetWho(principal *access.Principal) {
	for was := cl.audience.Load(); was.Who != principal; was = cl.audience.Load() {
		now := *was
		now.Who = principal
		cl.audience.CompareAndSwap(was, &now)
	}
}

// Flow returns the short name of the conversation that the session is, which made makes of
// its ID, once.
func (cl *Client) Flow(made func(id string) string) string {
	known := cl.flow.Load()
	if known == nil {
		name := made(cl.ID)
		known = &name
		cl.flow.Store(known)
	}
	return *known
}

// Init makes the zero Client one before initialize.
func (cl *Client) Init(push func(frame []byte) error) {
	cl.ID, cl.Push, cl.since, cl.waiting = rand.Text(), push, time.Now(), map[string]chan answer{}
	cl.audience.Store(new(Audience))
}

// SetTerms notes what an initialize request settles, and who the client says it is.
// A session has one: another would replace what the client has declared, so it gets
// an error, as in the official SDKs. A request that is refused for another reason
// settles nothing.
func (cl *Client) SetTerms(line []byte, m *rawjson.Message) error {
	if claim, ok := rawjson.String(line, m.MetaVersion); ok && !slices.Contains(revision.LegacyVersions(), claim) {
		return nil // the router refuses it
	}
	version, capabilities := TermsIn(line, m)
	if !cl.Terms.CompareAndSwap(nil, &Terms{version, capabilities}) {
		return ErrInitialized
	}
	cl.setIdentity(line, m)
	return nil
}

// ErrInitialized refuses a second initialize request of a session.
var ErrInitialized = &runtime.Error{Code: runtime.CodeInvalidRequest, Message: "the session is initialized already: a new one begins without Mcp-Session-Id, or on a new connection"}

// Revision returns the revision that initialize has settled, "" before it.
func (cl *Client) Revision() string {
	version, _ := cl.TermsOf()
	return version
}

// TermsOf returns what initialize has settled; "" and nil before it.
func (cl *Client) TermsOf() (version string, capabilities json.RawMessage) {
	if t := cl.Terms.Load(); t != nil {
		return t.Version, t.Capabilities
	}
	return "", nil
}

// TermsIn reads what an initialize request settles: the revision to speak,
// the newest where the client's is not ours, and what the client can be asked.
func TermsIn(line []byte, m *rawjson.Message) (version string, capabilities json.RawMessage) {
	version, _ = rawjson.String(line, m.ProtocolVersion)
	if !slices.Contains(revision.LegacyVersions(), version) {
		version = revision.LegacyVersions()[0]
	}
	if at, err := rawjson.Field(m.Params.Of(line), "capabilities"); err == nil && at.Present() {
		capabilities = bytes.Clone(at.Of(m.Params.Of(line)))
	}
	return version, capabilities
}

// Ask sends the client a request and waits for the answer. When ctx ends first, the
// client is told that nobody waits any more.
func (cl *Client) Ask(ctx context.Context, send func(frame []byte) error, method string, params json.RawMessage) (json.RawMessage, error) {
	answered := make(chan answer, 1)
	cl.mu.Lock()
	cl.asked++
	id := strconv.Quote("mcpctl-" + strconv.FormatUint(cl.asked, 10))
	cl.waiting[id] = answered
	cl.mu.Unlock()
	defer func() {
		cl.mu.Lock()
		delete(cl.waiting, id)
		cl.mu.Unlock()
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

// Resolve hands an answer to whoever waits for it; one that nobody waits for is
// ignored (specification, Cancellation).
func (cl *Client) Resolve(id, result, object []byte) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	if c := cl.waiting[string(id)]; c != nil {
		delete(cl.waiting, string(id))
		c <- answer{bytes.Clone(result), bytes.Clone(object)} // has room for one
	}
}

// Tell sends the client a notification that belongs to no request.
func (cl *Client) Tell(method string, params []byte) {
	if cl.SendLater != nil {
		cl.SendLater(method, params)
		return
	}
	_ = cl.Push(jsonrpc.AppendNotification(nil, method, params)) // nobody listens: nobody to tell
}

// Notify is Tell for what is written for listeners of either era.
func (cl *Client) Notify(method string, params []byte) { cl.Tell(method, params) }

// identity is who a client says it is.
type identity struct{ name, version string }

// maxIdentity bounds what is kept of a name, in bytes.
const maxIdentity = 100

// setIdentity notes who the client says it is in an initialize request.
func (cl *Client) setIdentity(line []byte, m *rawjson.Message) {
	params := m.Params.Of(line)
	info, err := rawjson.Field(params, "clientInfo")
	if err != nil || !info.Present() {
		return
	}
	var at [2]rawjson.Span
	object := info.Of(params)
	if rawjson.Fields(object, at[:], "name", "version") != nil {
		return
	}
	name, _ := rawjson.String(object, at[0])
	version, _ := rawjson.String(object, at[1])
	cl.identity.Store(&identity{plain.Clip(name, maxIdentity), plain.Clip(version, maxIdentity)})
}

// Program returns the program and its version as it has named itself, "" where it has not.
func (cl *Client) Program() (name, version string) {
	if named := cl.identity.Load(); named != nil {
		return named.name, named.version
	}
	return "", ""
}

// Info is what a status says of a client; see proxy.ClientStatus.
type Info struct {
	Transport, Name, Version, Revision string
	Since, LastSeen                    time.Time
	InFlight, Streams                  int
	// Principal is whose it is, "" for one without a name.
	Principal string
	View      string // "" for everything
}

// Status returns what is known of a client whatever its endpoint.
func (cl *Client) Status(transport string) Info {
	s := Info{Transport: transport, Revision: cl.Revision(), Since: cl.since, LastSeen: cl.since, View: cl.Audience().View}
	s.Name, s.Version = cl.Program()
	return s
}
