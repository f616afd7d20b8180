package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/test/load/gen"
)

// errSlower is the end of a comparison that does not show that calls are no
// slower.
var errSlower = errors.New("a call may cost 2 % more than before")

// slowerLimit is what the upper end of the interval of a ratio must stay below.
const slowerLimit = 1.02

// versus compares another build of mcpctl with that of the checkout: the same loads
// in turn, with new processes all the time. It writes the table of
// test/reports/performance.md.
func (b *bench) versus(ctx context.Context) error {
	rounds := b.o.rounds
	other, err := filepath.Abs(b.o.against)
	if err != nil {
		return err
	}
	before := *b
	before.mcpctl, before.dir = other, filepath.Join(b.dir, "before")
	if err := os.Mkdir(before.dir, 0o700); err != nil {
		return err
	}
	old, err := before.ways()
	if err != nil {
		return err
	}
	now, err := b.ways()
	if err != nil {
		return err
	}
	var table strings.Builder
	m := b.report.Machine
	fmt.Fprintf(&table, "Measured on %s by `make bench-against`: %d cores of %s, %s; commit %s. %d rounds of %d pairs\nof processes, %v each, 32 callers, 100 B. A round's ratio is the\nmedian of its pairs. The table has the geometric mean of the rounds, with its 95 %% interval.\n\n", m.Date, m.Cores, m.CPU, m.Go, m.Commit, rounds, pairsARound, b.each/2)
	table.WriteString("| way | calls/s before | calls/s | CPU a call before | CPU a call | ratio of CPU | |\n|---|---|---|---|---|---|---|\n")
	slower := false
	for i, c := range now {
		sides := [2]contender{old[i], c}
		var results [2][]gen.Result
		var ratios []float64
		for round := range rounds {
			var pairs []float64
			for pair := range pairsARound {
				got, err := turns(ctx, sides, round+pair, b.each/2)
				if err != nil {
					return err
				}
				for side := range got {
					results[side] = append(results[side], got[side])
				}
				pairs = append(pairs, math.Log(got[1].CPU/got[0].CPU))
			}
			ratios = append(ratios, median(pairs))
			b.say("%s, round %d: %.3f", c.name, round+1, math.Exp(median(pairs)))
		}
		mean, low, high := interval(ratios)
		verdict := "held"
		if math.Exp(high) >= slowerLimit {
			verdict, slower = "missed", true
		}
		speed, cpu := func(r gen.Result) float64 { return r.PerSecond }, func(r gen.Result) float64 { return r.CPU }
		fmt.Fprintf(&table, "| %s | %.0f/s | %.0f/s | %.2f µs | %.2f µs | **%.3f (%.3f to %.3f)** | %s |\n", c.name,
			middle(results[0], speed), middle(results[1], speed), middle(results[0], cpu), middle(results[1], cpu),
			math.Exp(mean), math.Exp(low), math.Exp(high), verdict)
	}
	fmt.Fprint(b.out, "\n"+table.String())
	name := filepath.Join(b.o.root, filepath.FromSlash(pageFile))
	page, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	text, err := fill(string(page), map[string]string{"against": table.String()})
	if err != nil {
		return err
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		return err
	}
	if slower {
		return errSlower
	}
	return nil
}

const (
	// pairsARound is how many pairs of processes a round has: what one costs depends
	// on where its memory came to lie. The median counts, since others use the machine.
	pairsARound = 6
	// turnsAPair is how many turns the two of a pair have: the machine's speed changes
	// from second to second.
	turnsAPair = 4
)

// turns has two sides work in turn, both running all the time, and returns what each
// has done in all. CPU is by the process's own clock, which counts nanoseconds.
func turns(ctx context.Context, sides [2]contender, round int, each time.Duration) (got [2]gen.Result, err error) {
	var conns [2]*gen.Conn
	for i, c := range sides {
		conn, stop, err := c.open(ctx)
		if stop != nil {
			defer stop()
		}
		if err != nil {
			return got, err
		}
		defer func() { _ = conn.Close() }() // what matters has been answered
		conns[i] = conn
	}
	var cpu [2]time.Duration
	work := gen.Work{Callers: 32, Size: 100, Duration: each / turnsAPair}
	for turn := range 2 * (turnsAPair + 1) {
		i := (turn + turn/2 + round) % 2 // who is first changes
		before := cpuTime(conns[i].PID())
		res, err := conns[i].Run(ctx, work)
		if err == nil {
			err = res.Err()
		}
		if err != nil {
			return got, fmt.Errorf("%s: %w", sides[i].name, err)
		}
		if turn < 2 {
			work.Warmup = -1 // these were it
			continue
		}
		cpu[i] += cpuTime(conns[i].PID()) - before
		got[i].Calls += res.Calls
		got[i].Seconds += res.Seconds
	}
	for i := range got {
		got[i].PerSecond = float64(got[i].Calls) / got[i].Seconds
		got[i].CPU = float64(cpu[i].Nanoseconds()) / 1000 / float64(got[i].Calls)
	}
	return got, nil
}

// ways are the ways through serve that are compared.
func (b *bench) ways() ([]contender, error) {
	stdio, err := b.stdioContenders()
	if err != nil {
		return nil, err
	}
	http, err := b.httpContenders()
	if err != nil {
		return nil, err
	}
	return []contender{
		{"stdio → stdio", stdio[1].open}, {"HTTP → stdio, sessions", http[1].open}, {"HTTP → stdio, stateless", http[2].open}, {"HTTP → HTTP", http[3].open},
	}, nil
}

// middle is the median of a figure of results.
func middle(rs []gen.Result, of func(gen.Result) float64) float64 {
	all := make([]float64, len(rs))
	for i, r := range rs {
		all[i] = of(r)
	}
	return median(all)
}

// interval returns the mean of values and its 95 % interval by Student's t, for 20
// values (19 degrees of freedom) and more; for fewer it is a little too narrow.
func interval(values []float64) (mean, low, high float64) {
	const t = 2.093
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	var squares float64
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	half := t * math.Sqrt(squares/(n-1)/n)
	return mean, mean - half, mean + half
}
