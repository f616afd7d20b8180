package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/mcpctl/mcpctl/test/load/gen"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

// TestMain has this binary act as the program when it is told to.
func TestMain(m *testing.M) {
	if os.Getenv("ACT_AS_LOAD") != "" {
		main()
		return
	}
	goleak.VerifyTestMain(m)
}

// program runs the program and returns what it wrote.
func program(t *testing.T, args ...string) (out, errs string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), "ACT_AS_LOAD=1", "GORACE=atexit_sleep_ms=0")
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	err = cmd.Run()
	return o.String(), e.String(), err
}

func self(words ...string) string { return os.Args[0] + " " + strings.Join(words, " ") }

func TestCall(t *testing.T) {
	t.Parallel()
	marks := t.TempDir()
	for _, command := range []string{
		self("backend", "-mark", marks),
		self("relay", os.Args[0], "backend", "-mark", marks, "-tools", "5"),
	} {
		for _, size := range []string{"100", "200000"} { // the second is more than a pipe holds
			out, errs, err := program(t, "call", "-stdio", command, "-c", "4", "-n", "100", "-warmup", "4", "-size", size)
			if err != nil {
				t.Fatalf("%s: %v\n%s", command, err, errs)
			}
			var r gen.Result
			if err := json.Unmarshal([]byte(out), &r); err != nil || r.Calls != 100 || r.Wrong != 0 {
				t.Errorf("%s: got %s, %v; want 100 calls", command, out, err)
			}
		}
	}
	left, err := os.ReadDir(marks)
	if err != nil || len(left) != 4 {
		t.Errorf("got %d marks of starts, %v; want 4", len(left), err)
	}
}

// TestWrongAnswersFail the program, whoever stands between.
func TestWrongAnswersFail(t *testing.T) {
	t.Parallel()
	for _, command := range []string{self("backend", "-wrong", "50"), self("relay", os.Args[0], "backend", "-wrong", "50")} {
		_, errs, err := program(t, "call", "-stdio", command, "-c", "4", "-n", "100", "-warmup", "-1")
		if err == nil || !strings.Contains(errs, "wrong answer: 2 of 100 calls: ") {
			t.Errorf("%s: got %v, %q; want 2 of 100 wrong", command, err, errs)
		}
	}
}

func TestCallOverHTTP(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0], "backend", "-http", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), "ACT_AS_LOAD=1", "GORACE=atexit_sleep_ms=0")
	p, err := wire.Launch(cmd, "URL ")
	require.NoError(t, err)
	defer p.Stop(0)
	for _, more := range [][]string{{"-sessions", "3"}, {"-stateless"}} {
		args := append([]string{"call", "-url", p.URL, "-c", "6", "-n", "60", "-d", time.Minute.String()}, more...)
		if out, errs, err := program(t, args...); err != nil || !strings.Contains(out, `"calls":60,"errors":0`) {
			t.Errorf("%q: got %s, %v\n%s", more, out, err, errs)
		}
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{},
		{"nothing"},
		{"relay"},
		{"relay", filepath.Join(t.TempDir(), "nothing")},
		{"call"},
		{"call", "-url", "http://127.0.0.1:1/mcp"},
		{"backend", "-http", "nowhere"},
	} {
		if _, errs, err := program(t, args...); err == nil || !strings.HasPrefix(errs, "load: ") {
			t.Errorf("%q: got %v, %q; want an error", args, err, errs)
		}
	}
}
