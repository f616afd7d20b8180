package layers_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/layers"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/test/require"
)

// world is a machine with a home, a project below it, and files of the layers.
type world struct {
	dir   string // without symbolic links
	trust layers.Trust
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	w := &world{dir, layers.Trust{Dir: filepath.Join(dir, "state")}}
	require.NoError(t, os.MkdirAll(w.at("home", "shop", "deep", "er"), 0o700))
	return w
}

func (w *world) at(names ...string) string {
	return filepath.Join(append([]string{w.dir}, names...)...)
}

func (w *world) project() string { return w.at("home", "shop", ".mcpctl", "servers.json") }

// write writes a servers.json with aliases whose command is the file's own name.
func (w *world) write(t *testing.T, path string, aliases ...string) {
	t.Helper()
	var entries []string
	for _, a := range aliases {
		entries = append(entries, `"`+a+`": {"command": "`+filepath.Base(filepath.Dir(path))+`"}`)
	}
	w.text(t, path, `{"mcpServers": {`+strings.Join(entries, ", ")+`}}`)
}

func (w *world) text(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

func (w *world) getenv(name string) string {
	return map[string]string{"HOME": w.at("home"), "USERPROFILE": w.at("home"), layers.SystemVariable: w.at("system", "servers.json")}[name]
}

// load finds and reads the layers as seen from the project's innermost folder.
func (w *world) load(t *testing.T) (*layers.Set, error) {
	t.Helper()
	return layers.Load(layers.Find(w.getenv, w.at("user", "servers.json"), w.at("home", "shop", "deep", "er")), w.trust)
}

func (w *world) set(t *testing.T) *layers.Set {
	t.Helper()
	set, err := w.load(t)
	require.NoError(t, err)
	return set
}

// said returns what the merged file says: each alias with the layer that it is from.
func said(set *layers.Set) string {
	var out []string
	for _, e := range set.File().Entries() {
		out = append(out, e.Name+"="+set.Of(e)+"/"+e.Command)
	}
	return strings.Join(out, " ")
}

// TestPrecedence: for every combination of layers that have an alias, the nearest counts.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	for have := range 8 {
		w := newWorld(t)
		want := ""
		for bit, l := range []struct{ name, path string }{
			{layers.System, w.at("system", "servers.json")}, {layers.User, w.at("user", "servers.json")}, {layers.Project, w.project()},
		} {
			aliases := []string{"only-" + l.name}
			if have&(1<<bit) != 0 {
				aliases = append(aliases, "gh")
				want = l.name
			}
			w.write(t, l.path, aliases...)
		}
		f, err := config.Load(w.project())
		require.NoError(t, err)
		require.NoError(t, w.trust.Decide(w.project(), f.Digest(), true))
		set := w.set(t)
		e, ok := set.File().Entry("gh")
		if ok != (want != "") || ok && set.Of(e) != want {
			t.Errorf("%03b: gh is that of %q, want %q: %s", have, set.Of(e), want, said(set))
		}
		for _, alias := range []string{"only-system", "only-user", "only-project"} {
			if _, err := set.File().Use(alias); err != nil {
				t.Errorf("%03b: %v", have, err)
			}
		}
		if !set.Several() {
			t.Errorf("%03b: the set has one layer", have)
		}
		if got := set.File().Path(); got != w.project() {
			t.Errorf("%03b: the path is %s", have, got)
		}
	}
}

