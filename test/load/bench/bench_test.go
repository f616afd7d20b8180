package main

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/mcpctl/mcpctl/test/load/echo"
	"github.com/mcpctl/mcpctl/test/load/gen"
	"github.com/mcpctl/mcpctl/test/require"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestMedianAndScatter(t *testing.T) {
	t.Parallel()
	tests := []struct {
		values          []float64
		median, scatter float64
	}{
		{nil, 0, 0},
		{[]float64{4}, 4, 0},
		{[]float64{3, 1}, 2, 1},
		{[]float64{5, 1, 3}, 3, 4. / 3},
		{[]float64{100, 10, 11, 9, 1}, 10, .2}, // its ends count for nothing
	}
	for _, tt := range tests {
		if m, s := median(tt.values), scatter(tt.values); m != tt.median || s != tt.scatter {
			t.Errorf("%v: got median %v and scatter %v, want %v and %v", tt.values, m, s, tt.median, tt.scatter)
		}
	}
}

// sample is a run in which everything was held, and by how much.
func sample() *report {
	runs := func(perSecond, p50, p99, cpu float64, peak int64) []gen.Result {
		var out []gen.Result
		for i := range 5 {
			f := 1 + float64(i-2)/100
			out = append(out, gen.Result{Calls: 1, PerSecond: perSecond * f, P50: p50 * f, P99: p99 * f, CPU: cpu, PeakKB: peak})
		}
		return out
	}
	curve := func(perSecond float64) [][]gen.Result {
		var out [][]gen.Result
		for n := 1; n <= 512; n *= 2 {
			out = append(out, []gen.Result{{Callers: n, PerSecond: perSecond * float64(n) / (float64(n) + 4), P99: float64(n) * 20}})
		}
		return out
	}
	r := &report{
		Machine: machine{CPU: "a CPU", Cores: 2, OS: "linux/amd64", Kernel: "6.0", Go: "go1.26", Commit: "abc", Date: "2026-11-20"},
		Busy:    map[string]float64{"http": .02},
		Loads: map[string]loads{
			"stdio":    {"relay": runs(70_000, 400, 1200, 3, 7000), "serve": runs(66_000, 410, 1300, 3.5, 17_000)},
			"single":   {"relay": runs(12_000, 80, 150, 20, 7000), "serve": runs(11_000, 85, 160, 25, 17_000)},
			"large":    {"relay": runs(700, 80, 150, 120, 7000), "serve": runs(700, 85, 160, 190, 17_000)},
			"http":     {"direct": runs(35_000, 700, 4000, 20, 17_000), "serve": runs(32_000, 1000, 4000, 28, 17_000), "serve-stateless": runs(32_000, 1100, 4200, 30, 18_000), "serve-remote": runs(21_500, 2000, 5900, 50, 18_000)},
			"bridge":   {"direct": runs(35_000, 700, 4000, 20, 17_000), "bridge": runs(23_000, 1500, 5900, 50, 40_000)},
			"sessions": {"direct": runs(35_000, 7000, 14_000, 20, 17_000), "serve": runs(24_000, 9000, 24_000, 28, 17_000)},
		},
		Curves:      map[string][][]gen.Result{},
		Memory:      map[string]int64{"idle": 20_000, "idle-listed": 25_000, "after-calls-stdio": 20_000, "after-calls-http": 40_000},
		Allocations: map[string]float64{"stdio": 0.01, "http": 8, "http-stateless": 10},
		ColdStart:   &coldStart{242, 231, 1.05},
	}
	for i, c := range curveNames {
		r.Curves[c.key] = curve(float64(80_000 - 10_000*i))
	}
	for _, n := range []int{100, 1000, 5000, 100_000} {
		f := float64(n) / 5000
		r.Lists = append(r.Lists, lists{Backends: 50, Tools: n, Pages: 1 + n/1000, Bytes: 300 * n, Cold: []float64{500 * f}, First: []float64{20 * f}, FirstPage: []float64{10 * f}, Again: []float64{1.5 * f}, Page: []float64{.3}})
	}
	return r
}

