// Package export sends the records of the audit log and its checkpoints elsewhere, while the
// log is written: into a file of lines, to a collector of OpenTelemetry, and checkpoints to
// where the owner of the log cannot change them. It reads the log behind those who write it,
// and never holds them up: what cannot be sent now is sent later.
package export

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/internal/atomicfile"
	"github.com/mcpctl/mcpctl/internal/audit/merkle"
)

// Log is the audit log: a [*logfile.Log].
type Log interface {
	Read(ctx context.Context, from, to int64, each func(n int64, record []byte) error) error
	Checkpoints(ctx context.Context, after int64, each func(size int64, msg []byte) error) error
	Tiles(ctx context.Context) merkle.Tiles
}

// Options are settings of an Exporter.
type Options struct {
	Log Log
	// Origin is the first line of the log's checkpoints.
	Origin string
	// Dir is the folder of the log: what has been sent is remembered there, and one process
	// at a time exports.
	Dir string
	// Files and Collectors get all records and checkpoints, Anchors checkpoints.
	Files      []File
	Collectors []Collector
	Anchors    []Anchor
	// Version is that of this program, for collectors.
	Version string
	// HTTP sends requests; nil: http.DefaultTransport does.
	HTTP   http.RoundTripper
	Logger *slog.Logger
}

// File is a file of lines.
type File struct {
	// Path is absolute. A file of Rotate bytes is set aside under another name; zero: none is.
	Path   string
	Rotate int64
}

// Collector receives OTLP over HTTP.
type Collector struct {
	// URL is that of its logs. Header is sent along.
	URL    string
	Header http.Header
}

// Anchor is a file that checkpoints are appended to, or the URL of a witness that signs them.
type Anchor struct{ File, Witness string }

const (
	// takeOver is how often it is tried to export where another process does.
	takeOver = 10 * time.Second
	// look is how often the log is looked at for what others have written.
	look = 10 * time.Second
	// gather is how long records are waited for that go together.
	gather = 200 * time.Millisecond
	// retryFirst and retryMost bound the time between tries.
	retryFirst = time.Second
	retryMost  = 5 * time.Minute
	// batchRecords and batchBytes bound what is read, kept in memory and sent at a time.
	batchRecords = 512
	batchBytes   = 1 << 20
)

// Status is how one target is.
type Status struct {
	// Kind is jsonl, otlp, file or witness; Target the path or URL.
	Kind   string `json:"kind"`
	Target string `json:"target"`
	// Next is the number of the record that it gets next; of an anchor, the size of the last
	// checkpoint that it has.
	Next int64 `json:"next"`
	// Dropped is how many records the target has refused for good.
	Dropped int64 `json:"dropped,omitempty"`
	// Problem is why it does not get what there is, "" if it does; Since when that is so.
	Problem string    `json:"problem,omitempty"`
	Since   time.Time `json:"since,omitzero"`
}

// target is where records or checkpoints go.
type target interface {
	// pass sends what there is. Its error is tried again later.
	pass(ctx context.Context) error
	// status returns kind, target, next and dropped. It may be called at any time.
	status() Status
}

// Exporter runs until it is closed. A nil Exporter sends nothing. All methods may be called
// concurrently.
type Exporter struct {
	o       Options
	workers []*worker
	cancel  context.CancelFunc
	ending  chan struct{} // closed by Close: what there is now is the last
	done    sync.WaitGroup

	mu      sync.Mutex
	elsewhy string // why this process does not export, "" where it does
}