// TestFind: where a project's file is found.
func TestFind(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	user := w.at("user", "servers.json")
	find := func(dir string) string { return layers.Find(w.getenv, user, dir).Project }
	deep := w.at("home", "shop", "deep", "er")
	if got := find(deep); got != "" {
		t.Errorf("without a file: %s", got)
	}
	w.write(t, w.at("home", ".mcpctl", "servers.json"), "a")
	w.write(t, w.at(".mcpctl", "servers.json"), "a")
	if got := find(deep); got != "" {
		t.Errorf("the home directory, or what is above it, is a project: %s", got)
	}
	w.write(t, w.project(), "a")
	for _, dir := range []string{deep, w.at("home", "shop")} {
		if got := find(dir); got != w.project() {
			t.Errorf("from %s: %q", dir, got)
		}
	}
	if got := find(w.at("home")); got != "" {
		t.Errorf("from home: %s", got)
	}
	require.NoError(t, os.MkdirAll(w.at("elsewhere", "x"), 0o700))
	if got := find(w.at("elsewhere", "x")); got != w.at(".mcpctl", "servers.json") {
		t.Errorf("outside of home: %q", got)
	}
	if got := layers.Find(w.getenv, w.project(), deep).Project; got != "" {
		t.Errorf("the user's own file is a project's: %s", got)
	}
	if goruntime.GOOS != "windows" { // which lets few users make links
		require.NoError(t, os.Symlink(w.at("home", "shop"), w.at("elsewhere", "link")))
		if got := layers.ProjectPath(w.getenv, w.at("elsewhere", "link", "deep")); got != w.project() {
			t.Errorf("through a link: %q", got)
		}
	}
	if got := find("relative"); got != "" {
		t.Errorf("from a folder that does not exist: %s", got)
	}
}

// TestProjectPath: where a project's file would be made.
func TestProjectPath(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	deep := w.at("home", "shop", "deep")
	for _, step := range []struct {
		make, want string
	}{
		{"", deep},
		{w.at("home", ".git"), deep}, // a repository of dotfiles is no project
		{w.at("home", "shop", ".git"), w.at("home", "shop")},
		{w.at("home", "shop", ".mcpctl", "servers.json"), w.at("home", "shop")},
		{filepath.Join(deep, ".mcpctl", "servers.json"), deep},
	} {
		if step.make != "" {
			w.text(t, step.make, "{}")
		}
		if got := layers.ProjectPath(w.getenv, deep); got != layers.PathIn(step.want) {
			t.Errorf("with %s: %s, want it in %s", step.make, got, step.want)
		}
	}
	if got := layers.ProjectPath(w.getenv, w.at("home")); got != "" {
		t.Errorf("in the home directory: %s", got)
	}
}

// TestTrust walks through what can happen to a project's file.
func TestTrust(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(t, w.at("user", "servers.json"), "gh", "own")
	w.write(t, w.project(), "gh", "db")
	state := func(want layers.State, usable string) {
		t.Helper()
		set := w.set(t)
		if got := set.Layer(layers.Project).State; got != want {
			t.Fatalf("the state is %q, want %q", got, want)
		}
		if got := said(set); got != usable {
			t.Fatalf("%s: usable are %q, want %q", want, got, usable)
		}
		var untrusted *layers.UntrustedError
		_, err := set.File().Use("gh")
		if want == layers.Used && err != nil || want != layers.Used && (!errors.As(err, &untrusted) || !strings.Contains(err.Error(), w.project())) {
			t.Fatalf("%s: naming a server of the file: %v", want, err)
		}
		if _, err := set.File().Use("own"); err != nil {
			t.Fatalf("%s: %v", want, err)
		}
		warned := len(set.Warnings()) == 1
		if warned != (want == layers.New || want == layers.Changed) || (set.Untrusted() != nil) != warned {
			t.Fatalf("%s: warnings are %v", want, set.Warnings())
		}
	}
	const ignored, used = "gh=user/user own=user/user", "gh=project/.mcpctl db=project/.mcpctl own=user/user"
	decide := func(trusted bool) {
		t.Helper()
		require.NoError(t, w.trust.Decide(w.project(), w.set(t).Layer(layers.Project).File.Digest(), trusted))
	}

	state(layers.New, ignored)
	decide(false)
	state(layers.Refused, ignored)
	decide(true)
	state(layers.Used, used)
	// Comments and white space are nothing that would run.
	w.text(t, w.project(), "// hello\n{\"mcpServers\": {\n \"gh\": {\"command\": \".mcpctl\"}, // c\n \"db\": {\"command\": \".mcpctl\"},}}")
	state(layers.Used, used)
	w.text(t, w.project(), `{"mcpServers": {"gh": {"command": ".mcpctl"}, "db": {"command": ".mcpctl", "env": {"NODE_OPTIONS": "-r ./evil"}}}}`)
	state(layers.Changed, ignored)
	decide(true)
	state(layers.Used, used)
	was, err := w.trust.Forget(w.project())
	require.NoError(t, err)
	if !was {
		t.Error("Forget does not know that the file was trusted")
	}
	state(layers.New, ignored)

	// The same bytes in another place are another file.
	other := w.at("home", "other")
	raw, err := os.ReadFile(w.project())
	require.NoError(t, err)
	decide(true)
	w.text(t, layers.PathIn(other), string(raw))
	set, err := layers.Load(layers.Find(w.getenv, w.at("user", "servers.json"), other), w.trust)
	require.NoError(t, err)
	if got := set.Layer(layers.Project).State; got != layers.New {
		t.Errorf("a copy is %s", got)
	}
	// A file without servers runs nothing.
	w.text(t, w.project(), `{}`)
	if got := w.set(t).Layer(layers.Project).State; got != layers.Used {
		t.Errorf("a file without servers is %s", got)
	}
}

