package gateway

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/runtime/config"
)

const (
	// memoryTick is how often serve checks its memory.
	memoryTick = 20 * time.Second
	// memorySlack is how much of it may be unused. The runtime collects after the
	// heap has doubled or two minutes have passed, and returns memory later still:
	// after a few large messages a long-running process would keep hundreds of
	// megabytes.
	memorySlack = 64 << 20
	// quietSlack is the same if no garbage was collected since the last check: a
	// burst of calls is over, or streams have ended. What 2,000 of them leave is less
	// than memorySlack, and took three minutes to go.
	quietSlack = 8 << 20
)

const (
	// startGC is the GC percentage while serve starts: nothing is collected before
	// the heap has five times the runtime's minimum, 20 MiB. What a start reads stays
	// in use, so that collecting would take a fifth of the start's time and find
	// little.
	startGC = 500
	// usualGC is the runtime's default percentage, and smallHeap the heap at which it
	// first collects by that.
	usualGC   = 100
	smallHeap = 4 << 20
)

// relaxGC relaxes the garbage collector during the start. settle restores it, and
// may be called again. A percentage set by the user (GOGC) stays.
func relaxGC() (settle func()) {
	before := debug.SetGCPercent(startGC)
	if before != usualGC {
		debug.SetGCPercent(before)
		return func() {}
	}
	return sync.OnceFunc(func() { debug.SetGCPercent(usualGC) })
}

// start is the start of a serve that has a small heap. What it reads of servers that it does
// not know stays in use as well, so the collector stays relaxed until the first of them are
// connected. Where none is, releaseAfter ends that.
type start struct {
	dials  atomic.Int32
	settle atomic.Pointer[func()]
}

// dialing notes that a server is being connected; done ends that.
func (s *start) dialing() (done func()) {
	s.dials.Add(1)
	return func() {
		if settle := s.settle.Load(); s.dials.Add(-1) == 0 && settle != nil {
			(*settle)()
		}
	}
}

// whileServing runs f in a goroutine; stop ends it and waits for it.
func whileServing(ctx context.Context, f func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

// releaseMemory returns memory to the system after a burst, until ctx ends. Otherwise it
// only reads counters.
func releaseMemory(ctx context.Context) {
	tick := time.NewTicker(memoryTick)
	defer tick.Stop()
	var left heapUse // after the last time
	var cycles int64
	for {
		select {
		case <-tick.C:
			now, ran := inUse(), collections()
			if left.shouldRelease(now, ran == cycles) {
				runtime.GC() // sync.Pool survives one collection
				debug.FreeOSMemory()
				left, ran = inUse(), collections()
			}
			cycles = ran
		case <-ctx.Done():
			return
		}
	}
}

// heapUse is the size of the heap, in bytes.
type heapUse struct {
	idle    int64 // see idleMemory
	objects int64 // see heapObjects
}

func inUse() heapUse { return heapUse{idleMemory(), heapObjects()} }

// shouldRelease reports whether memory should be returned; m is the state after the last
// time. Objects in use at the last collection may be garbage by now, and without
// calls the next one is minutes away.
func (m heapUse) shouldRelease(now heapUse, quiet bool) bool {
	return now.idle > memorySlack || now.objects > m.objects+memorySlack || quiet && now.idle > m.idle+quietSlack
}

// collections returns how often garbage was collected.
func collections() int64 { return readMetrics("/gc/cycles/total:gc-cycles")[0] }

// idleMemory returns the bytes of the heap that were not in use at the last
// collection.
func idleMemory() int64 {
	m := readMetrics("/memory/classes/heap/objects:bytes", "/memory/classes/heap/free:bytes", "/memory/classes/heap/unused:bytes", "/gc/heap/live:bytes")
	return m[0] + m[1] + m[2] - m[3]
}

// heapObjects returns the bytes of the heap's objects, garbage included.
func heapObjects() int64 { return readMetrics("/memory/classes/heap/objects:bytes")[0] }

// readMetrics returns metrics of the Go runtime, 0 for those that it lacks.
func readMetrics(names ...string) []int64 {
	samples, out := make([]metrics.Sample, len(names)), make([]int64, len(names))
	for i, name := range names {
		samples[i].Name = name
	}
	metrics.Read(samples)
	for i, s := range samples {
		if s.Value.Kind() == metrics.KindUint64 {
			out[i] = int64(s.Value.Uint64()) //nolint:gosec // far below the limit
		}
	}
	return out
}

// ballastSize is the size of the GC ballast, where a server is reached over HTTP. serve
// uses 1 to 2 MB; the runtime then collects at 4 MB, and with 4 to 5 KB of garbage per
// such call, that is an eighth of the CPU time. Unlike a higher GC percentage it costs
// the same however much is in use: at most twice this much memory, and none for itself,
// as it is never written to. Calls to processes leave hardly any garbage.
const ballastSize = 8 << 20

// ballast is a GC ballast: memory that counts as in use and is never touched.
type ballast struct {
	bytes []byte
	start start
}

// allocate allocates the ballast once an entry needs it.
func (b *ballast) allocate(entries []config.Entry) {
	if b.bytes != nil {
		return
	}
	for i := range entries {
		if entries[i].URL != "" {
			b.bytes = make([]byte, ballastSize) // no pointers: not scanned
			return
		}
	}
}

// keep keeps the ballast alive until here: call it when serving ends.
func (b *ballast) keep() { runtime.KeepAlive(b.bytes) }
