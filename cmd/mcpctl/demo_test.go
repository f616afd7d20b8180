package main_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// noRaceSleep keeps a program under the race detector from sleeping for a
// second at its end; a tour is many programs.
const noRaceSleep = "GORACE=atexit_sleep_ms=0"

// TestDemoInCheckout runs the tour where the generated client can be compiled.
// The script demo.txtar runs it elsewhere.
func TestDemoInCheckout(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("compiles a program")
	}
	temp := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "mcpctl", "demo")
	cmd.Dir = filepath.Join("..", "..", "docs") // below the checkout's top
	cmd.Env = append(cmd.Environ(), "TMPDIR="+temp, "TMP="+temp, noRaceSleep)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	rest := out
	for _, want := range []string{
		`main\.go of a module`,
		`(?m)^    \tclient := workshop\.New\(conn\)$`,
		`(?m)^\$ go build -o client`,
		`(?m)^\$ \./client\nash-board +0 in stock, shelf C2\noak-board +10 in stock, shelf C1\n 1 shelf .*$`,
		`(?m)^90 pieces worth 134935 cents$`,
		`That was the tour`,
	} {
		at := regexp.MustCompile(want).FindIndex(rest)
		if at == nil {
			t.Fatalf("no %s in the rest of the tour:\n%s", want, out)
		}
		rest = rest[at[1]:]
	}
	if left, err := filepath.Glob(filepath.Join(temp, "mcpctl-demo-*")); err != nil || len(left) > 0 {
		t.Errorf("the tour has left %v (%v)", left, err)
	}
}

// TestDemoWithoutGo: inside the checkout, with no go command, the tour says
// what it leaves out and goes on.
func TestDemoWithoutGo(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "mcpctl", "demo")
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(cmd.Environ(), "TMPDIR="+temp, "TMP="+temp, "PATH="+temp, noRaceSleep)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := regexp.MustCompile(`(?s)left out: there is no go command on the PATH\.\).*That was the tour`)
	if !want.Match(out) || regexp.MustCompile(`\$ go build`).Match(out) {
		t.Errorf("want %s and no go build in\n%s", want, out)
	}
}
