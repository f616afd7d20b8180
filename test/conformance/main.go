// Command conformance runs the official MCP conformance suite against mcpctl:
// as a gateway over the Go SDK's everything-server, reached in every way, and
// as a client. It counts strictly (count.go), wants a least number of checks
// from each row (table.go), and fails for a failure that expected.txt does not
// list as well as for a line of it that no longer fails.
//
//	make conformance
//	make conformance CONFORMANCE='-rows http,client -v'
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/mcpctl/mcpctl/test/wire"
)

type flags struct {
	rows, npm, expected, log string
	versions                 string
	mcpctl                   string
	short, verbose           bool
	drive, driveVersion      string
	driveThrough             string
	browse                   bool
}

func main() {
	var f flags
	flag.StringVar(&f.rows, "rows", "", "run these `ROWS` alone, separated by commas")
	flag.StringVar(&f.versions, "versions", "", "run these `REVISIONS` alone, separated by commas")
	flag.BoolVar(&f.short, "short", false, "run the rows that fit into CI")
	flag.BoolVar(&f.verbose, "v", false, "print every scenario")
	flag.StringVar(&f.npm, "npm", filepath.Join("test", "conformance", "node_modules"), "`DIR` that the suite is installed in")
	flag.StringVar(&f.expected, "expected", filepath.Join("test", "conformance", "expected.txt"), "`FILE` of expected failures")
	flag.StringVar(&f.log, "log", "", "write what servers print to this `FILE`")
	flag.StringVar(&f.mcpctl, "mcpctl", "", "test this `PROGRAM`; built from the checkout otherwise")
	flag.StringVar(&f.drive, "drive", "", "act as the suite's client with this `PROGRAM`")
	flag.StringVar(&f.driveVersion, "drive-version", "", "speak this `REVISION` in place of the suite's")
	flag.StringVar(&f.driveThrough, "drive-through", "", "drive mcpctl serve or bridge, as `COMMAND` says, with a client in front")
	flag.BoolVar(&f.browse, "browse", false, "act as the browser: follow a page's redirects")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if f.browse {
		if err := browse(ctx, flag.Arg(0)); err != nil {
			os.Exit(1)
		}
		return
	}
	if f.drive != "" {
		if err := drive(ctx, f.drive, f.driveVersion, flag.Arg(0), f.driveThrough, os.Stderr); err != nil {
			fmt.Fprintln(os.Stderr, "conformance:", err)
			os.Exit(1)
		}
		return
	}
	ok, err := run(ctx, f, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

// run reports whether every row has reached what it must.
func run(ctx context.Context, f flags, out io.Writer) (bool, error) {
	rows, err := choose(table(), f)
	if err != nil {
		return false, err
	}
	expected, err := readExpectations(f.expected)
	if err != nil {
		return false, err
	}
	if lost := expected.unknown(table()); len(lost) > 0 {
		return false, fmt.Errorf("%s:%d: there is no such row: %s", f.expected, lost[0].line, lost[0])
	}
	b, err := newBench(ctx, f)
	if err != nil {
		return false, err
	}
	defer b.close()
	// Rows mostly wait: three at a time. The report has them in order.
	outcomes := make([]chan outcome, len(rows))
	for i := range outcomes {
		outcomes[i] = make(chan outcome, 1)
	}
	var work errgroup.Group
	work.SetLimit(3)
	go func() {
		for i, w := range rows {
			work.Go(func() error {
				outcomes[i] <- b.runRow(ctx, w)
				return nil
			})
		}
	}()
	r := &report{out: out, expected: expected, verbose: f.verbose}
	for i, w := range rows {
		o := <-outcomes[i]
		for j, scenarios := range o.parts {
			r.part(w, w.parts[j], scenarios)
		}
		if o.err != nil {
			r.broken(w, o.err)
		}
		r.row(w, o.took)
	}
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	return r.finish(), nil
}

func choose(all []row, f flags) ([]row, error) {
	var out []row
	for _, r := range all {
		if f.short {
			r.parts = slices.DeleteFunc(r.parts, func(p part) bool { return p.long })
		}
		if !f.short || r.short {
			out = append(out, r)
		}
	}
	if f.rows != "" {
		out = nil
		for name := range strings.SplitSeq(f.rows, ",") {
			i := slices.IndexFunc(all, func(r row) bool { return r.name == name })
			if i < 0 {
				return nil, fmt.Errorf("there is no row %q", name)
			}
			out = append(out, all[i])
		}
	}
	if f.versions != "" {
		wanted := strings.Split(f.versions, ",")
		for i := range out {
			out[i].parts = slices.DeleteFunc(slices.Clone(out[i].parts), func(p part) bool { return !slices.Contains(wanted, p.version) })
		}
	}
	return out, nil
}

// newBench builds what the rows need, in a directory that close removes.
func newBench(ctx context.Context, f flags) (*bench, error) {
	dir, err := os.MkdirTemp("", "conformance")
	if err != nil {
		return nil, err
	}
	b := &bench{dir: dir, mcpctl: f.mcpctl}
	fail := func(err error) (*bench, error) {
		b.close()
		return nil, err
	}
	name := f.log
	if name == "" {
		name = filepath.Join(dir, "log")
	}
	if b.log, err = os.Create(name); err != nil {
		return fail(err)
	}
	if b.suite, err = openSuite(ctx, f.npm, dir); err != nil {
		return fail(err)
	}
	if b.self, err = os.Executable(); err != nil {
		return fail(err)
	}
	if b.everything, err = buildEverything(ctx, dir); err != nil {
		return fail(err)
	}
	b.buildTasks = sync.OnceValues(func() (string, error) {
		return wire.Build(ctx, filepath.Join(dir, "tasks"), "./test/tasks/server")
	})
	if b.mcpctl == "" {
		b.mcpctl, err = wire.Build(ctx, filepath.Join(dir, "mcpctl"), "./cmd/mcpctl")
	} else {
		b.mcpctl, err = filepath.Abs(b.mcpctl)
	}
	if err != nil {
		return fail(err)
	}
	return b, nil
}

func (b *bench) close() {
	_ = b.log.Close()
	_ = os.RemoveAll(b.dir)
}

// outcome is what came of a row.
type outcome struct {
	parts [][]scenario // as far as it came
	err   error
	took  time.Duration
}

func (b *bench) runRow(ctx context.Context, w row) (o outcome) {
	defer func(begun time.Time) { o.took = time.Since(begun) }(time.Now())
	p, err := w.open(ctx, b)
	if err != nil {
		o.err = err
		return o
	}
	defer p.close()
	for _, part := range w.parts {
		scenarios, err := p.run(ctx, part.version)
		if err != nil {
			o.err = err
			return o
		}
		o.parts = append(o.parts, scenarios)
	}
	return o
}
