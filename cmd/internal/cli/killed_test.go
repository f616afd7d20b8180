package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/authn"
	"github.com/mcpctl/mcpctl/test/require"
)

var kills = flag.Int("kills", 200, "at how many random moments a process is killed that changes tokens")

// changerEnv has this test binary change tokens in a folder until it is killed. It writes
// a line after each change: the names, each as often as it has tokens.
const changerEnv = "TOKENS_TEST_CHANGER"

func TestMain(m *testing.M) {
	if isGuardian(os.Args[1:]) { // of servers that tests here start
		os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	if dir := os.Getenv(changerEnv); dir != "" {
		fmt.Fprintln(os.Stderr, change(dir))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// change changes tokens without an end: three are added, the first is rotated with the old
// one kept and the second without, and all are revoked.
func change(dir string) error {
	ctx := context.Background()
	c := &tokenCommand{UI: &ui.UI{Out: io.Discard, Err: io.Discard, Quiet: true}, StateDir: dir}
	names := func() string {
		all, err := authn.NewTokenFile(filepath.Join(dir, authn.TokenFileName)).List()
		if err != nil {
			return err.Error()
		}
		return namesOf(all)
	}
	steps := []func() error{
		func() error { return c.Add(ctx, "a", []string{"staff"}, "90d") },
		func() error { return c.Add(ctx, "b", nil, "") },
		func() error { return c.Add(ctx, "c", nil, "") },
		func() error { return c.Rotate(ctx, "a", "1h") },
		func() error { return c.Rotate(ctx, "b", "0") },
		func() error { return c.Revoke(ctx, []string{"a", "b", "c"}) },
	}
	for {
		for _, step := range steps {
			if err := step(); err != nil {
				return err
			}
			fmt.Println(names())
		}
	}
}

func namesOf(all []access.Token) string {
	var names []string
	for _, t := range all {
		names = append(names, t.Name)
	}
	slices.Sort(names)
	return strings.Join(names, "")
}

// after is what there may be if a process is killed that has written a line: what it
// wrote, or the next.
func after(line string, next int) []string {
	states := []string{"a", "ab", "abc", "aabc", "aabc", ""}
	if line == "" && next == 0 {
		return []string{"", states[0]}
	}
	return []string{line, states[next%len(states)]}
}

// TestKilled: whenever a process is killed that adds, rotates or revokes tokens, the file
// is whole, has what was there before the change or after it, and can be changed.
func TestKilled(t *testing.T) {
	t.Parallel()
	seen := make(chan string, *kills)
	const workers = 4
	for w := range workers {
		t.Run(fmt.Sprint("worker ", w), func(t *testing.T) {
			t.Parallel()
			for i := w; i < *kills; i += workers {
				seen <- killed(t, i)
			}
		})
	}
	t.Cleanup(func() {
		close(seen)
		at := map[string]int{}
		for s := range seen {
			at[s]++
		}
		if *kills >= 40 && len(at) < 2 {
			t.Errorf("all were killed in one state: %v", at)
		}
		t.Logf("killed with these tokens: %v", at)
	})
}

func killed(t *testing.T, i int) (state string) {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env, cmd.Stderr = append(os.Environ(), changerEnv+"="+dir), os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	wait := rand.N(10 * time.Millisecond)
	lines, last := 0, ""
	in := bufio.NewScanner(out)
	for in.Scan() {
		last = in.Text()
		if lines++; lines == 1 {
			time.AfterFunc(wait, func() { _ = cmd.Process.Kill() })
		}
	}
	_ = cmd.Wait() // it was killed
	raw, err := os.ReadFile(filepath.Join(dir, authn.TokenFileName))
	require.NoError(t, err)
	f := authn.NewTokenFile(filepath.Join(dir, authn.TokenFileName))
	all, err := f.List()
	if err != nil || !json.Valid(raw) {
		t.Fatalf("round %d, after %s: %v\n%s", i, wait, err, raw)
	}
	state = namesOf(all)
	if want := after(last, lines); !slices.Contains(want, state) {
		t.Errorf("round %d, after %s and %d changes: the tokens are %q, want one of %q", i, wait, lines, state, want)
	}
	if info, err := os.Stat(f.Path()); err != nil || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		t.Errorf("round %d: %v %v", i, info.Mode(), err)
	}
	c := &tokenCommand{UI: &ui.UI{Out: io.Discard, Err: io.Discard, Quiet: true}, StateDir: dir}
	if err := c.Add(t.Context(), "next", nil, ""); err != nil {
		t.Errorf("round %d: the next change: %v", i, err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) > 2 { // the file and its lock
		t.Errorf("round %d: %v is left, %v", i, left, err)
	}
	return state
}
