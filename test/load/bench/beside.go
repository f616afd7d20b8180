package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpctl/mcpctl/test/load/gen"
)

// comparison is a table of test/reports/performance-others.md: mcpctl and other programs.
type comparison struct {
	section string // its mark there
	target  string // of the Makefile
	ways    []way
	// called are what the table calls the contenders.
	called map[string]string
	// ratio is the heading of the ratios, which are those to the reference of a way.
	ratio string
}

// way is one thing to do, and those that can.
type way struct {
	name    string
	callers []int
	// reference is the contender that ratios are taken to.
	reference string
	// ours are the contenders whose failure ends the run; that of others is a result.
	ours       []string
	contenders []timed
	// once is for a way of which one time is measured, not calls a second.
	once bool
}

// timed is one that takes turns.
type timed struct {
	name string
	run  func(ctx context.Context, w gen.Work) (gen.Result, error)
}

// calling are contenders that are called.
func calling(cs ...contender) []timed {
	out := make([]timed, len(cs))
	for i, c := range cs {
		out[i] = timed{c.name, c.once}
	}
	return out
}

// measured is what one contender did with one number of callers.
type measured struct {
	results []gen.Result
	ratios  []float64 // to the reference in the same round
	failure error     // the first; nothing is tried after it
}

// alongsideRounds are how many rounds a comparison has by default, of half the length of
// others: what is compared stands close together.
const alongsideRounds = 7

// alongside measures a comparison and writes its table into test/reports/performance-others.md.
func (b *bench) alongside(ctx context.Context, c comparison) error {
	m, node := b.report.Machine, strings.TrimPrefix(output(b.o.root, "node", "--version"), "v")
	head := fmt.Sprintf("Measured on %s by `make %s`: %d cores of %s, %s, Node %s, %s; commit %s.\n"+
		"%d rounds of %v each; medians of the rounds, and ratios taken round by round with the lowest and the highest. Others used %.0f %% of the\n"+
		"machine just before.\n\n",
		m.Date, c.target, m.Cores, m.CPU, m.Go, node, output(b.o.root, b.python(), "--version"), m.Commit, b.o.rounds, b.each/2, 100*b.quiet())
	table, err := b.alongsideTable(ctx, c)
	if err != nil {
		return err
	}
	fmt.Fprint(b.out, "\n"+head+table)
	if b.o.short {
		return nil
	}
	name := filepath.Join(b.o.root, filepath.FromSlash(othersFile))
	page, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	text, err := fill(string(page), map[string]string{c.section: head + table})
	if err != nil {
		return err
	}
	return os.WriteFile(name, []byte(text), 0o644)
}

// alongsideTable measures all ways and returns the table, with the reasons of those that
// fail below it.
func (b *bench) alongsideTable(ctx context.Context, c comparison) (string, error) {
	var table, reasons strings.Builder
	fmt.Fprintf(&table, "| way | through | callers | calls/s | %s | p50 | p99 | CPU a call | most memory |\n|---|---|---|---|---|---|---|---|---|\n", c.ratio)
	for _, way := range c.ways {
		for _, callers := range way.callers {
			found, err := b.inTurn(ctx, way, gen.Work{Callers: callers, Duration: b.each / 2})
			if err != nil {
				return "", err
			}
			for _, one := range way.contenders {
				cells := "fails | – | – | – | – | –"
				if err := found[one.name].failure; err != nil {
					fmt.Fprintf(&reasons, "- %s, %s, %d callers: %s\n", way.name, c.called[one.name], callers, b.reason(err))
				} else {
					cells = found[one.name].cells(way)
				}
				fmt.Fprintf(&table, "| %s | %s | %d | %s |\n", way.name, c.called[one.name], callers, cells)
			}
		}
	}
	if reasons.Len() > 0 {
		return table.String() + "\nWhat fails, and how:\n\n" + reasons.String(), nil
	}
	return table.String(), nil
}

