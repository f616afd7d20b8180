package main

import (
	"context"
	"fmt"
	"time"

	"github.com/mcpctl/mcpctl/test/load/gen"
	"github.com/mcpctl/mcpctl/test/wire"
)

// settle is how long a process is left alone before its memory is read.
const settle = 3 * time.Second

// memoryGroup measures what serve holds with many servers configured, and
// after many calls.
func (b *bench) memoryGroup(ctx context.Context) error {
	b.report.Memory = map[string]int64{}
	dir, err := b.markDir("memory-marks")
	if err != nil {
		return err
	}
	file, err := b.many(promisedServers, promisedTools, dir)
	if err != nil {
		return err
	}
	t := gen.Target{Command: []string{b.mcpctl, "--config", file, "serve"}}
	if t.Env, err = b.home("memory"); err != nil {
		return err
	}
	// Twice: the first finds everything out, the second has it from the cache.
	for range 2 {
		if err := b.idle(ctx, t); err != nil {
			return err
		}
	}
	stdio, err := b.stdioContenders()
	if err != nil {
		return err
	}
	web, err := b.httpContenders()
	if err != nil {
		return err
	}
	for name, c := range map[string]contender{"stdio": stdio[1], "http": web[1]} {
		res, err := c.once(ctx, gen.Work{Callers: 256, Count: b.calls, Warmup: 512})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		b.report.Memory["after-calls-"+name], b.report.Memory["peak-calls-"+name] = res.KB, res.PeakKB
		b.say("memory, %d calls at 256 callers over %s: %.1f MB, at most %.1f MB", res.Calls, name, mb(res.KB), mb(res.PeakKB))
	}
	return nil
}

func (b *bench) idle(ctx context.Context, t gen.Target) (err error) {
	c, err := gen.Open(ctx, t)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := c.Close(); err == nil {
			err = cerr
		}
	}()
	time.Sleep(settle)
	b.report.Memory["idle"] = wire.ReadUsage(c.PID()).KB
	l, err := c.List(ctx)
	if err != nil {
		return err
	}
	if len(l.Names) != promisedTools {
		return fmt.Errorf("%d tools are listed, want %d", len(l.Names), promisedTools)
	}
	time.Sleep(settle)
	b.report.Memory["idle-listed"] = wire.ReadUsage(c.PID()).KB
	b.say("memory, idle with %d servers: %.1f MB, after a list of %d tools %.1f MB", promisedServers,
		mb(b.report.Memory["idle"]), len(l.Names), mb(b.report.Memory["idle-listed"]))
	return nil
}

// mb returns megabytes of 10⁶ bytes for the 1024 that the system calls a kB.
func mb(kb int64) float64 { return float64(kb) * 1024 / 1e6 }
