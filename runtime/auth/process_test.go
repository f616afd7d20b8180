package auth_test

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/atomicfile"
	"github.com/mcpctl/mcpctl/internal/authconfig"
	"github.com/mcpctl/mcpctl/internal/tokenstore"
	"github.com/mcpctl/mcpctl/runtime/auth"
	"github.com/mcpctl/mcpctl/test/require"
)

var (
	kills     = flag.Int("kills", 80, "at how many random moments a process is killed, half of them of a login")
	killsSeed = flag.Uint64("kills-seed", 0, "repeats a run; 0 is a seed of its own")
)

// memberEnv has this test binary be one of many processes with one token file: its
// value is the server, the token file and the number of goroutines, one a line.
const memberEnv = "AUTH_TEST_MEMBER"

func TestMain(m *testing.M) {
	if text := os.Getenv(memberEnv); text != "" {
		member(strings.Split(text, "\n"))
		return
	}
	os.Exit(m.Run())
}

// member makes all its goroutines call once for each byte that it reads, through one
// authorizer, and writes what they got.
func member(args []string) {
	server, err := url.Parse(args[0])
	if err != nil {
		panic(err)
	}
	goroutines, err := strconv.Atoi(args[2])
	if err != nil {
		panic(err)
	}
	a := auth.New(auth.Options{
		Server: server, Config: authconfig.Config{CallbackPort: -1}, Store: &tokenstore.Store{Path: args[1]}, Prompter: &browser{},
	})
	for in, one := bufio.NewReader(os.Stdin), []byte{'\n'}; ; {
		_, _ = fmt.Println("ready")
		if _, err := io.ReadFull(in, one); err != nil {
			return
		}
		_, _ = fmt.Println(together(goroutines, func() string { return call(context.Background(), a, args[0]) }))
	}
}

// together does something in many goroutines at once, and returns what they got:
// "called", or the first other answer.
func together(n int, do func() string) string {
	got := make([]string, n)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() { got[i] = do() })
	}
	wg.Wait()
	for _, g := range got {
		if g != "called" {
			return g
		}
	}
	return "called"
}

// process is a running member.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// start starts a member and returns when it is ready to be released.
func start(t *testing.T, server, path string, goroutines int) *process {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	p := &process{cmd: exec.CommandContext(t.Context(), exe)}
	p.cmd.Env = append(os.Environ(), memberEnv+"="+server+"\n"+path+"\n"+strconv.Itoa(goroutines))
	p.cmd.Stderr = os.Stderr
	p.in, err = p.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	p.out = bufio.NewReader(out)
	require.NoError(t, p.cmd.Start())
	return p
}

func (p *process) ready(t *testing.T) {
	t.Helper()
	if line := p.line(); line != "ready" {
		t.Fatalf("the process says %q", line)
	}
}

func (p *process) line() string {
	line, err := p.out.ReadString('\n')
	if err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(line, "\n")
}

func (p *process) release(t *testing.T) {
	t.Helper()
	_, err := p.in.Write([]byte{'\n'})
	require.NoError(t, err)
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait() // it was killed
}

// TestManyProcesses: 50 processes and 100 goroutines of this one need another token at
// once, because theirs is about to end, or is refused. One asks for it, and all have it.
func TestManyProcesses(t *testing.T) {
	t.Parallel()
	const processes, goroutines = 50, 100
	w := newWorld(t, func(w *world) { w.slow = 100 * time.Millisecond })
	path := tokenFile(t)
	_, do := w.client(path, authconfig.Config{CallbackPort: -1}, &browser{t: t})
	if got := do(t); got != "called" {
		t.Fatal(got)
	}
	var all []*process
	for range processes {
		p := start(t, w.URL+"/mcp", path, 2)
		defer p.kill()
		all = append(all, p)
	}
	_, do = w.client(path, authconfig.Config{}, nil)
	round := func(why string, refreshes int64) {
		t.Helper()
		for _, p := range all {
			p.ready(t)
		}
		for _, p := range all {
			p.release(t)
		}
		if got := together(goroutines, func() string { return do(t) }); got != "called" {
			t.Errorf("%s: a goroutine got %q", why, got)
		}
		for _, p := range all {
			if got := p.line(); got != "called" {
				t.Errorf("%s: a process got %q", why, got)
			}
		}
		if n := w.refreshed.Load(); n != refreshes {
			t.Errorf("%s: %d refreshes, want %d", why, n, refreshes)
		}
	}
	endSoon(t, path)
	round("about to end", 1)
	w.expire()
	round("refused", 2)
	if n := w.granted.Load(); n != 3 {
		t.Errorf("%d tokens were granted, want 3", n)
	}
}

// TestFirstLogin: processes without a token that call at once have one page and one
// registration. Who waits for another's login gives up when its call does.
func TestFirstLogin(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { w.slow = 100 * time.Millisecond })
	path := tokenFile(t)
	var all []*process
	for range 5 {
		p := start(t, w.URL+"/mcp", path, 3)
		defer p.kill()
		all = append(all, p)
	}
	for _, p := range all {
		p.ready(t)
	}
	for _, p := range all {
		p.release(t)
	}
	for _, p := range all {
		if got := p.line(); got != "called" {
			t.Errorf("a process got %q", got)
		}
	}
	w.mu.Lock()
	pages := len(w.asked)
	w.mu.Unlock()
	if n := w.registered.Load(); pages != 1 || n != 1 {
		t.Errorf("%d pages and %d registrations, want 1 and 1", pages, n)
	}
	server, err := url.Parse(w.URL + "/mcp")
	require.NoError(t, err)
	other := &tokenstore.Store{Path: filepath.Join(t.TempDir(), "auth.json")}
	unlock, err := other.LockLogin(t.Context(), auth.Canonical(server), time.Second)
	require.NoError(t, err)
	defer unlock()
	b := &browser{t: t}
	a, _ := w.client(other.Path, authconfig.Config{CallbackPort: -1}, b)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if got := call(ctx, a, w.URL+"/mcp"); !strings.Contains(got, context.DeadlineExceeded.Error()) || b.pages.Load() > 0 {
		t.Errorf("while another process logs in: %q, %d pages", got, b.pages.Load())
	}
}

