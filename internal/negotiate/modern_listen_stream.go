package negotiate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/internal/deadline"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
)

// stream is one listen. It is the handler of its own request.
type stream struct {
	runtime.NopHandler // a modern server asks nothing here, and the end of the call says that it has closed

	m             *modernTransport
	asked         filter
	missedSome    bool            // something may have been missed before it
	watchedBefore []string        // of the URIs asked for, those that were watched before it
	ctx           context.Context //nolint:containedctx // the stream's own, ended by cancel
	cancel        context.CancelFunc
	acked         chan struct{} // closed by the acknowledgement
	ended         chan struct{}
	honoured      filter // once acked
	err           error  // once ended; nil for the server's own end

	once   sync.Once
	mu     sync.Mutex // guards what follows
	closed bool       // nothing that comes is handed on
}

func (s *stream) Notification(ctx context.Context, _ *runtime.Request, method string, params json.RawMessage) {
	switch method {
	case revision.NotificationListenAcknowledged:
		s.once.Do(func() {
			var p struct {
				Notifications filter `json:"notifications"`
			}
			if json.Unmarshal(params, &p) == nil {
				s.honoured = p.Notifications
			}
			s.replayMissed(ctx)
			close(s.acked)
		})
	case revision.NotificationCancelled: // the server's end, over stdio
		s.cancel()
	default:
		s.mu.Lock()
		quit := s.closed
		s.mu.Unlock()
		if !quit && !s.m.listening.isUnwanted(method, params) {
			s.m.o.Handler.Notification(ctx, nil, method, revision.RemoveMetaMember(params, revision.MetaSubscription))
		}
	}
}

// replayMissed notifies the handler of what it may have missed, before anything
// else that comes over the stream.
func (s *stream) replayMissed(ctx context.Context) {
	if !s.missedSome {
		return
	}
	h := s.m.o.Handler
	h.Notification(ctx, nil, revision.NotificationListenAcknowledged, json.RawMessage(`{"notifications":{}}`))
	for _, uri := range s.watchedBefore {
		h.Notification(ctx, nil, revision.NotificationResourceUpdated, fmt.Appendf(nil, `{"uri":%s}`, rawjson.Quote(nil, uri)))
	}
}

// end closes the stream. What is under way on it is dropped.
func (s *stream) end() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
}

func (s *stream) hasEnded() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

var errNoReason = errors.New("without an error")

// listenWorker opens and closes the streams of a connection. Its fields belong
// to its goroutine.
type listenWorker struct {
	m          *modernTransport
	l          *listening
	n          int       // streams opened
	streams    []*stream // open ones
	missedSome bool      // something may have been missed since the last acknowledgement
	calls      sync.WaitGroup
}

// run keeps open the streams that are wanted until ctx ends.
func (w *listenWorker) run(ctx context.Context) {
	defer w.calls.Wait()
	defer func() {
		for _, s := range w.streams {
			s.end()
		}
		w.l.markClosed()
	}()
	w.missedSome = true
	for inRow := 0; ; {
		start := time.Now()
		err := w.serve(ctx)
		switch {
		case ctx.Err() != nil, errors.Is(err, runtime.ErrClosed):
			return
		case isListenRefusal(err):
			w.m.o.Logger.Info("server does not report changes", "err", err)
			inRow = 0
			if !w.failWaiting(err) && !w.awaitChange(ctx) {
				return
			}
			continue
		}
		w.missedSome = true
		if inRow++; time.Since(start) > listenWorth {
			inRow = 1
		}
		w.m.o.Logger.Debug("listening has ended", "elapsed", time.Since(start), "err", err)
		if inRow >= maxListens {
			w.m.o.Logger.Warn("server keeps ending the stream that reports changes")
			w.failWaiting(fmt.Errorf("the server keeps ending the stream that reports changes: %w", cmp.Or(err, errNoReason)))
			if inRow = 0; !w.awaitChange(ctx) {
				return
			}
			continue
		}
		if deadline.Pause(ctx, min(listenPause<<(inRow-1), listenPauseMax)) != nil {
			return
		}
	}
}

// awaitWake waits until there may be something to do; false when ctx has ended.
func (w *listenWorker) awaitWake(ctx context.Context) bool {
	select {
	case <-w.l.wake:
		return true
	case <-ctx.Done():
		return false
	}
}

// awaitChange waits until something else is wanted than now; false when ctx
// has ended.
func (w *listenWorker) awaitChange(ctx context.Context) bool {
	for given := w.m.wanted(); w.awaitWake(ctx); {
		if !w.m.wanted().equal(given) {
			return true
		}
	}
	return false
}

// failWaiting fails the URIs that are waited for, or else all, and reports
// whether there were any: without them the server may accept the rest.
func (w *listenWorker) failWaiting(err error) bool {
	w.l.mu.Lock()
	uris := slices.Collect(maps.Keys(w.l.waiting))
	if len(uris) == 0 {
		uris = slices.Collect(maps.Keys(w.l.uris))
	}
	w.l.mu.Unlock()
	w.l.resolveWaiting(uris, func(string) error { return err })
	return len(uris) > 0
}

