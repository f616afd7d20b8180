package watch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/test/wait"
)

// watching is a file and a watcher's reports of it, a line each: the names of the
// servers, or the error.
type watching struct {
	t    *testing.T
	path string
	w    *Watcher

	mu   sync.Mutex
	told []string
}

func (x *watching) changed(f *config.File, err error) {
	line := ""
	if err != nil {
		line = err.Error()
	} else {
		for _, e := range f.Entries() {
			line += e.Name + " "
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.told = append(x.told, strings.TrimSpace(strings.TrimPrefix(line, x.path+":")))
}

// got returns the reports since the last call.
func (x *watching) got() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	line := strings.Join(x.told, "; ")
	x.told = nil
	return line
}

func servers(names string) string {
	var entries []string
	for name := range strings.FieldsSeq(names) {
		entries = append(entries, fmt.Sprintf(`%q: {"command": "x"}`, name))
	}
	return `{"mcpServers": {` + strings.Join(entries, ", ") + `}}`
}

func (x *watching) write(text string) {
	x.t.Helper()
	if err := os.WriteFile(x.path, []byte(text), 0o600); err != nil {
		x.t.Fatal(err)
	}
}

// rename saves as most editors do.
func (x *watching) rename(text string) {
	x.t.Helper()
	if err := os.WriteFile(x.path+".new", []byte(text), 0o600); err != nil {
		x.t.Fatal(err)
	}
	if err := os.Rename(x.path+".new", x.path); err != nil {
		x.t.Fatal(err)
	}
}

// newWatching has a file with one server and a watcher of it that has not begun.
func newWatching(t *testing.T) *watching {
	t.Helper()
	x := &watching{t: t, path: filepath.Join(t.TempDir(), "servers.json")}
	x.write(servers("a"))
	f, err := config.Load(x.path)
	if err != nil {
		t.Fatal(err)
	}
	x.w = newWatcher(x.path, Options{File: f, Changed: x.changed})
	return x
}

// bubble runs a test on a fake clock, without events of the operating system: the
// test wakes the watcher.
func bubble(t *testing.T, test func(t *testing.T, x *watching)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		x := newWatching(t)
		ctx, cancel := context.WithCancel(t.Context())
		x.w.cancel = cancel
		x.w.work.Go(func() { x.w.run(ctx, func() {}) })
		defer x.w.Close()
		synctest.Wait()
		test(t, x)
	})
}

func (x *watching) expect(after time.Duration, want string) {
	x.t.Helper()
	time.Sleep(after)
	synctest.Wait()
	if got := x.got(); got != want {
		x.t.Errorf("told %q, want %q", got, want)
	}
}

func TestWatchSettles(t *testing.T) {
	bubble(t, func(_ *testing.T, x *watching) {
		x.expect(time.Minute, "")
		x.rename(servers("b"))
		wake(x.w.touched)
		x.expect(watchSettle-time.Millisecond, "")
		x.expect(2*time.Millisecond, "b")
		wake(x.w.touched) // nothing has changed
		x.expect(time.Minute, "")
		x.rename(servers("b c"))
		wake(x.w.around) // as where a folder on the way is another
		x.expect(watchSettle+time.Millisecond, "b c")
		wake(x.w.around)
		x.expect(time.Minute, "")
	})
}

// TestWatchHalfWritten: a file written in steps is read when it is complete.
func TestWatchHalfWritten(t *testing.T) {
	bubble(t, func(_ *testing.T, x *watching) {
		for _, text := range []string{"", `{"mcpServers": {"b"`, servers("b")} {
			x.write(text)
			wake(x.w.touched)
			time.Sleep(watchSettle + watchDoubt/2)
		}
		x.expect(time.Second, "b")
		x.write("")
		wake(x.w.touched)
		time.Sleep(watchSettle + watchDoubt/2)
		x.write(servers("b")) // as before
		wake(x.w.touched)
		x.expect(time.Minute, "")
	})
}

// TestWatchTrouble: a file that stays broken, empty or missing is reported once, and
// again when it is repaired, even with its old content.
func TestWatchTrouble(t *testing.T) {
	for name, tt := range map[string]struct {
		do   func(x *watching)
		want string
	}{
		"broken": {func(x *watching) { x.write("{\n \"mcpServers\": {\"a\": }}") }, `2:22: '}' where a value is due`},
		"empty":  {func(x *watching) { x.write("// nothing\n") }, "the file is empty"},
		"gone":   {func(x *watching) { _ = os.Remove(x.path) }, "the file is gone"},
		"folder": {func(x *watching) { _ = os.Remove(x.path); _ = os.Mkdir(x.path, 0o700) }, "it is a directory, not a regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(_ *testing.T, x *watching) {
				tt.do(x)
				wake(x.w.touched)
				x.expect(watchSettle+watchDoubt-time.Millisecond, "")
				x.expect(2*time.Millisecond, tt.want)
				wake(x.w.touched)
				x.expect(time.Minute, "")
				_ = os.Remove(x.path)
				x.rename(servers("a"))
				wake(x.w.touched)
				x.expect(watchSettle+time.Millisecond, "a")
			})
		})
	}
}