// endSoon makes the token that is kept one that ends in 20 seconds.
func endSoon(t *testing.T, path string) {
	t.Helper()
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	var file map[string]any
	require.NoError(t, json.Unmarshal(raw, &file))
	token := file["tokens"].([]any)[0].(map[string]any)
	token["expiresAt"] = time.Now().Add(20 * time.Second)
	token["obtainedAt"] = time.Now().Add(-time.Hour)
	raw, err = json.Marshal(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, raw, 0o600))
}

// TestKilled: whenever a process is killed in a refresh or a login, the token file is
// whole, no lock is held, and the next process can do what it did and leaves nothing
// that is temporary.
func TestKilled(t *testing.T) {
	t.Parallel()
	seed := *killsSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("repeat with -kills-seed %d", seed)
	const workers = 4
	for i := range workers {
		t.Run([]string{"login", "refresh"}[i%2]+strconv.Itoa(i/2), func(t *testing.T) {
			t.Parallel()
			v := newVictim(t, i%2 == 0)
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			took := max(v.undisturbed(t), v.undisturbed(t))
			for range (*kills + workers - 1) / workers {
				v.kill(t, time.Duration(r.Int64N(int64(took)*5/4)))
				if t.Failed() {
					return
				}
			}
			t.Logf("undisturbed %v; of %d killed, %d had changed the file, %d left a temporary one", took, v.killed, v.changed, v.temporary)
		})
	}
}

// victim is a token file whose processes are killed.
type victim struct {
	*world
	path  string
	login bool // is what they do, else a refresh

	killed, changed, temporary int
}

// otherToken is that of another server, which stays in the file.
const otherToken = `{"server":"https://other.example/mcp","accessToken":"other","source":"oauth"}`

func newVictim(t *testing.T, login bool) *victim {
	t.Helper()
	v := &victim{world: newWorld(t, nil), path: tokenFile(t), login: login}
	require.NoError(t, os.MkdirAll(filepath.Dir(v.path), 0o700))
	require.NoError(t, os.WriteFile(v.path, []byte(`{"version":1,"tokens":[`+otherToken+`]}`), 0o600))
	v.next(t)
	return v
}

// next does what a killed process did, as the next one.
func (v *victim) next(t *testing.T) {
	t.Helper()
	_, do := v.client(v.path, authconfig.Config{CallbackPort: -1}, &browser{t: t})
	if got := do(t); got != "called" {
		t.Errorf("the next process got %q", got)
	}
}

// begin starts a process that is about to log in, or to refresh.
func (v *victim) begin(t *testing.T) *process {
	t.Helper()
	if v.login {
		_, err := (&tokenstore.Store{Path: v.path}).Remove(t.Context(), v.URL+"/mcp")
		require.NoError(t, err)
	} else {
		v.expire()
	}
	p := start(t, v.URL+"/mcp", v.path, 1)
	p.ready(t)
	return p
}

// undisturbed returns how long it takes.
func (v *victim) undisturbed(t *testing.T) time.Duration {
	t.Helper()
	p := v.begin(t)
	defer p.kill()
	from := time.Now()
	p.release(t)
	if got := p.line(); got != "called" {
		t.Fatalf("undisturbed it got %q", got)
	}
	return time.Since(from)
}

// kill kills a process at a moment, and looks at what it leaves.
func (v *victim) kill(t *testing.T, moment time.Duration) {
	t.Helper()
	p := v.begin(t)
	before, err := os.ReadFile(v.path)
	require.NoError(t, err)
	p.release(t)
	time.Sleep(moment) // the moment is what is tested
	p.kill()
	v.killed++
	after, err := os.ReadFile(v.path)
	require.NoError(t, err)
	if string(after) != string(before) {
		v.changed++
	}
	var file struct{ Tokens []tokenstore.Token }
	if err := json.Unmarshal(after, &file); err != nil {
		t.Errorf("killed after %v it leaves %q: %v", moment, after, err)
	}
	var other int
	for _, k := range file.Tokens {
		if k.Access == "" {
			t.Errorf("killed after %v it leaves a token without its text", moment)
		}
		if k.Access == "other" {
			other++
		}
	}
	if other != 1 || len(file.Tokens) > 2 {
		t.Errorf("killed after %v it leaves %v", moment, file.Tokens)
	}
	for _, lock := range []string{".write.lock", ".refresh.lock"} {
		unlock, err := atomicfile.Lock(t.Context(), v.path+lock, time.Second)
		if err != nil {
			t.Errorf("killed after %v it holds %s: %v", moment, lock, err)
			continue
		}
		unlock()
	}
	v.temporary += len(v.leftovers(t))
	v.next(t)
	if left := v.leftovers(t); len(left) > 0 {
		t.Errorf("after the next write there are %v", left)
	}
}

// leftovers are the files that are neither the token file nor its locks.
func (v *victim) leftovers(t *testing.T) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(v.path))
	require.NoError(t, err)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), filepath.Base(v.path)) {
			names = append(names, e.Name())
		}
	}
	return names
}
