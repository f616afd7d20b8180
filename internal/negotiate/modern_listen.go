package negotiate

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
)

const (
	// listenPause is how long a listen that ended is left alone, doubled with
	// each one in a row, at most listenPauseMax.
	listenPause    = 500 * time.Millisecond
	listenPauseMax = 30 * time.Second
	// maxListens bounds listens in a row that ended before listenWorth.
	maxListens  = 10
	listenWorth = 30 * time.Second
	// ackTime is how long a server may take to acknowledge a listen.
	ackTime = 30 * time.Second
	// listenOverlap is how long a stream that another has taken the place of is
	// still read: what it carried before may come after the acknowledgement.
	listenOverlap = 500 * time.Millisecond
	// maxUnwanted bounds the URIs that a server is left to watch for nobody,
	// maxStreams the streams over stdio; beyond, all are closed and one is
	// opened for what is wanted, after which changes may have been missed.
	maxUnwanted = 64
	maxStreams  = 32
)

// listening is what a connection subscribes to, and the streams for it: a modern
// server sends nothing that was not asked for (2026-07-28, Subscriptions). The
// zero value is ready.
//
// Over HTTP there is one stream; where what is wanted changes, another one is
// opened, and the old one closed once that is acknowledged. Over stdio what is
// new gets a stream of its own, and none is closed for what is no longer
// wanted: released SDKs drop everything that a session listens for as soon as
// one of its streams ends.
type listening struct {
	mu       sync.Mutex // guards what follows
	cancel   context.CancelFunc
	done     chan struct{} // closed when the worker has ended; nil before it runs
	wake     chan struct{} // room for one
	closed   bool
	lists    bool // changes of lists are wanted
	uris     map[string]bool
	unwanted map[string]bool // watched by the server, wanted by nobody
	waiting  map[string][]chan error
}

// Listen subscribes, in the background, to changes of the server's lists; what
// it sends goes to Options.Handler, without the members that belong to the
// stream. First, and after each interruption, comes
// notifications/subscriptions/acknowledged: from then on no change is missed,
// but one before it may have been. A stream that ends is opened again, at most
// ten times in a row; one that is refused is not. It ends with ctx or Close.
func (m *modernTransport) Listen(ctx context.Context) {
	if m.listKinds() == (changeKinds{}) {
		return
	}
	l := &m.listening
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lists = true
	m.wakeWorker(ctx)
}

// wakeWorker wakes the worker, and starts it where there is none. The caller
// holds the lock.
func (m *modernTransport) wakeWorker(ctx context.Context) {
	l := &m.listening
	if l.closed {
		return
	}
	if l.done == nil {
		ctx, l.cancel = context.WithCancel(ctx)
		done := make(chan struct{})
		l.done, l.wake = done, make(chan struct{}, 1)
		go func() { // ended and waited for by Close
			defer close(done)
			(&listenWorker{m: m, l: l}).run(ctx)
		}()
	}
	l.wakeUp()
}

func (l *listening) wakeUp() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// markClosed fails those who wait, now and later.
func (l *listening) markClosed() {
	l.mu.Lock()
	l.closed = true
	uris := slices.Collect(maps.Keys(l.waiting))
	l.mu.Unlock()
	l.resolveWaiting(uris, func(string) error { return runtime.ErrClosed })
}

// subscribe has the server watch a resource, and returns when it has said that
// it does.
func (m *modernTransport) subscribe(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
	uri, ok := rawjson.FieldString(req.Params, "uri")
	if !ok {
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: req.Method + ": uri is missing"}
	}
	l := &m.listening
	l.mu.Lock()
	if req.Method == revision.MethodResourcesUnsubscribe {
		if l.uris[uri] {
			delete(l.uris, uri)
			if l.unwanted == nil {
				l.unwanted = map[string]bool{}
			}
			l.unwanted[uri] = true
			m.wakeWorker(context.WithoutCancel(ctx))
		}
		l.mu.Unlock()
		return json.RawMessage(`{}`), nil
	}
	if l.closed {
		l.mu.Unlock()
		return nil, runtime.ErrClosed
	}
	if l.uris[uri] && l.waiting[uri] == nil {
		l.mu.Unlock()
		return json.RawMessage(`{}`), nil
	}
	if l.uris == nil {
		l.uris, l.waiting = map[string]bool{}, map[string][]chan error{}
	}
	done := make(chan error, 1)
	l.uris[uri] = true
	l.waiting[uri] = append(l.waiting[uri], done)
	m.wakeWorker(context.WithoutCancel(ctx))
	l.mu.Unlock()
	select {
	case err := <-done:
		if err != nil {
			return nil, err
		}
		return json.RawMessage(`{}`), nil
	case <-ctx.Done(): // the server may watch it for a while: harmless
		m.unsubscribe(context.WithoutCancel(ctx), uri, done)
		return nil, ctx.Err()
	}
}