// serve opens the streams that are needed and returns when one has ended, with
// its error, or could not be opened.
func (w *listenWorker) serve(ctx context.Context) error {
	for {
		select {
		case <-w.l.wake: // what it stands for is looked at now
		default:
		}
		if err, over := w.removeEnded(); over {
			return err
		}
		want := w.m.wanted()
		missing := w.missing(filter{want.changeKinds, slices.Clone(want.URIs)})
		if w.tooManyStreams(missing) {
			w.missedSome = true
			w.closeAll()
			if deadline.Pause(ctx, listenOverlap) != nil { // the server may take a moment to forget them
				return ctx.Err()
			}
			continue
		}
		if !missing.empty() {
			if err := w.open(ctx, missing); err != nil {
				return err
			}
			continue
		}
		w.resolveHonoured(want.URIs)
		if want.empty() {
			w.closeAll()
		}
		if !w.awaitWake(ctx) {
			return ctx.Err()
		}
	}
}

// resolveHonoured answers those who wait for URIs that an open stream has asked
// for already, for a caller that has gone since. Wanted are the URIs that
// streams have asked for; what came to be wanted since is for the next round.
func (w *listenWorker) resolveHonoured(wanted []string) {
	w.l.mu.Lock()
	uris := slices.DeleteFunc(wanted, func(uri string) bool { return w.l.waiting[uri] == nil })
	w.l.mu.Unlock()
	w.l.resolveWaiting(uris, func(uri string) error { return watching(uri, w.streams...) })
}

// removeEnded drops streams that have ended, and returns the error of one.
func (w *listenWorker) removeEnded() (err error, over bool) {
	w.streams = slices.DeleteFunc(w.streams, func(s *stream) bool {
		if !s.hasEnded() {
			return false
		}
		err, over = s.err, true
		return true
	})
	if over && !w.m.o.HTTP {
		// Whether what the others were for is still told depends on the server.
		w.closeAll()
	}
	return err, over
}

func (w *listenWorker) closeAll() {
	for _, s := range w.streams {
		s.end()
	}
	w.streams = nil
	w.l.mu.Lock()
	w.l.unwanted = nil
	w.l.mu.Unlock()
}

// tooManyStreams reports whether one stream should replace many: over stdio
// none is closed for what is no longer wanted.
func (w *listenWorker) tooManyStreams(missing filter) bool {
	if w.m.o.HTTP {
		return false
	}
	w.l.mu.Lock()
	defer w.l.mu.Unlock()
	return len(w.l.unwanted) > maxUnwanted || len(w.streams) >= maxStreams && !missing.empty()
}

// missing returns what the next stream is to ask for, nothing where all that is
// wanted has been asked for.
func (w *listenWorker) missing(want filter) filter {
	if len(w.streams) == 0 {
		return want
	}
	if w.m.o.HTTP {
		if w.streams[len(w.streams)-1].asked.equal(want) {
			return filter{}
		}
		return want
	}
	for _, s := range w.streams {
		if s.asked.changeKinds != (changeKinds{}) {
			want.changeKinds = changeKinds{}
		}
		want.URIs = slices.DeleteFunc(want.URIs, func(uri string) bool { return slices.Contains(s.asked.URIs, uri) })
	}
	return want
}

// open opens a stream and waits for its acknowledgement.
func (w *listenWorker) open(ctx context.Context, f filter) error {
	w.n++
	s := &stream{m: w.m, asked: f, missedSome: w.missedSome, acked: make(chan struct{}), ended: make(chan struct{})}
	w.l.mu.Lock()
	for _, uri := range f.URIs {
		if w.l.waiting[uri] == nil {
			s.watchedBefore = append(s.watchedBefore, uri)
		}
	}
	w.l.mu.Unlock()
	s.ctx, s.cancel = context.WithCancel(ctx)
	params, err := json.Marshal(map[string]filter{"notifications": f})
	if err != nil {
		panic("bridge: a filter has no JSON form: " + err.Error())
	}
	id := json.RawMessage(`"mcpctl-listen-` + strconv.Itoa(w.n) + `"`)
	w.calls.Go(func() { // ends with s.ctx
		defer w.l.wakeUp()
		defer close(s.ended)
		defer s.cancel()
		_, s.err = w.m.send(s.ctx, &runtime.Request{Method: revision.MethodSubscriptionsListen, ID: id, Params: params, Events: s})
	})
	timer := time.NewTimer(ackTime)
	defer timer.Stop()
	select {
	case <-s.acked:
	case <-s.ended: // perhaps after an acknowledgement
		select {
		case <-s.acked:
		default:
			return cmp.Or(s.err, errNoReason)
		}
	case <-timer.C:
		// One that listens and does not say so may still tell of lists.
		w.m.o.Logger.Warn("server does not acknowledge that it reports changes", "elapsed", ackTime)
		s.once.Do(func() {
			s.honoured = filter{changeKinds: f.changeKinds}
			s.replayMissed(ctx)
		})
	}
	w.adopt(s)
	return nil
}

// adopt puts an acknowledged stream to use.
func (w *listenWorker) adopt(s *stream) {
	if w.m.o.HTTP {
		for _, old := range w.streams {
			w.calls.Go(func() { // ends soon
				_ = deadline.Pause(old.ctx, listenOverlap)
				old.end()
			})
		}
		w.streams = nil
		w.l.mu.Lock()
		w.l.unwanted = nil
		w.l.mu.Unlock()
	}
	w.streams = append(w.streams, s)
	w.missedSome = false
	w.l.resolveWaiting(s.asked.URIs, func(uri string) error { return watching(uri, s) })
}

// watching returns nil where the server watches a URI for one of the streams.
func watching(uri string, streams ...*stream) error {
	if slices.ContainsFunc(streams, func(s *stream) bool { return slices.Contains(s.honoured.URIs, uri) }) {
		return nil
	}
	return &runtime.Error{Code: runtime.CodeInvalidParams, Message: "the server does not watch " + uri}
}
