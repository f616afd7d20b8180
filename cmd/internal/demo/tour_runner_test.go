package demo

import (
	"bytes"
	"context"
	"errors"
	"go/format"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/require"
)

// newTestRunner has this test's binary as mcpctl; TestMain says what its
// behaviours are.
func newTestRunner(t *testing.T, behaviour string, asJSON bool) (*runner, *bytes.Buffer) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	out := &bytes.Buffer{}
	r, err := newRunner(t.TempDir(), TourOptions{Executable: self, Environ: append(os.Environ(), "GORACE=atexit_sleep_ms=0", "TOUR_CHILD="+behaviour), JSON: asJSON},
		&screen{w: out, failed: func() { t.Error("the screen failed") }})
	require.NoError(t, err)
	return r, out
}

func TestRunKeepsTheOrderOfBothStreams(t *testing.T) {
	t.Parallel()
	r, out := newTestRunner(t, "mixed", false)
	require.NoError(t, r.run(t.Context(), command{words: []string{"mcpctl", "x y"}, want: 7}))
	want := "\n$ mcpctl 'x y'\n"
	for i := range 100 {
		n := string(rune('0' + i%10))
		if i >= 10 {
			n = string(rune('0'+i/10)) + n
		}
		want += "out " + n + "\nerr " + n + "\n"
	}
	want += "no line end\n[exit code 7]\n"
	if got := out.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRunKeepsTheStreamsApartForJSON(t *testing.T) {
	t.Parallel()
	r, _ := newTestRunner(t, "mixed", true)
	require.NoError(t, r.run(t.Context(), command{words: []string{"mcpctl"}, want: 7}))
	s := r.steps[0]
	if strings.Contains(s.Stdout, "err") || strings.Contains(s.Stderr, "out") || !strings.HasSuffix(s.Stderr, "err 99\n") || s.Exit != 7 {
		t.Errorf("got %+v", s)
	}
}

func TestRunWantsTheExitCode(t *testing.T) {
	t.Parallel()
	for _, want := range []int{0, 3} {
		r, _ := newTestRunner(t, "mixed", false)
		var step *StepError
		if err := r.run(t.Context(), command{words: []string{"mcpctl"}, want: want}); !errors.As(err, &step) || step.Exit != 7 || step.Want != want {
			t.Errorf("got %v, want exit code 7 to be an error", err)
		}
	}
}

func TestRunOfWhatIsNotThere(t *testing.T) {
	t.Parallel()
	r, _ := newTestRunner(t, "mixed", false)
	var step *StepError
	if err := r.run(t.Context(), command{words: []string{"./client"}}); !errors.As(err, &step) || !errors.Is(step.Cause, os.ErrNotExist) {
		t.Errorf("got %v, want that it does not exist", err)
	}
}

func TestRunIsBounded(t *testing.T) {
	t.Parallel()
	r, _ := newTestRunner(t, "hang", false)
	var step *StepError
	err := r.run(t.Context(), command{words: []string{"mcpctl"}, limit: 100 * time.Millisecond})
	if !errors.As(err, &step) || !strings.Contains(err.Error(), "not done after 100ms") {
		t.Errorf("got %v, want that it took too long", err)
	}
}

func TestRunEndsWithItsReader(t *testing.T) {
	t.Parallel()
	r, _ := newTestRunner(t, "hang", false)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	gone, w := io.Pipe()
	r.screen = &screen{w: w, failed: cancel}
	go func() {
		_, _ = io.CopyN(io.Discard, gone, int64(len("\n$ mcpctl\n")))
		gone.Close()
	}()
	if err := r.run(ctx, command{words: []string{"mcpctl"}, limit: 10 * time.Second}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the command to be ended", err)
	}
	if !errors.Is(r.screen.err, io.ErrClosedPipe) {
		t.Errorf("got %v, want %v", r.screen.err, io.ErrClosedPipe)
	}
}

func TestStart(t *testing.T) {
	t.Parallel()
	t.Run("ends before it is up", func(t *testing.T) {
		t.Parallel()
		r, out := newTestRunner(t, "gives-up", false)
		var step *StepError
		if _, _, err := r.start(t.Context(), command{words: []string{"mcpctl"}}, "listening on "); !errors.As(err, &step) {
			t.Errorf("got %v, want a *StepError", err)
		}
		if !strings.Contains(out.String(), "no port is free\n") {
			t.Errorf("got %q, want what it said", out)
		}
		if len(r.steps) != 1 || r.steps[0].Exit != 6 {
			t.Errorf("got %+v, want exit code 6", r.steps)
		}
	})
	t.Run("ends otherwise than it should", func(t *testing.T) {
		t.Parallel()
		r, _ := newTestRunner(t, "hang", false)
		b, rest, err := r.start(t.Context(), command{words: []string{"mcpctl"}}, "hang")
		if err != nil || rest != "ing" {
			t.Fatalf("got %q, %v, want what follows the prefix", rest, err)
		}
		var step *StepError
		if err := b.end(); !errors.As(err, &step) || step.Exit != 130 {
			t.Errorf("got %v, want exit code 130 to be an error", err)
		}
	})
	t.Run("interrupted", func(t *testing.T) {
		t.Parallel()
		r, _ := newTestRunner(t, "hang", false)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, err := r.start(ctx, command{words: []string{"mcpctl"}}, "never"); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want %v", err, context.Canceled)
		}
	})
}

