package watch

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/fsnotify/fsnotify"
)

// maxSymlinks bounds how many symbolic links are followed to the file.
const maxSymlinks = 16

// folders returns the directories in which a change of the file shows, and its
// names there: those of the path and of every symbolic link on the way to the file.
func folders(path string) (dirs []string, names map[string]bool) {
	names = map[string]bool{}
	for range maxSymlinks {
		dir := filepath.Dir(path)
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real // a changed link is another directory
		}
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
		path = filepath.Join(dir, filepath.Base(path))
		names[path] = true
		target, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(dir, target)
		}
		path = target
	}
	return dirs, names
}

// notify subscribes to file system events of the file and its directory. The
// function it returns updates the watched directories. Without events the file is
// only polled.
func (w *Watcher) notify(ctx context.Context) (dirs func()) {
	path, err := filepath.Abs(w.path)
	if err != nil {
		path = w.path
	}
	n, err := fsnotify.NewWatcher()
	if err != nil {
		w.o.Logger.Debug("changes of the configuration are found by looking", "every", w.poll, "err", err)
		return func() {}
	}
	failed := map[string]string{}
	names := map[string]bool{}
	news := make(chan map[string]bool)
	dirs = func() {
		wanted, now := folders(path)
		watched := n.WatchList()
		for _, dir := range watched {
			if !slices.Contains(wanted, dir) {
				_ = n.Remove(dir) // it is gone, or of no interest
			}
		}
		for _, dir := range wanted {
			if slices.Contains(watched, dir) {
				continue
			}
			switch err := n.Add(dir); {
			case err == nil:
				delete(failed, dir)
			case failed[dir] != err.Error(): // log once: it is retried
				failed[dir] = err.Error()
				w.o.Logger.Debug("changes of the configuration are found by looking", "folder", dir, "every", w.poll, "err", err)
			}
		}
		if !maps.Equal(names, now) {
			names = now
			select {
			case news <- now:
			case <-ctx.Done():
			}
		}
	}
	w.work.Go(func() { // ends with ctx
		defer n.Close()
		var names map[string]bool
		for {
			select {
			case <-ctx.Done():
				return
			case names = <-news:
			case e := <-n.Events:
				if names[e.Name] {
					wake(w.touched)
				} else {
					wake(w.around)
				}
			case err := <-n.Errors: // some events are lost
				w.o.Logger.Debug("changes of the configuration may have been missed", "err", err)
				wake(w.touched)
			}
		}
	})
	return dirs
}