// Start begins to export. With no target it returns nil. The error is that of what has been
// sent, which cannot be read.
func Start(o Options) (*Exporter, error) {
	if len(o.Files)+len(o.Collectors)+len(o.Anchors) == 0 {
		return nil, nil
	}
	sent, err := openState(statePath(o.Dir))
	if err != nil {
		return nil, err
	}
	e := &Exporter{o: o, ending: make(chan struct{})}
	add := func(t target) {
		e.workers = append(e.workers, &worker{target: t, logger: o.Logger, wake: make(chan struct{}, 1)})
	}
	for _, f := range o.Files {
		add(newLines(f, o, sent))
	}
	for _, c := range o.Collectors {
		add(newCollector(c, o, sent))
	}
	for _, a := range o.Anchors {
		if a.File != "" {
			add(&anchorFile{path: a.File, log: o.Log, origin: o.Origin, sent: sent})
		} else {
			add(newWitness(a.Witness, o, sent))
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	e.cancel = cancel
	e.done.Go(func() { e.run(ctx) })
	return e, nil
}

// run exports as soon as no other process does. The end is a last chance for that.
func (e *Exporter) run(ctx context.Context) {
	for last := false; ; {
		unlock, err := atomicfile.Lock(ctx, filepath.Join(e.o.Dir, "audit-export.lock"), 0)
		if err == nil {
			defer unlock()
			break
		}
		if last {
			return
		}
		why := "another process exports this log"
		if !errors.Is(err, context.DeadlineExceeded) {
			why = err.Error()
		}
		e.report(why)
		select {
		case <-ctx.Done():
			return
		case <-e.ending:
			last = true
		case <-time.After(takeOver):
		}
	}
	e.report("")
	var work sync.WaitGroup
	for _, w := range e.workers {
		work.Go(func() { w.run(ctx, e.ending) })
	}
	work.Wait()
}

func (e *Exporter) report(why string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.elsewhy = why
}

// Wake says that the log has something new. It does not wait.
func (e *Exporter) Wake() {
	if e == nil {
		return
	}
	for _, w := range e.workers {
		select {
		case w.wake <- struct{}{}:
		default: // it will look
		}
	}
}

// Status returns how the targets are. Elsewhere is why this process sends nothing, "" where
// it does.
func (e *Exporter) Status() (targets []Status, elsewhere string) {
	if e == nil {
		return nil, ""
	}
	for _, w := range e.workers {
		targets = append(targets, w.status())
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return targets, e.elsewhy
}

// Close sends what the log has now, each target's once, and returns when that is done or ctx
// ends.
func (e *Exporter) Close(ctx context.Context) {
	if e == nil {
		return
	}
	stop := context.AfterFunc(ctx, e.cancel)
	defer stop()
	close(e.ending)
	e.done.Wait()
	e.cancel()
}

// worker runs one target.
type worker struct {
	target target
	logger *slog.Logger
	wake   chan struct{}

	mu      sync.Mutex // guards what follows
	problem error
	since   time.Time
}

// run sends until ctx ends; after ending is closed, what there is then.
func (w *worker) run(ctx context.Context, ending <-chan struct{}) {
	retry := retryFirst
	for {
		err := w.target.pass(ctx)
		if ctx.Err() != nil {
			return
		}
		w.report(err)
		pause, wake := look, w.wake
		if err != nil {
			pause, wake = retry, nil
			retry = min(2*retry, retryMost)
		} else {
			retry = retryFirst
		}
		select {
		case <-wake:
			select {
			case <-ending:
			case <-time.After(gather):
			}
		case <-time.After(pause):
		case <-ending:
		case <-ctx.Done():
			return
		}
		select {
		case <-ending:
			w.report(w.target.pass(ctx))
			return
		default:
		}
	}
}

// report takes down how a pass has ended, and logs what is new of it.
func (w *worker) report(err error) {
	w.mu.Lock()
	before := w.problem
	if w.problem = err; err == nil || before == nil {
		w.since = time.Now()
	}
	w.mu.Unlock()
	s := w.target.status()
	switch {
	case err != nil && before == nil:
		w.logger.Warn("the audit log cannot be exported now: it is tried again", "to", s.Target, "err", err)
	case err == nil && before != nil:
		w.logger.Warn("the audit log is exported again", "to", s.Target)
	}
}

func (w *worker) status() Status {
	s := w.target.status()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.problem != nil {
		s.Problem, s.Since = w.problem.Error(), w.since
	}
	return s
}

// errFull ends reading when a batch is full.
var errFull = errors.New("the batch is full")

// batch is what is read of the log at a time: records, and the checkpoints of what came
// before them.
type batch struct {
	first, next int64 // numbers of the first record, and of that after the last
	records     [][]byte
	checkpoints []checkpoint
	more        bool
}

// after returns what a target has that had what at says and gets the batch.
func (b *batch) after(at position) position {
	at.Next = b.next
	if n := len(b.checkpoints); n > 0 {
		at.Checkpoint = b.checkpoints[n-1].size
	}
	return at
}

type checkpoint struct {
	size int64
	note []byte
}

// read returns the next records from a number on, and the checkpoints of more than size
// records that are about what has been read then.
func read(ctx context.Context, of Log, from, size int64) (*batch, error) {
	b := &batch{first: from, next: from}
	bytes := 0
	err := of.Read(ctx, from, 0, func(n int64, record []byte) error {
		switch {
		case len(b.records) == 0:
			b.first = n
		case n != b.next || len(b.records) == batchRecords || bytes > batchBytes:
			return errFull
		}
		b.records, b.next = append(b.records, record), n+1
		bytes += len(record)
		return nil
	})
	if b.more = errors.Is(err, errFull); err != nil && !b.more {
		return nil, err
	}
	err = of.Checkpoints(ctx, size, func(size int64, note []byte) error {
		if size > b.next || len(b.checkpoints) == batchRecords {
			return errFull
		}
		b.checkpoints = append(b.checkpoints, checkpoint{size, note})
		return nil
	})
	if err != nil && !errors.Is(err, errFull) {
		return nil, err
	}
	return b, nil
}
