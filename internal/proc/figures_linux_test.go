package proc

import (
	"os"
	"testing"
	"time"
)

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