func TestEvaluate(t *testing.T) {
	t.Parallel()
	rows := evaluate(sample())
	for _, r := range rows {
		if !r.Held || r.Noisy {
			t.Errorf("%s: got %s, want it held", r.What, r.verdict())
		}
	}
	if len(rows) != 21 {
		t.Errorf("got %d rows, want 21", len(rows))
	}
	// Each of these is one promise broken, and breaks no other.
	scale := func(group, who string, f func(r *gen.Result)) func(r *report) {
		return func(r *report) {
			for i := range r.Loads[group][who] {
				f(&r.Loads[group][who][i])
			}
		}
	}
	promised := func(f func(l *lists)) func(r *report) { return func(r *report) { f(&r.Lists[2]) } }
	breaks := map[string]func(r *report){
		"stdio → stdio, 100 B":    scale("stdio", "serve", func(r *gen.Result) { r.PerSecond *= .85 }),
		"CPU of the proxy a call": scale("stdio", "serve", func(r *gen.Result) { r.CPU *= 1.6 }),
		"1 caller: p50":           scale("single", "serve", func(r *gen.Result) { r.P50 *= 1.25 }),
		"64 KiB":                  scale("large", "serve", func(r *gen.Result) { r.CPU *= 1.5 }),
		"sessions: calls/s":       scale("http", "serve", func(r *gen.Result) { r.PerSecond *= .9 }),
		"the same, stateless":     scale("http", "serve-stateless", func(r *gen.Result) { r.PerSecond *= .9 }),
		"most memory ever":        scale("http", "serve-stateless", func(r *gen.Result) { r.PeakKB *= 2 }),
		"HTTP → HTTP":             scale("http", "serve-remote", func(r *gen.Result) { r.PerSecond *= .9 }),
		"through bridge":          scale("bridge", "bridge", func(r *gen.Result) { r.PerSecond *= .9 }),
		"64 sessions":             scale("sessions", "serve", func(r *gen.Result) { r.P99 *= 2 }),
		"start → first list":      promised(func(l *lists) { l.First = []float64{25.1} }),
		"servers started":         promised(func(l *lists) { l.Started = 1 }),
		"the same list again":     promised(func(l *lists) { l.Again = []float64{2.1} }),
		"one page of it":          promised(func(l *lists) { l.Page = []float64{2.1} }),
		"memory, idle":            func(r *report) { r.Memory["idle"] = 30_000 },
		"256 callers, stdio":      func(r *report) { r.Memory["after-calls-stdio"] = 60_000 },
		"the same, HTTP → stdio":  func(r *report) { r.Memory["after-calls-http"] = 60_000 },
		"a call, stdio → stdio":   func(r *report) { r.Allocations["stdio"] = 2.1 },
		"a call, HTTP → stdio":    func(r *report) { r.Allocations["http"] = 46 },
		"command line":            func(r *report) { r.ColdStart.Ratio = 1.2 },
	}
	for what, spoil := range breaks {
		r := sample()
		spoil(r)
		var missed []string
		for _, row := range evaluate(r) {
			if !row.Held {
				missed = append(missed, row.What)
			}
		}
		if len(missed) != 1 || !strings.Contains(missed[0], what) {
			t.Errorf("%s: got %q missed, want that one", what, missed)
		}
	}
}

// TestNoise is told of, whether the bound is held or not.
func TestNoise(t *testing.T) {
	t.Parallel()
	noisy := func(r *report) (n int) {
		for _, row := range evaluate(r) {
			if row.Noisy {
				n++
			}
		}
		return n
	}
	r := sample()
	for i, f := range []float64{.5, .7, 1, 1.3, 1.5} {
		r.Loads["single"]["relay"][i].P50 = 80 * f
	}
	if got := noisy(r); got != 1 {
		t.Errorf("got %d noisy rows for a reference that scatters, want 1", got)
	}
	r = sample()
	r.Busy["http"] = .5
	if got := noisy(r); got != 4 {
		t.Errorf("got %d noisy rows for a busy machine, want 4", got)
	}
}

// slowly takes a while for each write.
type slowly struct {
	io.Writer
	each time.Duration
}

func (s slowly) Write(p []byte) (int, error) {
	time.Sleep(s.each)
	return s.Writer.Write(p)
}

