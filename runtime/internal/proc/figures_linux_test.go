package proc

import (
	"fmt"
	"os"
	"testing"
	"time"
)

// TestParseStat: a name may be anything.
func TestParseStat(t *testing.T) {
	const rest = " S 12 34 34 0 -1 4194560 100 0 0 0 5 6 7 8 20 0 9 0 123456 1000000 77 18446744073709551615 1 1"
	for _, name := range []string{"node", "a b", ") R 1 1", "(", "((x) y)", ""} {
		got, ok := parseStat(fmt.Appendf(nil, "4321 (%s)%s\n", name, rest))
		want := stat{pid: 4321, parent: 12, group: 34, state: 'S', ticks: 26, started: 123456, pages: 77}
		if !ok || got != want {
			t.Errorf("%q: got %+v %v", name, got, ok)
		}
	}
	for _, bad := range []string{"", "1", "1 (x", "1 (x) S 1 1", ") (", "(x) S", "x (y)" + rest} {
		if got, ok := parseStat([]byte(bad)); ok {
			t.Errorf("%q: got %+v", bad, got)
		}
	}
}

// TestMeasureSelf compares with what the runtime knows.
func TestMeasureSelf(t *testing.T) {
	got, ok := Measure(os.Getpid(), 1<<30)[os.Getpid()]
	if !ok || got.Processes < 1 || got.RSS < 1<<20 || got.CPU < 0 || time.Since(got.Started) > 10*time.Minute || time.Since(got.Started) < 0 {
		t.Errorf("got %+v", got)
	}
	if got := Measure(1 << 30); len(got) != 0 {
		t.Errorf("a process that is not: got %v", got)
	}
}

func BenchmarkMeasure(b *testing.B) {
	for b.Loop() {
		Measure(os.Getpid())
	}
}