func TestShellWords(t *testing.T) {
	t.Parallel()
	tests := []struct{ word, posix, windows string }{
		{"plain-1.2_3/x:y=z", "plain-1.2_3/x:y=z", "plain-1.2_3/x:y=z"},
		{"", "''", "''"},
		{"a b", "'a b'", "'a b'"},
		{"it's", `'it'\''s'`, "'it''s'"},
		{"lines[0]", "'lines[0]'", "'lines[0]'"},
		{"$HOME", "'$HOME'", "'$HOME'"},
		{`C:\x`, `'C:\x'`, `C:\x`},
		{"a,b", "a,b", "'a,b'"},
		{"~", "'~'", "'~'"},
	}
	for _, tt := range tests {
		if got := shellWord("linux", tt.word); got != tt.posix {
			t.Errorf("shellWord(linux, %q) = %s, want %s", tt.word, got, tt.posix)
		}
		if got := shellWord("windows", tt.word); got != tt.windows {
			t.Errorf("shellWord(windows, %q) = %s, want %s", tt.word, got, tt.windows)
		}
	}
	if got, want := exportLine("windows", "A", "it's"), "$env:A = 'it''s'"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	c := command{words: []string{"mcpctl", "serve"}, stdin: `{"a":1}`}
	if got, want := c.shell("linux"), `echo '{"a":1}' | mcpctl serve`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestFindCheckout(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, mod string
		want      bool
	}{
		{"it", "module github.com/mcpctl/mcpctl\n\ngo 1.26\n", true},
		{"with a comment before and behind", "// mcpctl\nmodule github.com/mcpctl/mcpctl // x\n", true},
		{"line ends of Windows", "module github.com/mcpctl/mcpctl\r\n", true},
		{"another module", "module example.com/x\n\nrequire github.com/mcpctl/mcpctl v1.0.0\n", false},
		{"a module below", "module github.com/mcpctl/mcpctl/test\n", false},
		{"nothing", "", false},
	}
	for _, tt := range tests {
		dir := t.TempDir()
		sub := filepath.Join(dir, "a", "b")
		require.NoError(t, os.MkdirAll(sub, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(tt.mod), 0o600))
		want := ""
		if tt.want {
			want = dir
		}
		if got := findCheckout(sub); got != want {
			t.Errorf("%s: got %q, want %q", tt.name, got, want)
		}
	}
}

func TestModPath(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{"/src/mcpctl": "/src/mcpctl", "/my src/mcpctl": `"/my src/mcpctl"`, "/a(b)": `"/a(b)"`} {
		if got := modPath(path); got != want {
			t.Errorf("modPath(%s) = %s, want %s", path, got, want)
		}
	}
}

func TestClientSourceIsFormatted(t *testing.T) {
	t.Parallel()
	got, err := format.Source(clientSource)
	if err != nil || !bytes.Equal(got, clientSource) {
		t.Errorf("gofmt would change tour_client.txt: %v", err)
	}
}
