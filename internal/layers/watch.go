package layers

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/config/watch"
)

// WatchOptions are settings of a [Watcher].
type WatchOptions struct {
	Places Places
	Trust  Trust
	// Set was read last.
	Set *Set
	// Changed is called, never concurrently, with what the layers say now, or with a nil
	// File and why a file cannot be used; see [watch.Options].
	Changed func(f *config.File, err error)
	// OthersChanged, when not nil, is called when something beside one of the files may have
	// changed, sometimes in vain; never concurrently.
	OthersChanged func()
	// Logger is told of a project file that changes and is not trusted; not nil.
	Logger *slog.Logger
}

// Watcher follows the files of the layers that there were at first, and the decision about
// the project's. Its methods may be called concurrently.
type Watcher struct {
	o      WatchOptions
	files  []*watch.Watcher
	events chan error // of the files: nil for a change, or why one cannot be read
	look   chan struct{}
	cancel context.CancelFunc
	work   sync.WaitGroup

	besides sync.Mutex // held while Beside runs

	// Only the loop uses the rest.

	set    *Set
	failed string // why the files could not be read when somebody asked for it, "" if they could
	warned string // the digest of the project file that the logger was told of
}

// Watch follows the layers until Close.
func Watch(o WatchOptions) *Watcher {
	ctx, cancel := context.WithCancel(context.Background())
	w := &Watcher{o: o, events: make(chan error), look: make(chan struct{}, 1), cancel: cancel, set: o.Set}
	decided := stat(o.Trust.Path())
	for _, l := range o.Set.Layers {
		file := watch.Options{File: l.File, Logger: o.Logger, Changed: func(_ *config.File, err error) {
			if err != nil && (l.State != Used || l.File.Missing()) {
				return // it is not used in any case
			}
			select {
			case w.events <- err:
			case <-ctx.Done():
			}
		}}
		file.OthersChanged = func() {
			w.besides.Lock()
			defer w.besides.Unlock()
			// The watcher of a project looks every few seconds, without an event, too.
			if now := stat(o.Trust.Path()); l.Name == Project && now != decided {
				decided = now
				w.Look()
			}
			if o.OthersChanged != nil {
				o.OthersChanged()
			}
		}
		w.files = append(w.files, watch.File(l.Path, file))
	}
	w.work.Go(func() { // ends with ctx
		for {
			// The watchers of the files say nothing when one that was half written has
			// become what it was before.
			var again <-chan time.Time
			if w.failed != "" {
				again = time.After(time.Second)
			}
			select {
			case <-ctx.Done():
				return
			case <-again:
				w.reload()
			case <-w.look:
				w.failed = ""
				w.reload()
			case err := <-w.events:
				if err != nil {
					o.Changed(nil, err)
					continue
				}
				w.reload()
			}
		}
	})
	return w
}

// stat returns what changes when a file is replaced.
func stat(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.Size(), info.ModTime())
}

// Look reads the files at once and calls Changed in any case.
func (w *Watcher) Look() {
	select {
	case w.look <- struct{}{}:
	default: // it is about to
	}
}

// Close stops the watcher and returns after the last call of Changed.
func (w *Watcher) Close() {
	w.cancel()
	for _, f := range w.files {
		f.Close()
	}
	w.work.Wait()
}

// reload reads all layers and reports what they say.
func (w *Watcher) reload() {
	set, err := Load(w.o.Places, w.o.Trust)
	if err == nil {
		err = w.set.gone(set)
	}
	if err != nil {
		if w.failed != err.Error() {
			w.failed = err.Error()
			w.o.Changed(nil, err)
		}
		return
	}
	w.failed = ""
	w.set = w.keepTrusted(set)
	w.o.Changed(w.set.File(), nil)
}

// gone returns an error for a file that was there before, or had a value: an editor may be
// about to write it again.
func (before *Set) gone(now *Set) error {
	for _, l := range before.Layers {
		after := now.Layer(l.Name)
		switch {
		case l.File == nil || l.File.Empty() != nil:
		case after == nil:
			return config.FileProblem(l.Path, fs.ErrNotExist)
		case after.File != nil && after.File.Empty() != nil:
			return after.File.Empty()
		}
	}
	return nil
}

// keepTrusted keeps what the project's file said before if what it says now is not
// trusted. If it says the same, the user has withdrawn the trust.
func (w *Watcher) keepTrusted(set *Set) *Set {
	before, now := w.set.Layer(Project), set.Layer(Project)
	if before == nil || now == nil || before.State != Used || now.State == Used || now.File == nil || before.File.Digest() == now.File.Digest() {
		return set
	}
	if digest := now.File.Digest(); w.warned != digest {
		w.warned = digest
		w.o.Logger.Warn("the project's file has changed and is not trusted: what it said before stays", "file", now.Path, "hint", "mcpctl config trust")
	}
	*now = *before
	return set
}
