package limits

import (
	"bytes"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/internal/jsonrpc"
)

// Bounds of what clients can make the proxy hold, all of them together; most of one
// client or one stream are where they are kept. docs/serve.md, Limits, lists them.
const (
	// RequestCeiling bounds a request, however much progress there is.
	RequestCeiling = time.Hour
	// TellTime is how long a server may take to accept a log level, changed roots or
	// a subscription.
	TellTime = 5 * time.Second
	// NotifyTime bounds how long a client's notification to a single server waits for
	// the requests before it, and again until the server has it: the client's next
	// message waits, and may be the answer that all depend on.
	NotifyTime = 10 * time.Second
	// KeepAlive is how often a quiet stream gets a comment.
	KeepAlive = 15 * time.Second
	// LastWrite is how long a write to a client may take once its session has ended.
	LastWrite = time.Second
	// MaxQueuedBytes bounds the messages that wait for one client's stream, in bytes;
	// the answer always has room.
	MaxQueuedBytes = 8 << 20
	// MaxServing bounds the requests over HTTP that are being answered, with
	// those whose clients have gone. Further ones are refused with status 503.
	MaxServing = 8192
	// MaxSessionServing does the same for one session, with status 429.
	MaxSessionServing = 1024
	// MaxBackendServing bounds the requests that one backend owes answers for,
	// over all its connections. Further ones are refused with an error.
	MaxBackendServing = jsonrpc.MaxPending
	// MaxBodies bounds the messages over HTTP that are being received or worked on,
	// in bytes, but for those of at most FreeBody. Further ones are refused with
	// status 503.
	MaxBodies = 256 << 20
	FreeBody  = 64 << 10
	// MaxUnsent bounds the messages for clients that wait or are kept, in bytes, but
	// for answers that are not kept. Beyond it each stream, session and listen has
	// FairShare for a bound.
	MaxUnsent = 256 << 20
	FairShare = 16 << 10
	// MaxStreams bounds the streams of an endpoint that belong to no request: of GET, of
	// listens, of HTTP+SSE. Further ones are refused with status 503.
	MaxStreams = 10_000
	// MaxSessionStreams does the same for the GETs of one session, with status 429.
	MaxSessionStreams = 16
)

// ErrBackendBusy refuses a request to a backend that owes too many answers.
var ErrBackendBusy = jsonrpc.ErrBusy

// Budget is the memory that all clients of a proxy share. The zero value is ready.
type Budget struct {
	Bodies Counter // of clients' messages over HTTP
	Unsent Counter // of messages for them
}

// Counter counts bytes. A nil one counts nothing.
type Counter struct{ N atomic.Int64 }

// Take counts n bytes, unless they would be more than most in all.
func (t *Counter) Take(n, most int64) bool {
	if t.N.Add(n) > most {
		t.N.Add(-n)
		return false
	}
	return true
}

// Add counts n bytes.
func (t *Counter) Add(n int) {
	if t != nil {
		t.N.Add(int64(n))
	}
}

// Full reports whether there are more than MaxUnsent.
func (t *Counter) Full() bool { return t != nil && t.N.Load() > MaxUnsent }

// ErrFull refuses a message for want of memory.
var ErrFull = errors.New("too much is being sent at once: try again later")

// Hold copies a message for a request that may outlast its client; free returns the
// memory. It fails where too much is held already.
func (b *Budget) Hold(body []byte) (_ []byte, free func(), err error) {
	n := int64(len(body))
	if n <= FreeBody {
		return bytes.Clone(body), func() {}, nil
	}
	if !b.Bodies.Take(n, MaxBodies) {
		return nil, nil, ErrFull
	}
	return bytes.Clone(body), func() { b.Bodies.N.Add(-n) }, nil
}

// Bound is something bounded; see proxy.BoundStatus.
type Bound struct {
	Name      string
	Used, Max int
}

// Bounds returns how much of the budget is in use.
func (b *Budget) Bounds() []Bound {
	return []Bound{{"bodyBytes", int(b.Bodies.N.Load()), MaxBodies}, {"unsentBytes", int(b.Unsent.N.Load()), MaxUnsent}}
}

// Bodies are buffers to receive messages in.
var Bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }} //nolint:gochecknoglobals // a pool of scratch space

// Bounds of buffers and bodies.
const (
	maxPooledBody = 4 << 20   // bounds what a pooled buffer keeps
	MaxClaim      = 256 << 10 // bounds the memory that a body gets for its Content-Length alone
	// BodyTime is how long each part of a large body may take, with the time for its
	// size at BodyRate. Before that the server's own bound of reading holds.
	BodyTime = 30 * time.Second
	BodyRate = 128 << 10 // bytes a second
)

// Release puts a buffer back, unless it has grown too large.
func Release(buf *bytes.Buffer) {
	if buf.Cap() <= maxPooledBody {
		buf.Reset()
		Bodies.Put(buf)
	}
}
