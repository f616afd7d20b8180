// Command bench measures what test/reports/performance.md promises of mcpctl serve
// and bridge, and writes its tables and plots and the raw figures.
//
//	make bench                    everything, about eight minutes on two cores
//	make bench BENCH=-short       a quick look, under a minute, which writes nothing
//	make bench BENCH=-resume      continues an interrupted run
//	make bench BENCH=-render      writes the page from the raw figures
//	make bench-against OLD=FILE   the same loads for another build and this one, in turn
//	make bench-bridges            mcpctl bridge beside other bridges, in turn
//	make bench-peers              mcpctl beside programs that do the same, in turn
//
// Each figure of a row is measured beside its reference, in turn, in the same
// rounds: the medians of the rounds count, and ratios are taken round by round.
// A group of rows of which one misses its bound, or whose reference scatters,
// is given as many rounds again, once; all of them count. It fails when a row
// misses its bound, or when any answer was wrong.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var o options
	flag.StringVar(&o.root, "root", ".", "root of the `checkout`")
	flag.StringVar(&o.work, "work", filepath.Join(".bin", "bench"), "`directory` for what is built and for a run that is not finished")
	flag.StringVar(&o.out, "out", "", "write the figures to this `file` and no page")
	flag.StringVar(&o.only, "only", "", "measure these `groups` alone, separated by commas; the rest is taken from the figures that there are")
	flag.BoolVar(&o.short, "short", false, "a quick look: few and short rounds; writes nothing unless -out says where")
	flag.BoolVar(&o.resume, "resume", false, "keep the groups that an interrupted run of the same commit has measured")
	flag.BoolVar(&o.render, "render", false, "measure nothing: write the page from the figures that there are")
	flag.StringVar(&o.against, "against", "", "compare with another `build` of mcpctl, and measure nothing else")
	flag.BoolVar(&o.bridges, "bridges", false, "measure mcpctl bridge beside other bridges, and nothing else")
	flag.BoolVar(&o.alongside, "peers", false, "measure mcpctl beside programs that do the same, and nothing else")
	flag.Var(&o.peers, "peer", "`NAME=PATH,DIALECT`: measure this program, too, with -peers; dialects are avelino, mcproxy, mcpctl and tbxark")
	flag.IntVar(&o.rounds, "rounds", 0, "how many rounds -against has, or -bridges and -peers, `N` (default 20, or 7)")
	flag.Parse()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

type options struct {
	root, work, out, only, against string
	short, resume, render, bridges bool
	alongside                      bool // -peers
	peers                          peerFlags
	rounds                         int
}

const (
	pageFile   = "test/reports/performance.md"
	othersFile = "test/reports/performance-others.md"
	figureDir  = "test/reports/performance"
	figureFile = figureDir + "/bench.json"
)

// errMissed is the end of a run in which a row missed its bound.
var errMissed = errors.New("not every bound was held")

func run(ctx context.Context, o options) error {
	published := filepath.Join(o.root, filepath.FromSlash(figureFile))
	if o.render {
		r, err := load(published)
		if err != nil {
			return err
		}
		return publish(o.root, r)
	}
	begin := time.Now()
	b, err := newBench(ctx, o)
	if err != nil {
		return err
	}
	defer b.close()
	switch {
	case o.against != "":
		b.o.rounds = cmp.Or(o.rounds, 20)
		return b.versus(ctx)
	case o.bridges, o.alongside:
		b.o.rounds = cmp.Or(o.rounds, alongsideRounds)
		if b.o.root, err = filepath.Abs(o.root); err != nil { // programs are found by it
			return err
		}
		if o.alongside {
			return b.peers(ctx)
		}
		return b.bridges(ctx)
	}
	if err := b.measure(ctx); err != nil {
		return fmt.Errorf("%w (make bench BENCH=-resume goes on from here)", err)
	}
	b.report.Rows = evaluate(b.report)
	if o.only == "" || b.report.Seconds == 0 {
		b.report.Seconds = time.Since(begin).Round(time.Second).Seconds()
	}
	printRows(b.out, b.report)
	switch {
	case o.out != "":
		err = save(o.out, b.report)
	case !o.short:
		err = publish(o.root, b.report)
	}
	if err == nil && !o.short && o.only == "" {
		err = os.Remove(b.unfinished())
	}
	if err != nil {
		return err
	}
	for _, row := range b.report.Rows {
		if !row.Held {
			return errMissed
		}
	}
	return nil
}