// unsubscribe withdraws a caller that has waited in vain. A resource that
// nobody else waits for is no longer wanted: callers that give up one after the
// other must not pile up.
func (m *modernTransport) unsubscribe(ctx context.Context, uri string, done chan error) {
	l := &m.listening
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.waiting[uri], done)
	if i < 0 {
		return // it has been settled meanwhile
	}
	l.waiting[uri] = slices.Delete(l.waiting[uri], i, i+1)
	if len(l.waiting[uri]) > 0 {
		return
	}
	delete(l.waiting, uri)
	delete(l.uris, uri)
	m.wakeWorker(ctx)
}

// changeKinds are the lists whose changes are wanted.
type changeKinds struct {
	Tools     bool `json:"toolsListChanged,omitempty"`
	Prompts   bool `json:"promptsListChanged,omitempty"`
	Resources bool `json:"resourcesListChanged,omitempty"`
}

// filter is what one listen asks for or a server honours.
type filter struct {
	changeKinds
	URIs []string `json:"resourceSubscriptions,omitempty"` // sorted
}

func (f filter) empty() bool { return f.changeKinds == changeKinds{} && len(f.URIs) == 0 }

func (f filter) equal(g filter) bool {
	return f.changeKinds == g.changeKinds && slices.Equal(f.URIs, g.URIs)
}

// listKinds returns the lists that the server says can change.
func (m *modernTransport) listKinds() changeKinds {
	type change struct {
		ListChanged bool `json:"listChanged"`
	}
	var c struct{ Tools, Prompts, Resources change }
	if json.Unmarshal(m.capabilities, &c) != nil {
		return changeKinds{}
	}
	return changeKinds{c.Tools.ListChanged, c.Prompts.ListChanged, c.Resources.ListChanged}
}

// wanted returns what is wanted now.
func (m *modernTransport) wanted() filter {
	l := &m.listening
	l.mu.Lock()
	defer l.mu.Unlock()
	f := filter{URIs: slices.Sorted(maps.Keys(l.uris))}
	if l.lists {
		f.changeKinds = m.listKinds()
	}
	return f
}

// resolveWaiting answers those who wait for URIs with the outcome of a listen.
func (l *listening) resolveWaiting(uris []string, outcome func(uri string) error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, uri := range uris {
		err := outcome(uri)
		if err != nil {
			delete(l.uris, uri)
		} else {
			delete(l.unwanted, uri)
		}
		for _, done := range l.waiting[uri] {
			done <- err // has room for one
		}
		delete(l.waiting, uri)
	}
}

// isUnwanted reports whether a notification is about a resource that is no longer
// wanted.
func (l *listening) isUnwanted(method string, params json.RawMessage) bool {
	if method != revision.NotificationResourceUpdated {
		return false
	}
	uri, ok := rawjson.FieldString(params, "uri")
	l.mu.Lock()
	defer l.mu.Unlock()
	return ok && l.unwanted[uri] && !l.uris[uri]
}

// Close ends the streams and the transport underneath.
func (m *modernTransport) Close() error {
	l := &m.listening
	l.mu.Lock()
	l.closed = true
	cancel, done := l.cancel, l.done
	l.mu.Unlock()
	if cancel != nil {
		cancel()
	}
	m.tasks.cancels.close(cancelGrace)
	err := m.Transport.Close()
	if done != nil {
		<-done
	}
	l.markClosed()
	return err
}

// isListenRefusal reports whether a listen has failed for a reason that trying
// again does not mend.
func isListenRefusal(err error) bool {
	var rpc *runtime.Error
	var protocol *runtime.ProtocolError
	status := statusOf(err)
	return errors.As(err, &rpc) || errors.As(err, &protocol) || status >= 400 && status < 500 && status != 408 && status != 429
}
