package sessions

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"sync"
	"time"
)

// path is where a session is asked about itself (GET) and told to end (DELETE).
const path = "/session"

// Options are what a session is.
type Options struct {
	// Server and Config are as in [Info].
	Server, Config, Socket string
	// Idle ends the session that long after its last request; 0 is never.
	Idle time.Duration
	// Protocol returns the revision that the server speaks, "" where it is not
	// connected; nil: it is never known.
	Protocol func() string
}

// Handler is the handler of a session.
type Handler struct {
	o       Options
	next    http.Handler
	started time.Time
	over    chan struct{}

	mu       sync.Mutex // guards what follows
	running  int        // requests
	last     time.Time  // when a request came or ended
	ended    bool
	protocol string      // the last revision that the server was known to speak
	watching *time.Timer // nil without Idle
}

// Keep returns the handler of a session in front of next. The session is over with ctx as
// well.
func Keep(ctx context.Context, o Options, next http.Handler) *Handler {
	k := &Handler{o: o, next: next, started: time.Now(), over: make(chan struct{}), last: time.Now()}
	if o.Idle > 0 {
		k.watching = time.AfterFunc(o.Idle, k.check)
		context.AfterFunc(ctx, func() { k.watching.Stop() })
	}
	return k
}

// Over is closed when the session is to end.
func (k *Handler) Over() <-chan struct{} { return k.over }

// ServeHTTP implements [http.Handler].
func (k *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != path {
		k.touch(1)
		defer k.touch(-1)
		k.next.ServeHTTP(w, r)
		return
	}
	switch r.Method {
	case http.MethodGet:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(k.info()) // the client may be gone
	case http.MethodDelete:
		k.endFor(w)
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

// endFor ends the session. The answer to who asked for it goes on until the process has ended.
func (k *Handler) endFor(w http.ResponseWriter) {
	w.Header().Set("Transfer-Encoding", "identity") // the body ends with the connection
	w.WriteHeader(http.StatusOK)
	control := http.NewResponseController(w)
	_ = control.Flush() // else it comes with the end
	c, _, err := control.Hijack()
	k.end()
	if err != nil {
		return
	}
	defer c.Close()
	_, _ = io.Copy(io.Discard, c) // until the client has gone
}

func (k *Handler) info() Info {
	k.mu.Lock()
	defer k.mu.Unlock()
	i := Info{
		Server: k.o.Server, Config: k.o.Config, PID: os.Getpid(), Started: k.started, LastUsed: k.last, Idle: k.o.Idle.Seconds(), Socket: k.o.Socket,
	}
	if k.running > 0 {
		i.LastUsed = time.Now()
	}
	if k.o.Protocol != nil {
		k.protocol = cmp.Or(k.o.Protocol(), k.protocol) // a server that is started anew speaks it again
	}
	i.ProtocolVersion = k.protocol
	return i
}

// touch counts a request that has come, or ended.
func (k *Handler) touch(n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.running += n
	k.last = time.Now()
}

// check ends the session where nothing was called for long enough, else comes again.
func (k *Handler) check() {
	k.mu.Lock()
	left := k.o.Idle - time.Since(k.last)
	if k.running > 0 {
		left = k.o.Idle
	}
	k.mu.Unlock()
	if left > 0 {
		k.watching.Reset(left)
		return
	}
	k.end()
}

func (k *Handler) end() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.ended {
		k.ended = true
		close(k.over)
	}
}