// inProcess is a contender without a process.
func inProcess(name string, o echo.Options, each time.Duration) contender {
	return contender{name, func(ctx context.Context) (*gen.Conn, func(), error) {
		in, toServer := io.Pipe()
		fromServer, out := io.Pipe()
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = echo.Serve(in, slowly{out, each}, o)
			_ = out.Close()
		}()
		c, err := gen.Attach(ctx, fromServer, toServer, gen.Target{})
		return c, func() { _ = toServer.Close(); <-done }, err
	}}
}

func quickBench() *bench {
	return &bench{out: io.Discard, begin: time.Now(), report: &report{Busy: map[string]float64{}, Loads: map[string]loads{}}, plan: plan{rounds: 3, each: time.Minute, again: time.Hour}}
}

// TestWrongAnswerEndsTheRun, whoever gives it.
func TestWrongAnswerEndsTheRun(t *testing.T) {
	t.Parallel()
	for _, o := range [][2]echo.Options{{{}, {Wrong: 50}}, {{Wrong: 50}, {}}} {
		b := quickBench()
		cs := []contender{inProcess("relay", o[0], 0), inProcess("serve", o[1], 0)}
		err := b.loadGroup("any", func() ([]contender, error) { return cs, nil }, gen.Work{Callers: 4, Count: 200, Warmup: -1})(t.Context())
		if !errors.Is(err, gen.ErrWrong) {
			t.Errorf("got %v, want a wrong answer", err)
		}
	}
}

// TestRounds take turns, and are as many again where a bound is missed.
func TestRounds(t *testing.T) {
	t.Parallel()
	for group, want := range map[string]int{"any": 3, "single": 6} {
		b := quickBench()
		var turns []string
		cs := []contender{inProcess("relay", echo.Options{}, 0), inProcess("serve", echo.Options{}, time.Millisecond)}
		for i, c := range cs {
			open := c.open
			cs[i].open = func(ctx context.Context) (*gen.Conn, func(), error) {
				turns = append(turns, c.name)
				return open(ctx)
			}
		}
		work := gen.Work{Callers: 1, Count: 10, Warmup: 1}
		require.NoError(t, b.loadGroup(group, func() ([]contender, error) { return cs, nil }, work)(t.Context()))
		if len(turns) != 2*want {
			t.Errorf("%s: got %d turns, want %d", group, len(turns), 2*want)
		}
		if got := strings.Join(turns[:4], " "); got != "relay serve serve relay" {
			t.Errorf("got the turns %s", got)
		}
	}
}

// TestPeersFail: another program that fails is told of in the table, with the reason;
// a failure of direct calls or of mcpctl ends the run.
func TestPeersFail(t *testing.T) {
	t.Parallel()
	broken := func(name string) contender {
		return contender{name, func(context.Context) (*gen.Conn, func(), error) {
			return nil, nil, errors.New("no | server\nand more")
		}}
	}
	table := func(others ...contender) (string, error) {
		b := quickBench()
		b.each, b.o.rounds = 40*time.Millisecond, 2
		return b.alongsideTable(t.Context(), comparison{
			ratio: "of direct", called: map[string]string{"direct": "directly", "bridge": "mcpctl bridge", "other": "other 1.0"},
			ways: []way{{
				name: "there", callers: []int{1, 32}, reference: "direct", ours: []string{"direct", "bridge"},
				contenders: calling(append([]contender{inProcess("direct", echo.Options{}, 0)}, others...)...),
			}},
		})
	}
	got, err := table(inProcess("bridge", echo.Options{}, time.Millisecond), broken("other"))
	require.NoError(t, err)
	for _, want := range []string{
		`(?m)^\| there \| directly \| 1 \| \d+/s \| 1 \|`, `(?m)^\| there \| mcpctl bridge \| 32 \| \d+/s \| \*\*0\.\d+\*\* \(.* to .*\) \|`,
		`(?m)^\| there \| other 1\.0 \| 32 \| fails \|`, `(?m)^- there, other 1\.0, 1 callers: other: no \\\| server$`,
	} {
		if !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("got\n%s\nwithout %s", got, want)
		}
	}
	if _, err := table(broken("bridge")); err == nil {
		t.Error("got a table without mcpctl")
	}
}