// TestOddProjectFiles: files that nobody should make.
func TestOddProjectFiles(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"broken": `{"mcpServers": {`, "no object": `[]`, "huge": `{"x": "` + strings.Repeat("x", 5<<20) + `"}`,
	} {
		w := newWorld(t)
		w.write(t, w.at("user", "servers.json"), "own")
		w.text(t, w.project(), text)
		set := w.set(t)
		if l := set.Layer(layers.Project); l.State != layers.Broken || said(set) != "own=user/user" || len(set.Warnings()) != 1 {
			t.Errorf("%s: %s, %s, %v", name, l.State, said(set), set.Warnings())
		}
		// Once trusted, it is like a file of the user.
		require.NoError(t, w.trust.Decide(w.project(), "0", true))
		if _, err := w.load(t); !errors.As(err, new(*config.Problem)) {
			t.Errorf("%s, in a trusted project: %v", name, err)
		}
	}
	w := newWorld(t)
	require.NoError(t, os.MkdirAll(w.project(), 0o700))
	if l := w.set(t).Layer(layers.Project); l.State != layers.Broken {
		t.Errorf("a directory is %s", l.State)
	}
	// A trust file that is not ours trusts nothing, and is not overwritten.
	w = newWorld(t)
	w.write(t, w.project(), "a")
	w.text(t, w.trust.Path(), "rubbish")
	if _, err := w.load(t); err == nil || !strings.Contains(err.Error(), w.trust.Path()) {
		t.Errorf("a broken trust file: %v", err)
	}
	if err := w.trust.Decide("x", "y", true); err == nil {
		t.Error("a broken trust file was overwritten")
	}
}

// TestForeign: a project's file of another user needs trust by its path.
func TestForeign(t *testing.T) {
	t.Parallel()
	if goruntime.GOOS == "windows" || os.Geteuid() != 0 {
		t.Skip("only root can give a file to another user")
	}
	const other = 4711
	w := newWorld(t)
	w.write(t, w.project(), "a")
	w.write(t, w.at("system", "servers.json"), "s")
	require.NoError(t, os.Chown(w.project(), other, other))
	require.NoError(t, os.Chown(w.at("system", "servers.json"), other, other))
	set := w.set(t)
	if l := set.Layer(layers.Project); l.State != layers.Foreign || set.Untrusted() != nil {
		t.Errorf("the state is %s, and it is asked about: %v", l.State, set.Untrusted())
	}
	if said(set) != "" || len(set.Warnings()) != 2 {
		t.Errorf("used are %q; %v", said(set), set.Warnings())
	}
	require.NoError(t, w.trust.Decide(w.project(), set.Layer(layers.Project).File.Digest(), true))
	if got := said(w.set(t)); got != "a=project/.mcpctl" {
		t.Errorf("trusted, used are %q", got)
	}
	// A link of another user to a file of ours.
	require.NoError(t, os.Rename(w.project(), w.at("mine.json")))
	require.NoError(t, os.Chown(w.at("mine.json"), 0, 0))
	require.NoError(t, os.Symlink(w.at("mine.json"), w.project()))
	require.NoError(t, os.Lchown(w.project(), other, other))
	w.write(t, w.at("mine.json"), "b")
	if l := w.set(t).Layer(layers.Project); l.State != layers.Foreign {
		t.Errorf("a link of another user is %s", l.State)
	}
}