// inTurn has the contenders of a way do the same work, round by round.
func (b *bench) inTurn(ctx context.Context, way way, w gen.Work) (map[string]*measured, error) {
	found := map[string]*measured{}
	for _, c := range way.contenders {
		found[c.name] = &measured{}
	}
	for round := range b.o.rounds {
		// Who comes first in one round comes last in the next.
		order := slices.Clone(way.contenders)
		if round%2 == 1 {
			slices.Reverse(order)
		}
		now := map[string]gen.Result{}
		for _, c := range order {
			got := found[c.name]
			if got.failure != nil {
				continue
			}
			res, err := c.run(ctx, w)
			switch {
			case ctx.Err() != nil:
				return nil, ctx.Err()
			case err != nil && slices.Contains(way.ours, c.name):
				return nil, err
			case err != nil:
				got.failure = err
				b.say("%s, %d callers, round %d: %v", way.name, w.Callers, round+1, err)
				continue
			}
			now[c.name] = res
		}
		said := []string{}
		for _, c := range way.contenders {
			if res, ok := now[c.name]; ok {
				got := found[c.name]
				got.results, got.ratios = append(got.results, res), append(got.ratios, way.ratio(res, now[way.reference]))
				said = append(said, fmt.Sprintf("%s %.0f/s", c.name, res.PerSecond))
			}
		}
		b.say("%s, %d callers, round %d: %s", way.name, w.Callers, round+1, strings.Join(said, " · "))
	}
	return found, nil
}

// ratio is that of the calls a second, or of the times.
func (w way) ratio(res, reference gen.Result) float64 {
	if w.once {
		return res.P50 / reference.P50
	}
	return res.PerSecond / reference.PerSecond
}

// cells are the figures of a line of the table.
func (m *measured) cells(way way) string {
	show := func(k kind) string { return fmt.Sprintf(k.show, median(values(m.results, k))) }
	digits := 3
	if way.once {
		digits = 2
	}
	ratio := fmt.Sprintf("**%.*f** (%.*f to %.*f)", digits, median(m.ratios), digits, slices.Min(m.ratios), digits, slices.Max(m.ratios))
	if slices.Min(m.ratios) == 1 && slices.Max(m.ratios) == 1 { // the reference
		ratio = "1"
	}
	perCall, memory := show(cpu), "–"
	if peak := peakOf(m.results); peak > 0 {
		memory = fmt.Sprintf("%.1f MB", mb(peak))
	}
	if way.once {
		return fmt.Sprintf("– | %s | %.1f ms | – | %.1f ms | %s", ratio, median(values(m.results, halfTime))/1000, median(values(m.results, cpu))/1000, memory)
	}
	return fmt.Sprintf("%s | %s | %s | %s | %s | %s", show(rate), ratio, show(halfTime), show(worstTime), perCall, memory)
}

// reason is the first line of a failure, without paths of this machine.
func (b *bench) reason(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return strings.NewReplacer(b.o.root+string(filepath.Separator), "", b.dir+string(filepath.Separator), "", "|", "\\|").Replace(line)
}

const (
	alongsideDir = "test/load/bridges"
	npmDir       = alongsideDir + "/node_modules"
	pythonDir    = ".bin/bridges"
)

// installed are other programs, which make has installed: how they are started, and
// what tables call them.
type installed struct {
	words map[string][]string
	named map[string]string
}

// others finds the programs of npm and PyPI.
func (b *bench) others() (installed, error) {
	node := func(name, script string) []string {
		return []string{"node", filepath.Join(b.o.root, filepath.FromSlash(npmDir), name, filepath.FromSlash(script))}
	}
	in := installed{words: map[string][]string{
		"mcp-remote":   node("mcp-remote", "dist/proxy.js"),
		"supergateway": node("supergateway", "dist/index.js"),
		"npm-proxy":    node("mcp-proxy", "dist/bin/mcp-proxy.mjs"),
		"mcporter":     node("mcporter", "dist/cli.js"),
		"mcp-proxy":    {filepath.Join(filepath.Dir(b.python()), "mcp-proxy")},
	}, named: map[string]string{
		"mcp-proxy": "PyPI mcp-proxy " + output(b.o.root, b.python(), "-c", "import importlib.metadata as m; print(m.version('mcp-proxy'))"),
	}}
	for name, pkg := range map[string]string{"mcp-remote": "mcp-remote", "supergateway": "supergateway", "npm-proxy": "mcp-proxy", "mcporter": "mcporter"} {
		in.named[name] = "npm " + pkg + " " + output(b.o.root, "node", "-p", "require("+strconv.Quote("./"+npmDir+"/"+pkg+"/package.json")+").version")
	}
	for name, words := range in.words {
		if _, err := os.Stat(words[len(words)-1]); err != nil {
			return in, fmt.Errorf("%w: make bench-bridges and make bench-peers install it", err)
		}
		if strings.HasSuffix(in.named[name], " ") {
			return in, fmt.Errorf("%s tells no version: make bench-bridges and make bench-peers install it", name)
		}
	}
	return in, nil
}

// python is the interpreter that mcp-proxy is installed for.
func (b *bench) python() string {
	return filepath.Join(b.o.root, filepath.FromSlash(pythonDir), "bin", "python")
}
