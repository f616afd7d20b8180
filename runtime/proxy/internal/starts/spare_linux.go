package starts

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
)

// spare returns whether one of n processors has nothing to do, by how many threads of
// the machine want to run: Linux says it as of now. Nil where that is not known: with
// fewer processors than the machine has, the limit of a container holds threads back, and
// they do not count as wanting to run.
func spare(n int) func() bool {
	if n < runtime.NumCPU() {
		return nil
	}
	return func() bool {
		text, err := os.ReadFile("/proc/loadavg")
		want, ok := wantToRun(text)
		return err == nil && ok && want-1 < n // one is this
	}
}

// wantToRun returns how many threads run or could, by /proc/loadavg, see proc(5):
// "0.20 0.18 0.12 1/80 11206", of which it is the 1.
func wantToRun(text []byte) (int, bool) {
	fields := bytes.Fields(text)
	if len(fields) < 4 {
		return 0, false
	}
	now, _, ok := bytes.Cut(fields[3], []byte("/"))
	n, err := strconv.Atoi(string(now))
	return n, ok && err == nil && n > 0
}
