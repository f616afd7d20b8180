package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/internal/access/guards"
	"github.com/mcpctl/mcpctl/internal/audit"
)

// When the writer commits, and signs what it has committed.
const (
	commitEvery     = 50 * time.Millisecond
	commitRecords   = 512
	checkpointEvery = time.Minute
	checkpointAfter = 1000
	// firstRetry and lastRetry are the pauses after a failure, which double.
	firstRetry = 100 * time.Millisecond
	lastRetry  = 5 * time.Second
)

var errEnded = errors.New("it was closed before all records were in the log")

// writer takes entries from the ring to the log. One goroutine runs work.
type writer struct {
	j *Journal

	// failing is that the log cannot be written; why says the reason.
	failing atomic.Bool
	why     atomic.Pointer[error]
	written atomic.Uint64 // all records up to this one are in the log
	more    bell

	// asleep is that nothing wakes the writer but wake.
	asleep atomic.Bool
	wake   chan struct{}
	turns  atomic.Int64 // how often the writer was woken
	// closing is closed by close, done by work; cancel ends what the log is doing.
	closing, done chan struct{}
	cancel        context.CancelFunc

	batch batch
	errs  [actions]error
	sign  signing
	told  uint64 // records not written that gaps have told of
}

// signing is when the next checkpoint is due. Only work uses it.
type signing struct {
	records int       // since the last one
	at      time.Time // zero for never
	pause   time.Duration
}

func newWriter(j *Journal) *writer {
	var clean *guards.Guards
	if j.o.Bodies.Redact {
		clean, _ = guards.New(guards.Config{Secrets: guards.Redact}) // these settings have no error
	}
	return &writer{
		j: j, wake: make(chan struct{}, 1), closing: make(chan struct{}), done: make(chan struct{}),
		batch: batch{o: &j.o, clean: clean, b: audit.Batch{Run: j.run, Sync: j.o.Durability == Power}},
	}
}