// TestOnce: of what is done once, the table has times, and ratios of times.
func TestOnce(t *testing.T) {
	t.Parallel()
	takes := func(name string, d time.Duration) timed {
		return timed{name, func(context.Context, gen.Work) (gen.Result, error) { return onceTook(d, d/2), nil }}
	}
	b := quickBench()
	b.o.rounds = 2
	got, err := b.alongsideTable(t.Context(), comparison{ratio: "of mcpctl", called: map[string]string{"mcpctl": "mcpctl", "other": "other"}, ways: []way{{
		name: "once", callers: []int{1}, reference: "mcpctl", ours: []string{"mcpctl"}, once: true,
		contenders: []timed{takes("mcpctl", 20*time.Millisecond), takes("other", 30*time.Millisecond)},
	}}})
	require.NoError(t, err)
	for _, want := range []string{"| once | mcpctl | 1 | – | 1 | 20.0 ms | – | 10.0 ms | – |", "| once | other | 1 | – | **1.50** (1.50 to 1.50) | 30.0 ms | – | 15.0 ms | – |"} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("got\n%s\nwithout %s", got, want)
		}
	}
}

func TestPeerFlags(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"MCProxy 0.1.0=/opt/mcproxy,mcproxy": "",
		"/opt/mcproxy,mcproxy":               "want NAME=PATH,DIALECT",
		"x=/opt/x":                           "want NAME=PATH,DIALECT",
		"=/opt/x,avelino":                    "want NAME=PATH,DIALECT",
		"x=/opt/x,other":                     `no dialect "other"; there are avelino, mcpctl, mcproxy, tbxark`,
	} {
		var p peerFlags
		err := p.Set(text)
		if want == "" && (err != nil || len(p) != 1 || p[0].name != "MCProxy 0.1.0" || filepath.Base(p[0].path) != "mcproxy" || p[0].dialect != "mcproxy") {
			t.Errorf("%s: got %v, %v", text, p, err)
		}
		if want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

// TestDialects: what a program is started with is in files of its own directory, and
// names its servers and its port.
func TestDialects(t *testing.T) {
	t.Parallel()
	servers := map[string]any{"load": command("backend", "a"), "far": map[string]any{"url": "http://127.0.0.1:1/mcp"}}
	for name, d := range dialects {
		for _, start := range []func(string, place) (launch, error){d.stdio, d.web, d.call} {
			if start == nil {
				continue
			}
			at := place{dir: t.TempDir(), port: "4711", servers: servers}
			l, err := start("program", at)
			require.NoError(t, err)
			files, err := filepath.Glob(filepath.Join(at.dir, "*"))
			require.NoError(t, err)
			said := strings.Join(append(slices.Clone(l.words), l.env...), " ")
			if len(files) != 1 || l.words[0] != "program" || !strings.Contains(said, files[0]) {
				t.Fatalf("%s: starts %s with the files %v", name, said, files)
			}
			text, err := os.ReadFile(files[0])
			require.NoError(t, err)
			if !strings.Contains(string(text), `"command":"backend"`) || !strings.Contains(string(text), "127.0.0.1:1/mcp") {
				t.Errorf("%s: got %s", name, text)
			}
			if d.path == "" {
				t.Errorf("%s has no endpoint", name)
			}
		}
		if l, err := d.web("program", place{dir: t.TempDir(), port: "4711", servers: servers}); err != nil || !portTold(l) {
			t.Errorf("%s is not told its port: %v %v", name, l, err)
		}
	}
}

// portTold reports whether a program learns the port 4711.
func portTold(l launch) bool {
	for _, word := range l.words {
		text, _ := os.ReadFile(word) // not every word is a file
		if strings.Contains(word+string(text), "4711") {
			return true
		}
	}
	return false
}

// TestMeasuredApart: a group that was measured alone has a machine of its own, until it
// is measured with the rest.
func TestMeasuredApart(t *testing.T) {
	t.Parallel()
	r, later := sample(), machine{CPU: "another CPU", Date: "2026-12-24"}
	r.note("bridge", later)
	if text := machineText(r); !strings.Contains(text, "2026-11-20") || !strings.Contains(text, "on 2026-12-24: bridge") {
		t.Errorf("got %s", text)
	}
	r.note("bridge", r.Machine)
	if text := machineText(r); strings.Contains(text, "apart") {
		t.Errorf("got %s", text)
	}
}

func TestNothingMeasuredIsNothingPromised(t *testing.T) {
	t.Parallel()
	if rows := evaluate(&report{}); len(rows) != 0 {
		t.Errorf("got %d rows of nothing", len(rows))
	}
}

func TestPlots(t *testing.T) {
	t.Parallel()
	for _, r := range []*report{sample(), {}} {
		for name, p := range plots(r) {
			svg := p.svg()
			if svg != p.svg() {
				t.Errorf("%s: drawn twice, it differs", name)
			}
			if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
				t.Errorf("%s: holds what is no number", name)
			}
			d := xml.NewDecoder(strings.NewReader(svg))
			for {
				if _, err := d.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			if len(r.Lists) > 0 && strings.Count(svg, "<polyline") != 5*len(p.panels) {
				t.Errorf("%s: got %d lines, want 5 in each of %d panels", name, strings.Count(svg, "<polyline"), len(p.panels))
			}
		}
	}
}

func TestTicks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		got, want []float64
	}{
		{linearTicks(76), []float64{0, 20, 40, 60, 80}},
		{linearTicks(100), []float64{0, 20, 40, 60, 80, 100}},
		{linearTicks(1.4), []float64{0, .5, 1, 1.5}},
		{decades(.3, 120), []float64{.1, 1, 10, 100, 1000}},
		{decades(1, 1), []float64{1, 10}},
	} {
		if d := cmp.Diff(fmt.Sprintf("%.3f", tt.want), fmt.Sprintf("%.3f", tt.got)); d != "" {
			t.Error(d)
		}
	}
}

