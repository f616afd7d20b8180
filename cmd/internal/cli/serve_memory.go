package cli

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

const (
	// memoryTick is how often serve looks at the memory that it has of the system.
	memoryTick = 20 * time.Second
	// memorySlack is how much of it may be of no use. The runtime collects after
	// the heap has doubled or two minutes have passed, and gives back later still:
	// after a few large messages a process that lasts for days would keep
	// hundreds of megabytes for long.
	memorySlack = 64 << 20
	// quietSlack is the same while nothing happens: no garbage was collected since
	// the last look. A burst of calls is over then, or streams have ended: what
	// 2,000 of them leave is less than memorySlack, and took three minutes to go.
	quietSlack = 8 << 20
)

const (
	// startGC is the garbage collector's percentage while serve starts: nothing is
	// collected before the heap has five times the runtime's smallest, which is
	// 20 MiB. What a start reads stays in use, so that looking for garbage in it
	// would take a fifth of the start's time and find little.
	startGC = 500
	// usualGC is the runtime's own percentage, and smallHeap the heap at which it
	// first collects by that.
	usualGC   = 100
	smallHeap = 4 << 20
)

// startLean has the garbage collector leave the start alone. settle puts it back,
// and may be called again. A percentage that the user has set (GOGC) stays.
func startLean() (settle func()) {
	before := debug.SetGCPercent(startGC)
	if before != usualGC {
		debug.SetGCPercent(before)
		return func() {}
	}
	return sync.OnceFunc(func() { debug.SetGCPercent(usualGC) })
}

// whileServing runs f beside what follows; stop ends it and waits for it.
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

// giveBack returns memory back to the system after a burst, until ctx ends. While
// there is nothing to give back it costs one reading of counters.
func giveBack(ctx context.Context) {
	tick := time.NewTicker(memoryTick)
	defer tick.Stop()
	var left heapUse // in use after the last time
	var cycles uint64
	for {
		select {
		case <-tick.C:
			now, ran := inUse(), collections()
			if left.gives(now, ran == cycles) {
				runtime.GC() // what is pooled lasts for one collection more
				debug.FreeOSMemory()
				left, ran = inUse(), collections()
			}
			cycles = ran
		case <-ctx.Done():
			return
		}
	}
}

// heapUse is what the heap has, in bytes.
type heapUse struct {
	idle    int64 // see idleMemory
	objects int64 // see heapObjects
}

func inUse() heapUse { return heapUse{idleMemory(), heapObjects()} }

// gives reports whether there is something to give back now; m is what was there
// after the last time. What was in use when garbage was last looked for may be
// garbage by now, and without calls nobody looks again for minutes.
func (m heapUse) gives(now heapUse, quiet bool) bool {
	return now.idle > memorySlack || now.objects > m.objects+memorySlack || quiet && now.idle > m.idle+quietSlack
}

// collections is how often garbage was collected.
func collections() uint64 {
	sample := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0 // a runtime that has it no more
	}
	return sample[0].Value.Uint64()
}

// idleMemory is how many bytes of the heap hold nothing that was in use when
// garbage was last looked for.
func idleMemory() int64 {
	samples := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/gc/heap/live:bytes"},
	}
	metrics.Read(samples)
	sum := int64(0)
	for i, s := range samples {
		if s.Value.Kind() != metrics.KindUint64 {
			continue // a runtime that has it no more
		}
		n := int64(s.Value.Uint64()) //nolint:gosec // less than memory has
		if i == len(samples)-1 {
			n = -n
		}
		sum += n
	}
	return sum
}

// heapObjects is how many bytes the heap's objects take, garbage with them.
func heapObjects() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0 // a runtime that has it no more
	}
	return int64(sample[0].Value.Uint64()) //nolint:gosec // less than memory has
}
