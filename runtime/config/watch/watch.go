// Package watch reports changes of servers.json, however they are made. It is apart from package
// config, so that a program that only reads the file links no file system events.
package watch

import (
	"bytes"
	"cmp"
	"context"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/internal/atomicfile"
	"github.com/mcpctl/mcpctl/runtime/config"
)

const (
	// watchSettle is how long a file must not change before it is read: editors
	// write in several steps. One that changes all the time is read after watchMost.
	watchSettle = 200 * time.Millisecond
	watchMost   = 2 * time.Second
	// watchDoubt is how long a file must be broken, empty or gone before that is
	// reported: it may be half written.
	watchDoubt = time.Second
	// watchPoll is how often the file is checked without an event: network file
	// systems, and changes further up in the path, send none.
	watchPoll = 5 * time.Second
)

// Options are settings of a [Watcher].
type Options struct {
	// File was read last: Changed is not called while the file has the same bytes.
	File *config.File
	// Changed is called, never concurrently, with the changed file, or with a nil
	// File and why it cannot be read. The same file or error is reported again only
	// after the other kind, or after [Watcher.Look]. Faults of single entries are no
	// error, as with [config.Load].
	Changed func(f *config.File, err error)
	// OthersChanged, when not nil, is called when something beside the file may have
	// changed, sometimes in vain; never while Changed runs.
	OthersChanged func()
	// Logger; nil discards.
	Logger *slog.Logger
}

// Watcher reports changes of a configuration file, however they are made: by
// writing, replacing, changing a symbolic link, or removing and creating it. Its
// methods may be called concurrently.
type Watcher struct {
	path string
	o    Options
	poll time.Duration

	touched chan struct{} // the file may have changed
	around  chan struct{} // something beside it has
	look    chan struct{}
	cancel  context.CancelFunc
	work    sync.WaitGroup

	// The loop alone uses the rest.

	last     []byte      // reported last
	reported string      // the error reported last, "" after a success
	doubted  string      // an error not reported yet
	seen     fs.FileInfo // nil: there was no file
}

// File watches the file at path until Close.
func File(path string, o Options) *Watcher {
	w := newWatcher(path, o)
	w.start()
	return w
}

func (w *Watcher) start() {
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	dirs := w.notify(ctx)
	w.work.Go(func() { w.run(ctx, dirs) })
}

func newWatcher(path string, o Options) *Watcher {
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	w := &Watcher{path: path, o: o, poll: watchPoll, touched: make(chan struct{}, 1), around: make(chan struct{}, 1), look: make(chan struct{}, 1)}
	if o.File != nil {
		w.last = o.File.Bytes()
	}
	return w
}

// Look reads the file at once and calls Changed in any case.
func (w *Watcher) Look() { wake(w.look) }

// Close stops the watcher and returns after the last call of Changed.
func (w *Watcher) Close() {
	w.cancel()
	w.work.Wait()
}

// wake sends a signal, unless one is pending.
func wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// run checks the file on events and every w.poll. dirs updates the watched
// directories.
func (w *Watcher) run(ctx context.Context, dirs func()) {
	dirs()
	poll := time.NewTicker(w.poll)
	defer poll.Stop()
	settle := time.NewTimer(0) // it may have changed since it was read
	defer settle.Stop()
	var since time.Time // the first change not read yet
	wait := func() {
		now := time.Now()
		if since.IsZero() {
			since = now
		}
		settle.Reset(min(watchSettle, time.Until(since.Add(watchMost))))
	}
	// A change beside the file is handled at once, and the next ones once per
	// watchSettle: it may be a log that is written to all the time.
	throttle := time.NewTimer(0)
	defer throttle.Stop()
	throttled, pending := true, false
	look := func() {
		dirs()
		w.othersChanged()
		if w.fileChanged() {
			wait()
		}
	}
	w.seen = w.stat()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.touched:
			dirs()
			w.seen = w.stat()
			wait()
		case <-w.around:
			if pending = throttled; !pending {
				throttled = true
				throttle.Reset(watchSettle)
				look()
			}
		case <-throttle.C:
			if throttled = pending; pending {
				pending = false
				throttle.Reset(watchSettle)
				look()
			}
		case <-poll.C:
			look()
		case <-settle.C:
			if w.fileChanged() && !since.IsZero() && time.Since(since) < watchMost {
				wait()
				continue
			}
			since = time.Time{}
			if w.read(false) {
				settle.Reset(watchDoubt)
			}
		case <-w.look:
			since = time.Time{}
			w.seen = w.stat()
			w.read(true)
		}
	}
}

func (w *Watcher) othersChanged() {
	if w.o.OthersChanged != nil {
		w.o.OthersChanged()
	}
}

// stat returns the file's information, nil if there is no file.
func (w *Watcher) stat() fs.FileInfo {
	info, err := os.Stat(w.path)
	if err != nil {
		return nil
	}
	return info
}

// fileChanged reports whether the file was written or replaced since the last check.
func (w *Watcher) fileChanged() bool {
	before, now := w.seen, w.stat()
	w.seen = now
	return !atomicfile.Unchanged(before, now)
}

// read reads the file and calls Changed if there is news. It returns true for a new
// error, which is reported only if the next read confirms it.
func (w *Watcher) read(asked bool) (doubtful bool) {
	f, err := w.load()
	if err != nil {
		why := err.Error()
		switch {
		case asked:
		case why == w.reported:
			w.doubted = ""
			return false
		case why != w.doubted:
			w.doubted = why
			return true
		}
		w.reported, w.doubted = why, ""
		w.o.Changed(nil, err)
		return false
	}
	w.doubted = ""
	if !asked && w.reported == "" && bytes.Equal(f.Bytes(), w.last) {
		return false
	}
	w.last, w.reported = f.Bytes(), ""
	w.o.Changed(f, nil)
	return false
}

// load reads the file; a missing or empty one is an error.
func (w *Watcher) load() (*config.File, error) {
	f, err := config.Load(w.path)
	if err == nil {
		err = f.Empty()
	}
	return f, err
}