// notify is called after an entry was put: it wakes the writer if that sleeps, or has a whole
// batch.
func (w *writer) notify(n uint64) {
	if w.asleep.Load() && w.asleep.CompareAndSwap(true, false) || n%commitRecords == 0 {
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
}

// close ends work once all records are in the log.
func (w *writer) close(ctx context.Context) error {
	close(w.closing)
	stop := context.AfterFunc(ctx, w.cancel)
	defer stop()
	<-w.done
	if _, last := w.j.ring.Used(); w.written.Load() < last {
		return errors.Join(errEnded, w.health())
	}
	return nil
}

func (w *writer) ended() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

func (w *writer) isClosing() bool {
	select {
	case <-w.closing:
		return true
	default:
		return false
	}
}

func (w *writer) health() error {
	if err := w.why.Load(); err != nil {
		return *err
	}
	return nil
}

// What can fail.
const (
	committing = iota
	signingLog
	actions
)

// went notes how an action went.
func (w *writer) went(action int, err error) {
	w.errs[action] = err
	if err = cmp.Or(w.errs[committing], w.errs[signingLog]); err == nil {
		w.why.Store(nil)
	} else {
		w.why.Store(&err)
	}
	if was := w.failing.Swap(err != nil); was != (err != nil) && w.j.o.Report != nil {
		w.j.o.Report(err)
	}
	w.more.ring()
}

// work takes entries to the log until the journal is closed, or ctx ends.
func (w *writer) work(ctx context.Context) {
	defer w.more.ring()
	defer close(w.done)
	defer w.cancel()
	if w.j.o.Durability != Logged {
		w.sign.records = checkpointAfter // one at the start
	}
	if w.j.Waits() { // the record of the start goes with the first request
		w.asleep.Store(true)
		if _, last := w.j.ring.Used(); last == 1 {
			w.gather()
		}
		w.asleep.Store(false)
	}
	for {
		w.rest()
		w.turns.Add(1)
		if w.isClosing() {
			w.finish(ctx)
			return
		}
		if !w.drain(ctx) {
			return
		}
		w.checkpoint(ctx, false)
	}
}

// rest returns when there is something to do.
func (w *writer) rest() {
	w.asleep.Store(true)
	if w.j.ring.Idle() {
		var sign <-chan time.Time
		if !w.sign.at.IsZero() {
			t := time.NewTimer(time.Until(w.sign.at))
			defer t.Stop()
			sign = t.C
		}
		select {
		case <-w.wake:
		case <-sign:
			w.asleep.Store(false)
			return
		case <-w.closing:
		}
	}
	w.asleep.Store(false)
	if !w.j.Waits() {
		w.gather()
	}
}

// gather returns when a batch is to be committed: it is whole, or has waited for long enough.
func (w *writer) gather() {
	t := time.NewTimer(commitEvery)
	defer t.Stop()
	select {
	case <-t.C:
	case <-w.wake: // a whole batch
	case <-w.closing:
	}
}

// drain takes what the ring has to the log. It reports whether to go on.
func (w *writer) drain(ctx context.Context) bool {
	for {
		full := w.collect()
		if w.batch.len() > 0 && !w.commit(ctx) {
			return false
		}
		w.tellGap()
		if !full {
			return ctx.Err() == nil
		}
	}
}

// collect fills the batch, and reports whether there is more.
func (w *writer) collect() (full bool) {
	for spins := 0; w.batch.len() < commitRecords; {
		it, ok := w.j.ring.Next(w.batch.buf[:0])
		switch {
		case ok:
			w.batch.buf = it.Data
			with := sources{undigested: unpackUndigested(w.j.undigested[it.Place].Load()), blocks: w.j.blocks}
			if w.j.bodies != nil {
				with.bodies, w.j.bodies[it.Place] = w.j.bodies[it.Place], bodies{}
				w.j.undigested[it.Place].Store(0)
			}
			w.batch.add(&it, &with)
		case w.j.ring.Idle():
			return false
		case spins < 1000: // an entry is being written
			spins++
			runtime.Gosched()
		default:
			time.Sleep(time.Millisecond)
			return w.batch.len() > 0
		}
	}
	return true
}

// commit appends the batch, as often as it takes. It reports false when ctx ends before.
func (w *writer) commit(ctx context.Context) bool {
	for pause := firstRetry; ; pause = min(2*pause, lastRetry) {
		_, err := w.j.o.Log.Append(ctx, w.batch.seal())
		if err == nil {
			break
		}
		if w.batch.isIn(ctx, w.j.o.Log) {
			break // the failure came after the commit
		}
		w.went(committing, err)
		if !w.pause(ctx, pause) {
			return false
		}
		if w.batch.isIn(ctx, w.j.o.Log) {
			break
		}
	}
	w.sign.records += w.batch.len()
	if w.sign.at.IsZero() {
		w.sign.at = time.Now().Add(checkpointEvery)
	}
	if w.batch.b.Signed {
		w.sign = signing{}
		w.errs[signingLog] = nil
	}
	w.written.Store(w.batch.last)
	w.batch.reset()
	w.j.ring.Free()
	w.went(committing, nil)
	return true
}

func (w *writer) pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// tellGap puts a record about those that could not be written since the last one.
func (w *writer) tellGap() {
	n := w.j.unwritten.Load()
	if n == w.told {
		return
	}
	count := int64(n - w.told) //nolint:gosec // so many requests nobody makes
	if w.j.append(&audit.Record{Kind: audit.KindGap, Count: count}, 0) == nil {
		w.told = n
	}
}

// checkpoint signs the log if that is due, or last says so.
func (w *writer) checkpoint(ctx context.Context, last bool) {
	s := &w.sign
	switch {
	case last && s.records > 0:
	case s.pause == 0 && s.records >= checkpointAfter:
	case !s.at.IsZero() && !time.Now().Before(s.at):
	default:
		return
	}
	if _, err := w.j.o.Log.Checkpoint(ctx); err != nil {
		s.pause = min(max(firstRetry, 2*s.pause), lastRetry)
		s.at = time.Now().Add(s.pause)
		w.went(signingLog, fmt.Errorf("checkpoint: %w", err))
		return
	}
	w.went(signingLog, nil)
	*s = signing{}
}

// finish writes what is left, and the end of the run.
func (w *writer) finish(ctx context.Context) {
	if !w.drain(ctx) {
		return
	}
	for _, n := range slices.Clone(w.batch.open) {
		if !w.last(ctx, &audit.Record{Kind: audit.KindDone, Of: n, Outcome: audit.Outcome{Out: audit.OutLost}}) {
			return
		}
	}
	if !w.last(ctx, &audit.Record{Kind: audit.KindStop}) || !w.drain(ctx) {
		return
	}
	w.checkpoint(ctx, true)
	if !w.batch.stopped {
		// Nothing is in the ring any more. If this fails, whoever opens the ring's file finds
		// that all of it is in the log.
		_, _ = w.j.o.Log.Append(ctx, &audit.Batch{Run: w.j.run})
	}
}

// last puts a record of the end of a run.
func (w *writer) last(ctx context.Context, r *audit.Record) bool {
	for w.j.append(r, 0) != nil {
		if !w.drain(ctx) {
			return false
		}
	}
	return true
}

// bell is what many wait for.
type bell struct {
	mu sync.Mutex
	c  chan struct{} // nil if nobody waits
}

// wait returns what is closed by the next ring.
func (b *bell) wait() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.c == nil {
		b.c = make(chan struct{})
	}
	return b.c
}

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.c != nil {
		close(b.c)
		b.c = nil
	}
}
