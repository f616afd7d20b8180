package config

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"
)

const (
	// watchSettle is how long a file must stay as it is before it is read: editors
	// write in several steps. One that is written to all the time is read after
	// watchMost.
	watchSettle = 200 * time.Millisecond
	watchMost   = 2 * time.Second
	// watchDoubt is how long a file that is broken, empty or gone must stay so
	// before that is believed: it may be half written.
	watchDoubt = time.Second
	// watchPoll is how often the file is looked at though nothing was said to have
	// happened: file systems over a network, and changes further up in the path,
	// say nothing.
	watchPoll = 5 * time.Second
)

// WatchOptions are settings of a [Watcher].
type WatchOptions struct {
	// File is what was read last: as long as the file has its bytes there is no
	// news.
	File *File
	// Changed gets what has become of the file, one piece of news after the other:
	// another sound file, or, with a nil File, why there is none to be had. What is
	// the same as before is told again only after the other kind, or when it was
	// asked for with [Watcher.Look]. Faults of single entries are no error, as with
	// [Load].
	Changed func(f *File, err error)
	// Beside is called when something beside the file may have changed, and now and
	// then for nothing; nil is not. It is called where Changed is.
	Beside func()
	// Logger; nil discards.
	Logger *slog.Logger
}

// Watcher tells of changes of a configuration file, however they are made: written
// to, replaced by another file of its name, by way of a symbolic link, removed
// and made again. Its methods may be called concurrently.
type Watcher struct {
	path string
	o    WatchOptions
	poll time.Duration

	touched chan struct{} // the file may have changed
	around  chan struct{} // something beside it has
	look    chan struct{}
	cancel  context.CancelFunc
	work    sync.WaitGroup

	// What follows is the loop's alone.

	last    []byte      // what was told last
	trouble string      // why there was nothing to tell, "" where there was
	doubted string      // the same, not told yet
	seen    fs.FileInfo // as it was, nil for not there
}

// Watch begins to watch the file at path. Close ends it.
func Watch(path string, o WatchOptions) *Watcher {
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

func newWatcher(path string, o WatchOptions) *Watcher {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	w := &Watcher{path: path, o: o, poll: watchPoll, touched: make(chan struct{}, 1), around: make(chan struct{}, 1), look: make(chan struct{}, 1)}
	if o.File != nil {
		w.last = o.File.Bytes()
	}
	return w
}

// Look has the file read at once, and what it says told in any case.
func (w *Watcher) Look() { poke(w.look) }

// Close ends the watching and returns when nothing is told any more.
func (w *Watcher) Close() {
	w.cancel()
	w.work.Wait()
}

// poke leaves word, where there is none yet.
func poke(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// run looks at the file whenever there is a reason to. dirs has the folders
// watched that matter by now.
func (w *Watcher) run(ctx context.Context, dirs func()) {
	dirs()
	poll := time.NewTicker(w.poll)
	defer poll.Stop()
	settle := time.NewTimer(0) // it may have changed since it was read
	defer settle.Stop()
	var since time.Time // changes are waited for to end since then, zero for none
	wait := func() {
		now := time.Now()
		if since.IsZero() {
			since = now
		}
		settle.Reset(min(watchSettle, time.Until(since.Add(watchMost))))
	}
	// What happens beside the file is looked at at once, and then not again for
	// a while: it may be a log that is written to all the time.
	lull := time.NewTimer(0)
	defer lull.Stop()
	lulled, stirred := true, false
	look := func() {
		dirs()
		w.beside()
		if w.moved() {
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
			if stirred = lulled; !stirred {
				lulled = true
				lull.Reset(watchSettle)
				look()
			}
		case <-lull.C:
			if lulled = stirred; stirred {
				stirred = false
				lull.Reset(watchSettle)
				look()
			}
		case <-poll.C:
			look()
		case <-settle.C:
			if w.moved() && !since.IsZero() && time.Since(since) < watchMost {
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

func (w *Watcher) beside() {
	if w.o.Beside != nil {
		w.o.Beside()
	}
}

// stat gives what the path leads to, nil for nothing.
func (w *Watcher) stat() fs.FileInfo {
	info, err := os.Stat(w.path)
	if err != nil {
		return nil
	}
	return info
}

// moved tells whether the path leads to another file, or one that was written
// to, than when it was last looked at.
func (w *Watcher) moved() bool {
	before, now := w.seen, w.stat()
	w.seen = now
	if before == nil || now == nil {
		return before != now
	}
	return !os.SameFile(before, now) || before.Size() != now.Size() || !before.ModTime().Equal(now.ModTime()) || before.Mode() != now.Mode()
}

// read tells what the file says, if that is news. It reports true where it is to
// be asked again in a moment whether what it says is meant.
func (w *Watcher) read(asked bool) (doubtful bool) {
	f, err := w.load()
	if err != nil {
		why := err.Error()
		switch {
		case asked:
		case why == w.trouble:
			w.doubted = ""
			return false
		case why != w.doubted:
			w.doubted = why
			return true
		}
		w.trouble, w.doubted = why, ""
		w.o.Changed(nil, err)
		return false
	}
	w.doubted = ""
	if !asked && w.trouble == "" && bytes.Equal(f.Bytes(), w.last) {
		return false
	}
	w.last, w.trouble = f.Bytes(), ""
	w.o.Changed(f, nil)
	return false
}

// load reads the file. Nothing, where there was something, is an error.
func (w *Watcher) load() (*File, error) {
	if _, err := os.Stat(w.path); errors.Is(err, fs.ErrNotExist) {
		return nil, &Problem{File: w.path, Message: "the file is gone"}
	}
	f, err := Load(w.path)
	if err == nil && f.root == nil {
		return nil, &Problem{File: w.path, Message: "the file is empty", Remedy: `{"mcpServers": {}} is a file without servers`}
	}
	return f, err
}