// TestProjectEntriesRunInTheirProject: the working directory, wherever mcpctl runs.
func TestProjectEntriesRunInTheirProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.text(t, w.project(), `{"mcpServers": {"a": {"command": "a"}, "b": {"command": "b", "cwd": "deep"}, "c": {"command": "c", "cwd": "${DIR}"}}}`)
	_, err := layers.UpdateProject(w.project(), w.trust, func(*config.File) error { return nil })
	require.NoError(t, err)
	require.NoError(t, w.trust.Decide(w.project(), w.set(t).Layer(layers.Project).File.Digest(), true))
	shop := w.at("home", "shop")
	for alias, want := range map[string]string{"a": shop, "b": filepath.Join(shop, "deep"), "c": w.at("x")} {
		e, err := w.set(t).File().Use(alias)
		require.NoError(t, err)
		x, err := e.Expand(func(string) (string, bool) { return w.at("x"), true })
		require.NoError(t, err)
		if x.Cwd != want {
			t.Errorf("%s runs in %s, want %s", alias, x.Cwd, want)
		}
	}
}

// TestUpdateProject: what the user writes is trusted, and only that.
func TestUpdateProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	add := func(alias string, want bool) {
		t.Helper()
		trusted, err := layers.UpdateProject(w.project(), w.trust, func(f *config.File) error { return f.Set(alias, []byte(`{"command":"x"}`), false) })
		require.NoError(t, err)
		if trusted != want || (w.set(t).Layer(layers.Project).State == layers.Used) != want {
			t.Errorf("%s: trusted is %v, and the state is %s", alias, trusted, w.set(t).Layer(layers.Project).State)
		}
	}
	add("a", true)
	add("b", true)
	w.text(t, w.project(), `{"mcpServers": {"evil": {"command": "evil"}}}`)
	add("c", false)
	failed := errors.New("no")
	if _, err := layers.UpdateProject(w.project(), w.trust, func(*config.File) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("got %v", err)
	}
}

// TestUpdateTogether: edits of a project's file at once all arrive, and it stays trusted.
func TestUpdateTogether(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const n = 12
	errs := make(chan error)
	for i := range n {
		go func() {
			trusted, err := layers.UpdateProject(w.project(), w.trust, func(f *config.File) error {
				return f.Set(fmt.Sprintf("s%d", i), []byte(`{"command":"x"}`), false)
			})
			if !trusted && err == nil {
				err = errors.New("an edit is not trusted")
			}
			errs <- err
		}()
	}
	for range n {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	set := w.set(t)
	if got := len(set.File().Entries()); got != n || set.Layer(layers.Project).State != layers.Used {
		t.Errorf("%d servers, want %d; the file is %s", got, n, set.Layer(layers.Project).State)
	}
}

// TestDecisions of several writers: none is lost, and there is a bound.
func TestDecisions(t *testing.T) {
	t.Parallel()
	trust := layers.Trust{Dir: t.TempDir()}
	done := make(chan error)
	const writers, each = 4, 5
	for i := range writers {
		go func() {
			var errs []error
			for j := range each {
				errs = append(errs, trust.Decide(filepath.Join("/p", string(rune('a'+i)), string(rune('a'+j))), "d", true))
			}
			done <- errors.Join(errs...)
		}()
	}
	for range writers {
		require.NoError(t, <-done)
	}
	all, err := trust.Decisions()
	require.NoError(t, err)
	if len(all) != writers*each {
		t.Errorf("%d decisions, want %d", len(all), writers*each)
	}
	if info, err := os.Stat(trust.Path()); err != nil || goruntime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v", info, err)
	}
	none := layers.Trust{}
	if err := none.Decide("p", "d", true); err == nil {
		t.Error("a decision without a state directory is kept")
	}
	if slices.ContainsFunc(all, func(d layers.Decision) bool { return d.At.IsZero() }) {
		t.Error("a decision has no time")
	}
}