// TestWatchBurst: a file that changes all the time is read regularly.
func TestWatchBurst(t *testing.T) {
	bubble(t, func(t *testing.T, x *watching) {
		for i := range 1000 { // 5 s
			x.rename(servers(fmt.Sprint("s", i)))
			wake(x.w.touched)
			time.Sleep(5 * time.Millisecond)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		told := strings.Split(x.got(), "; ")
		if n := len(told); n < 3 || n > 4 || told[n-1] != "s999" {
			t.Errorf("told %d times, at last %s", n, told[n-1])
		}
	})
}

// TestWatchBeside: a log that is written beside the file costs next to nothing.
func TestWatchOthers(t *testing.T) {
	bubble(t, func(t *testing.T, x *watching) {
		looked := 0
		x.w.o.OthersChanged = func() { looked++ }
		for range 1000 { // 5 s
			wake(x.w.around)
			time.Sleep(5 * time.Millisecond)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if n := looked; n < 20 || n > 30 {
			t.Errorf("looked %d times", n)
		}
		x.rename(servers("b"))
		wake(x.w.around)
		x.expect(watchSettle+time.Millisecond, "b")
	})
}

// TestWatchLooks: changes without events are found by polling.
func TestWatchLooks(t *testing.T) {
	bubble(t, func(_ *testing.T, x *watching) {
		x.rename(servers("b"))
		x.expect(watchPoll+watchSettle+time.Millisecond, "b")
		if err := os.Remove(x.path); err != nil {
			x.t.Fatal(err)
		}
		x.expect(watchPoll+watchSettle+watchDoubt+time.Millisecond, "the file is gone")
		x.rename(servers("b"))
		x.expect(watchPoll+watchSettle+time.Millisecond, "b")
	})
}

// TestWatchLook: Look reports at once, in any case.
func TestWatchLook(t *testing.T) {
	bubble(t, func(_ *testing.T, x *watching) {
		x.w.Look()
		x.expect(0, "a")
		x.write(`{`)
		x.w.Look()
		x.expect(0, `1:1: this '{' is never closed`)
		x.w.Look()
		x.expect(0, `1:1: this '{' is never closed`)
		x.expect(time.Minute, "")
		x.write(servers("a b"))
		x.w.Look()
		x.expect(0, "a b")
		x.expect(time.Minute, "")
	})
}

// TestWatchBegins: a change between reading the file and watching it is reported.
func TestWatchBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newWatching(t)
		x.rename(servers("a b"))
		ctx, cancel := context.WithCancel(t.Context())
		x.w.cancel = cancel
		x.w.work.Go(func() { x.w.run(ctx, func() {}) })
		defer x.w.Close()
		x.expect(time.Millisecond, "a b")
	})
}

// TestWatchReal: the operating system reports each way to change a file.
func TestWatchReal(t *testing.T) {
	t.Parallel()
	x := newWatching(t)
	x.w.poll = time.Hour // so that it cannot be found by looking
	dir := filepath.Dir(x.path)
	if n, err := fsnotify.NewWatcher(); err != nil {
		t.Skip("the operating system sends no events: ", err) // such as with too many watchers
	} else if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	x.w.start()
	defer x.w.Close()
	x.soon("begun", func() { x.w.Look() }, "a")
	x.soon("renamed", func() { x.rename(servers("b")) }, "b")
	x.soon("written", func() { x.write(servers("c")) }, "c")
	x.soon("removed", func() { _ = os.Remove(x.path) }, "the file is gone")
	x.soon("made again", func() { x.write(servers("d")) }, "d")
	// As Kubernetes mounts a ConfigMap.
	one, two := filepath.Join(dir, "..one"), filepath.Join(dir, "..two")
	for folder, names := range map[string]string{one: "d", two: "e"} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "servers.json"), []byte(servers(names)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := func(target, name string) {
		tmp := filepath.Join(dir, "tmp")
		if err := os.Symlink(target, tmp); err != nil {
			t.Skip(err) // Windows may not let us
		}
		if err := os.Rename(tmp, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	link("..one", "..data")
	link(filepath.Join("..data", "servers.json"), "servers.json")
	x.soon("swapped", func() { link("..two", "..data") }, "e")
	x.soon("behind the link", func() {
		if err := os.WriteFile(filepath.Join(two, "servers.json"), []byte(servers("f")), 0o600); err != nil {
			t.Error(err)
		}
	}, "f")
}

// TestWatchFolder: a folder that is removed and made again is watched again.
func TestWatchFolder(t *testing.T) {
	t.Parallel()
	x := newWatching(t)
	x.w.poll = 50 * time.Millisecond
	dir := filepath.Dir(x.path)
	x.w.start()
	defer x.w.Close()
	x.soon("removed", func() { _ = os.RemoveAll(dir) }, "the file is gone")
	x.soon("made again", func() {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Error(err)
		}
		x.write(servers("b"))
	}, "b")
}

// soon does something and waits for a report. A slow machine may also report an empty
// file, between truncating and writing it.
func (x *watching) soon(what string, do func(), want string) {
	x.t.Helper()
	do()
	var got string
	wait.Until(x.t, what, func() bool {
		got = strings.TrimPrefix(strings.TrimPrefix(x.got(), "the file is empty"), "; ")
		return got != ""
	})
	if got != want {
		x.t.Errorf("%s: told %q, want %q", what, got, want)
	}
}
