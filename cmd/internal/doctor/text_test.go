package doctor

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/test/require"
)

var update = flag.Bool("update", false, "write testdata anew")

func sample() *Result {
	fine := &Report{Name: "notes", OK: true, took: 840 * time.Millisecond}
	fine.Pass("runner", "/usr/bin/npx")
	fine.Pass("era", "protocol 2025-11-25 (legacy)")
	fine.Pass("tools", "14 tools")
	leaks := &Report{Name: "github-with-a-long-name-that-is-copied", OK: true, took: time.Second}
	leaks.Warn("secrets", "env.GITHUB_TOKEN looks like a secret, and its text is in servers.json",
		orEdit(`write "${GITHUB_TOKEN}" for its text, and export GITHUB_TOKEN=…`))
	leaks.Pass("tools", "1 tool")
	gone := &Report{Name: "kube", OK: true}
	gone.Pass("runner", "/usr/bin/kubernetes-mcp-server")
	gone.Fail("starts", "connect", "kubernetes-mcp-server ended (exit status 1): no configuration has been provided; KUBECONFIG is set here and not passed to the server",
		"mcpctl add kube --replace --env KUBECONFIG -- kubernetes-mcp-server --read-only --list-output table")
	file := &Report{Name: "/home/me/.config/mcpctl/servers.json", OK: true}
	file.Fail("mode", "config", "other users of this machine have access (mode 0644), and it holds secrets", "mcpctl doctor --fix")
	return &Result{Servers: []*Report{fine, leaks, gone}, Files: []*Report{file}}
}

// TestText compares the screens of 60, 80 and 120 columns with those in testdata. No line
// is wider, but for names and commands, which are whole.
func TestText(t *testing.T) {
	t.Parallel()
	for _, width := range []int{60, 80, 120} {
		got := Text{Result: sample(), Width: width}.String()
		file := filepath.Join("testdata", fmt.Sprintf("doctor_%d.txt", width))
		if *update {
			require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%d columns (-want +got), see -update:\n%s", width, diff)
		}
		for line := range strings.Lines(got) {
			if utf8.RuneCountInString(line) > width+1 && !strings.HasPrefix(line, "    fix: mcpctl ") {
				t.Errorf("%d columns: %q is wider", width, line)
			}
		}
		for _, r := range sample().Servers {
			for _, c := range r.Checks {
				if command, _, _ := strings.Cut(c.Fix, remarkSign); !strings.Contains(got, r.Name) || !strings.Contains(got, command) {
					t.Errorf("%d columns: %s or %q is cut", width, r.Name, command)
				}
			}
		}
	}
}

func TestWorst(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kinds []string
		want  string
	}{
		{nil, ""},
		{[]string{"auth"}, "auth"},
		{[]string{"auth", "timeout", "protocol"}, "timeout"},
		{[]string{"protocol", "connect"}, "connect"},
		{[]string{"connect", "config"}, "config"},
		{[]string{"denied"}, "denied"},
	} {
		r := &Report{OK: true}
		r.Warn("secrets", "a warning", "does not fail")
		for _, kind := range c.kinds {
			r.Fail("x", kind, "m", "")
		}
		if got := (&Result{Servers: []*Report{r}}).Worst(); got != c.want || r.OK != (c.want == "") {
			t.Errorf("%v: got %q, ok %v", c.kinds, got, r.OK)
		}
	}
}

// TestProgress: the live table knows what waits, what is checked and what was found.
func TestProgress(t *testing.T) {
	t.Parallel()
	s := sample().Servers
	got := Progress([]string{"a", "b", s[2].Name, s[0].Name}, []bool{false, true, true, true}, []*Report{nil, nil, s[2], s[0]})
	want := []string{
		"waiting  a",
		"checks   b",
		"error    kube  kubernetes-mcp-server ended (exit status 1): no configuration has been provided; KUBECONFIG is set here and not passed to the server",
		"ok       notes  14 tools, protocol 2025-11-25 (legacy), 840ms",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestLine(t *testing.T) {
	t.Parallel()
	for remedy, want := range map[string]string{
		"": "mcpctl x", "mcpctl auth login gh": "mcpctl auth login gh",
		"did you mean url?":                  "mcpctl x  # did you mean url?",
		"mcpctl list shows the servers":      "mcpctl x  # mcpctl list shows the servers",
		"mcpctl tools a and so on reach it ": "mcpctl x  # mcpctl tools a and so on reach it ",
	} {
		if got := line("mcpctl x", remedy); got != want {
			t.Errorf("%q: got %q", remedy, got)
		}
	}
}

// TestPrivate: a file that others may read is a fault, and --fix mends it once.
func TestPrivate(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "auth.json")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	if err := os.Chmod(file, 0o604); err != nil || modeOf(t, file) != 0o604 {
		t.Skip("the system has no such modes")
	}
	for _, c := range []struct {
		fix, ok bool
		mode    fs.FileMode
	}{{false, false, 0o604}, {true, true, 0o600}, {false, true, 0o600}} {
		r := &Report{OK: true}
		Files{Fix: c.fix}.private(r, file, "it holds tokens")
		if r.OK != c.ok || modeOf(t, file) != c.mode || len(r.Checks) != 1 {
			t.Errorf("%+v: got %+v, mode %o", c, r, modeOf(t, file))
		}
	}
	r := &Report{OK: true}
	Files{}.private(r, file+"-not-there", "")
	if _, err := os.Stat(file + "-not-there"); !errors.Is(err, fs.ErrNotExist) || len(r.Checks) > 0 {
		t.Errorf("got %+v", r)
	}
}

func modeOf(t *testing.T, file string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(file)
	require.NoError(t, err)
	return info.Mode().Perm()
}

// TestViews: what a view says of tools that nobody has is a warning, not a fault.
func TestViews(t *testing.T) {
	if got := Views("c.yaml", nil); got != nil {
		t.Errorf("got %+v", got)
	}
	got := Views("c.yaml", []config.Problem{{File: "c.yaml", Line: 3, Column: 5, Message: "no such tool", Remedy: "mcpctl tools --live lists the tools of all servers"}})
	want := []Check{{ID: "views", OK: true, Message: "c.yaml:3:5: no such tool", Fix: "mcpctl tools --live lists the tools of all servers"}}
	if len(got) != 1 || !got[0].OK || !slices.Equal(got[0].Checks, want) {
		t.Errorf("got %+v", got[0])
	}
}
