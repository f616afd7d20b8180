package main

import (
	"context"
	"fmt"
	"time"

	"github.com/mcpctl/mcpctl/test/load/gen"
)

// promisedServers and promisedTools are what the promises about lists and idle
// memory are about.
const (
	promisedServers = 50
	promisedTools   = 5000
)

// listGroup measures the first and further lists for more and more tools.
func (b *bench) listGroup(ctx context.Context) error {
	b.report.Lists = nil
	for _, tools := range b.tools {
		l, err := b.list(ctx, min(promisedServers, tools/10), tools)
		if err != nil {
			return fmt.Errorf("%d tools: %w", tools, err)
		}
		b.report.Lists = append(b.report.Lists, l)
		b.say("lists, %d tools: first %.1f ms, again %.1f ms, a page %.2f ms; with nothing known %.0f ms; %d servers started",
			tools, median(l.First), median(l.Again), median(l.Page), median(l.Cold), l.Started)
	}
	return nil
}

func (b *bench) list(ctx context.Context, servers, tools int) (lists, error) {
	l := lists{Backends: servers, Tools: tools}
	name := fmt.Sprintf("lists-%d", tools)
	dir, err := b.markDir(name + "-marks")
	if err != nil {
		return l, err
	}
	file, err := b.many(servers, tools, dir)
	if err != nil {
		return l, err
	}
	target := gen.Target{Command: []string{b.mcpctl, "--config", file, "serve"}}
	if target.Env, err = b.home(name); err != nil {
		return l, err
	}
	// The first start finds everything out and leaves it in the cache.
	first, _, err := b.listOnce(ctx, target, &l, 0)
	if err != nil {
		return l, err
	}
	l.Cold = []float64{ms(first)}
	before, err := marks(dir)
	if err != nil {
		return l, err
	}
	if before != servers {
		return l, fmt.Errorf("%d servers left a mark at their start, want %d", before, servers)
	}
	starts := b.starts
	if tools > 2*promisedTools {
		starts = min(starts, 3)
	}
	for range starts {
		all, page, err := b.listOnce(ctx, target, &l, 10)
		if err != nil {
			return l, err
		}
		l.First, l.FirstPage = append(l.First, ms(all)), append(l.FirstPage, ms(page))
	}
	after, err := marks(dir)
	l.Started = after - before
	return l, err
}

// listOnce starts serve, lists once, reports how long that took from the start,
// for all and for the first page, and lists so often again.
func (b *bench) listOnce(ctx context.Context, t gen.Target, l *lists, again int) (all, page time.Duration, err error) {
	begin := time.Now()
	c, err := gen.Open(ctx, t)
	if err != nil {
		return 0, 0, err
	}
	defer func() {
		if cerr := c.Close(); err == nil {
			err = cerr
		}
	}()
	opened := time.Since(begin)
	for i := range 1 + again {
		got, err := c.List(ctx)
		if err != nil {
			return 0, 0, err
		}
		if len(got.Names) != l.Tools {
			return 0, 0, fmt.Errorf("%d tools are listed, want %d", len(got.Names), l.Tools)
		}
		l.Pages, l.Bytes = got.Pages, got.Bytes
		if i == 0 {
			all, page = opened+got.Took, opened+got.First
			continue
		}
		l.Again, l.Page = append(l.Again, ms(got.Took)), append(l.Page, ms(got.First))
	}
	return all, page, nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
