//go:build unix

package journal_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/internal/audit/journal"
	"github.com/mcpctl/mcpctl/internal/audit/logfile"
)

// BenchmarkCall is what a call costs on its path: decision and outcome, with 300 bytes of
// arguments and of result. The log's writer stands still meanwhile.
func BenchmarkCall(b *testing.B) {
	for _, callers := range []int{1, 32} {
		b.Run(fmt.Sprint(callers), func(b *testing.B) {
			gate := new(sync.Mutex)
			j := open(b, journal.Options{Log: none{gate: gate}, Dir: b.TempDir()})
			d := call(string(bytes.Repeat([]byte("a"), 300)))
			result := bytes.Repeat([]byte("r"), 300)
			var took, used time.Duration
			for b.Loop() {
				gate.Lock()
				if _, err := j.Begin(call("")); err != nil {
					b.Fatal(err)
				}
				time.Sleep(60 * time.Millisecond) // the writer has it, and waits
				before := cpu(b)
				took += burst(b, j, d, result, callers, 480/callers)
				used += cpu(b) - before
				gate.Unlock()
				written(b, j)
			}
			calls := float64(b.N) * float64(480/callers*callers)
			b.ReportMetric(float64(took.Nanoseconds())/calls, "ns/call")
			b.ReportMetric(float64(used.Nanoseconds())/calls, "cpu-ns/call")
		})
	}
}

// burst makes calls from many goroutines, and returns how long it took.
func burst(b *testing.B, j *journal.Journal, d *journal.Request, result []byte, callers, calls int) time.Duration {
	var all sync.WaitGroup
	start := time.Now()
	for range callers {
		all.Go(func() {
			for range calls {
				t, err := j.Begin(d)
				if err == nil {
					err = j.End(t, audit.Outcome{Out: audit.OutOK}, result)
				}
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	return time.Since(start)
}

// BenchmarkWriter is the CPU that the process uses for a call, from the decision to the log
// on disk; without a log, for the same call.
func BenchmarkWriter(b *testing.B) {
	for _, name := range []string{"none", "log"} {
		b.Run(name, func(b *testing.B) {
			dir := b.TempDir()
			o := journal.Options{Log: none{gate: new(sync.Mutex)}, Dir: dir}
			if name == "log" {
				key, err := logfile.OpenKey(filepath.Join(dir, "audit.key"))
				if err != nil {
					b.Fatal(err)
				}
				log, err := logfile.Open(b.Context(), filepath.Join(dir, "audit.db"), logfile.Options{Key: key})
				if err != nil {
					b.Fatal(err)
				}
				b.Cleanup(func() { _ = log.Close() })
				o.Log, o.Digest = log, key.AppendDigest
			}
			j := open(b, o)
			d := call(string(bytes.Repeat([]byte("a"), 300)))
			var used time.Duration
			for b.Loop() {
				before := cpu(b)
				burst(b, j, d, []byte(`{"content":[]}`), 32, 128)
				written(b, j)
				used += cpu(b) - before
			}
			b.ReportMetric(float64(used.Nanoseconds())/float64(b.N)/4096, "cpu-ns/call")
		})
	}
}

func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkAppend is the simpler way: each batch of frames that leaves is preceded by a write
// of its records to a file.
func BenchmarkAppend(b *testing.B) {
	record := bytes.Repeat([]byte("r"), 420)
	for _, batch := range []int{1, 4, 16, 64} {
		b.Run(fmt.Sprint(batch), func(b *testing.B) {
			f, err := os.OpenFile(filepath.Join(b.TempDir(), "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			buf := make([]byte, 0, batch*len(record))
			before := cpu(b)
			for b.Loop() {
				buf = buf[:0]
				for range batch {
					buf = append(buf, record...)
				}
				if _, err := f.Write(buf); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((cpu(b)-before).Nanoseconds())/float64(b.N*batch), "cpu-ns/record")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batch), "ns/record")
		})
	}
}
