package start_test

import (
	_ "embed"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

// TestStart looks at the program as it is released, but for the paths of its source: so
// the compiler's work is shared with other tests.
func TestStart(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the figures are for linux/amd64")
	}
	program, err := wire.Build(t.Context(), filepath.Join(t.TempDir(), "mcpctl"), "github.com/mcpctl/mcpctl/cmd/mcpctl", "-ldflags=-s -w")
	require.NoError(t, err)
	t.Run("size", func(t *testing.T) { size(t, program) })
	t.Run("initialisation", func(t *testing.T) { initialisation(t, program) })
}

//go:embed size.txt
var sizes string

// size compares the program with the last line of size.txt.
func size(t *testing.T, program string) {
	const mb, most = 1e6, 1.0
	lines := strings.Split(strings.TrimSpace(sizes), "\n")
	last, why, ok := strings.Cut(lines[len(lines)-1], " ")
	was, err := strconv.ParseFloat(last, 64)
	if err != nil || !ok || why == "" {
		t.Fatalf("size.txt: the last line is %q, want a size and a reason", lines[len(lines)-1])
	}
	info, err := os.Stat(program)
	require.NoError(t, err)
	is := float64(info.Size()) / mb
	t.Logf("%.2f MB, %.1f in size.txt", is, was)
	if is > was+most || is < was-most {
		t.Errorf("the program has %.1f MB, and had %.1f; add this line to test/start/size.txt:\n%.1f REASON", is, was, is)
	}
}

const (
	runs        = 20 // as many again if a bound is missed: others may use the machine
	attempts    = 5
	mostPackage = 300 * time.Microsecond
	mostInAll   = 2 * time.Millisecond
)

// initialisation bounds what packages do before main. Each counts with its least of
// several runs: hardly any run is without an interruption somewhere.
func initialisation(t *testing.T, program string) {
	least := map[string]time.Duration{}
	inAll := func() (all time.Duration) {
		for _, d := range least {
			all += d
		}
		return all
	}
	slow := func() (names []string) {
		for _, name := range slices.Sorted(maps.Keys(least)) {
			if least[name] > mostPackage {
				names = append(names, fmt.Sprintf("%s takes %v", name, least[name]))
			}
		}
		return names
	}
	for range attempts {
		for range runs {
			for name, d := range traced(t, program) {
				if old, known := least[name]; !known || d < old {
					least[name] = d
				}
			}
		}
		if inAll() <= mostInAll && len(slow()) == 0 {
			break
		}
	}
	t.Logf("%d packages, %v in all", len(least), inAll())
	if len(least) < 50 {
		t.Errorf("only %d packages initialise: the trace was not read", len(least))
	}
	if all := inAll(); all > mostInAll {
		t.Errorf("initialisation takes %v in all, more than %v", all, mostInAll)
	}
	for _, s := range slow() {
		t.Errorf("%s to initialise, more than %v: make its tables at their first use", s, mostPackage)
	}
}

// traced returns how long each package took to initialise in one run.
func traced(t *testing.T, program string) map[string]time.Duration {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Run())
	took := map[string]time.Duration{}
	for line := range strings.Lines(stderr.String()) {
		f := strings.Fields(line) // init PACKAGE @1.2 ms, 0.3 ms clock, …
		if len(f) < 6 || f[0] != "init" {
			continue
		}
		ms, err := strconv.ParseFloat(f[4], 64)
		require.NoError(t, err)
		took[f[1]] = time.Duration(ms * float64(time.Millisecond))
	}
	return took
}