func TestFill(t *testing.T) {
	t.Parallel()
	const page = "a\n<!-- bench:x -->\nold\n<!-- bench:end -->\nb\n<!-- bench:y -->\n<!-- bench:end -->\n"
	parts := map[string]string{"x": "new\n", "y": "z\n"}
	got, err := fill(page, parts)
	require.NoError(t, err)
	const want = "a\n<!-- bench:x -->\n\nnew\n\n<!-- bench:end -->\nb\n<!-- bench:y -->\n\nz\n\n<!-- bench:end -->\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if again, err := fill(got, parts); err != nil || again != got {
		t.Errorf("filled again it is %q, %v", again, err)
	}
	for _, bad := range []string{"", "<!-- bench:x -->\n"} {
		if _, err := fill(bad, map[string]string{"x": ""}); err == nil {
			t.Errorf("%q: got no error", bad)
		}
	}
}

// TestSaved figures are the same when they are read again.
func TestSaved(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "deep", "bench.json")
	r := sample()
	r.Rows = evaluate(r)
	require.NoError(t, save(file, r))
	got, err := load(file)
	require.NoError(t, err)
	if d := cmp.Diff(r, got); d != "" {
		t.Error(d)
	}
}

// TestPublished holds the page and the plots to the raw figures beside them:
// after `make bench BENCH=-render` it passes.
func TestPublished(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "..")
	r, err := load(filepath.Join(root, filepath.FromSlash(figureFile)))
	require.NoError(t, err)
	if d := cmp.Diff(evaluate(r), r.Rows); d != "" {
		t.Errorf("the rows do not follow from the figures:\n%s", d)
	}
	files, err := rendered(root, r)
	require.NoError(t, err)
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		require.NoError(t, err)
		if string(got) != want {
			t.Errorf("%s is not what the figures give: run make bench BENCH=-render\n%s", name, cmp.Diff(want, string(got)))
		}
	}
	raw, err := json.Marshal(r)
	require.NoError(t, err)
	if path := regexp.MustCompile(`(/home/|/root|/tmp|/Users/|\\\\Users)[^"]*`).Find(raw); path != nil {
		t.Errorf("the raw figures hold a path of the machine: %s", path)
	}
}

func TestThousands(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 100_000: "100,000", 1_234_567: "1,234,567"} {
		if got := thousands(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
}
