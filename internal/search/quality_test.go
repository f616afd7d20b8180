package search_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/search"
	"github.com/mcpctl/mcpctl/test/require"
)

var update = flag.Bool("update", false, "write the figures into test/reports/search.md")

// corpusVariable names a folder of published tools: tools.jsonl with a server, name,
// definition and source a line, and queries*.jsonl with id, kind, query and accept.
const corpusVariable = "MCPCTL_TOOL_CORPUS"

// asked is a query whose answers are known.
type asked struct {
	Kind   string   `json:"kind"`
	Query  string   `json:"query"`
	Accept []string `json:"accept"` // server:name
}

// corpus is the tools of many servers, and queries for them.
type corpus struct {
	tools   map[string][]search.Doc // by server
	count   int
	queries []asked
}

func (c *corpus) engine() *search.Engine {
	e := &search.Engine{Vocabulary: search.Default()}
	for server, docs := range c.tools {
		e.Build(server, docs)
	}
	return e
}

func lines(t *testing.T, path string) [][]byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	var out [][]byte
	for line := range bytes.Lines(raw) {
		if line = bytes.TrimRight(line, "\n"); len(bytes.TrimSpace(line)) > 0 && line[0] != '#' {
			out = append(out, line)
		}
	}
	return out
}

// ours returns the corpus of this folder.
func ours(t *testing.T) *corpus {
	t.Helper()
	c := &corpus{tools: map[string][]search.Doc{}}
	server := ""
	for _, line := range lines(t, "testdata/tools.txt") {
		if line[0] != ' ' {
			server = string(line)
			continue
		}
		part := strings.SplitN(strings.TrimSpace(string(line)), " | ", 3)
		d := search.Doc{Group: server, Name: part[0], Text: strings.TrimSuffix(part[1], " |")}
		if len(part) == 3 {
			d.Params = part[2]
		}
		c.tools[server] = append(c.tools[server], d)
		c.count++
	}
	for _, line := range lines(t, "testdata/queries.txt") {
		part := strings.Split(string(line), " | ")
		c.queries = append(c.queries, asked{part[0], part[1], strings.Fields(part[2])})
	}
	return c
}

// published returns the tools of a source ("" is all) in a folder, and the queries that
// they can answer.
func published(t *testing.T, dir, queries, source string) *corpus {
	t.Helper()
	c := &corpus{tools: map[string][]search.Doc{}}
	known := map[string]bool{}
	for _, line := range lines(t, filepath.Join(dir, "tools.jsonl")) {
		var in struct{ Server, Name, Source string }
		require.NoError(t, json.Unmarshal(line, &in))
		d, ok := search.OfTool(in.Server, line)
		if !ok {
			t.Fatalf("no tool: %s", line)
		}
		if source == "" || in.Source == source {
			c.tools[in.Server] = append(c.tools[in.Server], d)
			c.count++
			known[in.Server+":"+in.Name] = true
		}
	}
	for _, line := range lines(t, queries) {
		var q asked
		require.NoError(t, json.Unmarshal(line, &q))
		if slices.ContainsFunc(q.Accept, func(a string) bool { return known[a] }) {
			c.queries = append(c.queries, q)
		}
	}
	return c
}

// quality is how well queries are answered.
type quality struct {
	asked  int
	within [11]int // by the greatest rank that counts
	mrr    float64 // the sum of the reciprocals of ranks
}

func (q *quality) add(rank int) {
	q.asked++
	if rank > 0 {
		q.mrr += 1 / float64(rank)
		for k := rank; k < len(q.within); k++ {
			q.within[k]++
		}
	}
}

func (q *quality) at(k int) float64 { return float64(q.within[k]) / float64(q.asked) }

// outcome is what a corpus has come to.
type outcome struct {
	all    quality
	kinds  map[string]*quality
	misses []string // queries whose first answer is not among five, with its rank
	index  time.Duration
	query  []time.Duration // sorted
}

func (c *corpus) ask(t *testing.T) *outcome {
	t.Helper()
	search.Default() // is read once, by nobody's search
	o := &outcome{kinds: map[string]*quality{}}
	start := time.Now()
	e := c.engine()
	e.Wait(t.Context())
	o.index = time.Since(start)
	for _, q := range c.queries {
		start := time.Now()
		found := e.Search(t.Context(), search.Query{Phrasings: []string{q.Query}}, nil)
		o.query = append(o.query, time.Since(start))
		rank := 1 + slices.IndexFunc(found, func(f search.Found) bool { return slices.Contains(q.Accept, f.Group+":"+f.Name) })
		if o.kinds[q.Kind] == nil {
			o.kinds[q.Kind] = &quality{}
		}
		o.kinds[q.Kind].add(rank)
		o.all.add(rank)
		if rank == 0 || rank > 5 {
			where := fmt.Sprintf("at %d", rank)
			if rank == 0 {
				where = "not found"
			}
			o.misses = append(o.misses, fmt.Sprintf("`%s`, for `%s`: %s", q.Query, q.Accept[0], where))
		}
	}
	slices.Sort(o.query)
	return o
}

// bound is what must be reached at least.
type bound struct{ five, mrr float64 }

func (o *outcome) hold(t *testing.T, name string, b bound) {
	t.Helper()
	if b == (bound{}) {
		return
	}
	for _, kind := range []string{"named", "plain"} {
		if q := o.kinds[kind]; q != nil && q.within[5] < q.asked {
			t.Errorf("%s: %d of %d %s queries are answered among five", name, q.within[5], q.asked, kind)
		}
	}
	if at, mrr := o.all.at(5), o.all.mrr/float64(o.all.asked); at < b.five || mrr < b.mrr {
		t.Errorf("%s: %.2f among five, want %.2f; MRR %.2f, want %.2f", name, at, b.five, mrr, b.mrr)
	}
	if t.Failed() {
		t.Log(strings.Join(o.misses, "\n"))
	}
}

// TestQuality: the queries for the tools of this folder are answered as well as they have
// been. With a corpus of published tools it asks there, too, and writes both tables with
// -update.
func TestQuality(t *testing.T) {
	var page strings.Builder
	own := ours(t)
	if len(own.tools) < 30 || own.count < 300 || len(own.queries) < 60 {
		t.Fatalf("%d servers, %d tools, %d queries", len(own.tools), own.count, len(own.queries))
	}
	o := own.ask(t)
	o.hold(t, "own", bound{0.90, 0.80})
	o.write(&page, fmt.Sprintf("Own corpus: %d tools of %d servers that do not exist", own.count, len(own.tools)))
	dir := os.Getenv(corpusVariable)
	if dir == "" {
		t.Logf("%s is not set: published tools are left out", corpusVariable)
	} else {
		files, err := filepath.Glob(filepath.Join(dir, "queries*.jsonl"))
		require.NoError(t, err)
		files = append(files, filepath.SplitList(os.Getenv(corpusVariable+"_QUERIES"))...)
		sets := 0
		for _, file := range files {
			b, title := bound{0.90, 0.72}, "queries that the engine was developed with"
			if filepath.Base(file) != "queries.jsonl" {
				sets++
				b, title = bound{}, fmt.Sprintf("set %d of queries that nobody has tuned to", sets) // reported, whatever comes out
			}
			for _, source := range []string{"", "LiveMCPTool"} {
				c := published(t, dir, file, source)
				o := c.ask(t)
				o.hold(t, file+" "+source, b)
				o.write(&page, fmt.Sprintf("%s published tools of %d servers: %s", thousands(c.count), len(c.tools), title))
			}
		}
	}
	if *update && dir != "" {
		write(t, page.String())
	}
}

func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

// write writes the table of a corpus, and what it has missed.
func (o *outcome) write(w *strings.Builder, title string) {
	fmt.Fprintf(w, "### %s\n\n| queries | number | @1 | @3 | @5 | @10 | MRR |\n|---|---:|---:|---:|---:|---:|---:|\n", title)
	row := func(name string, q *quality) {
		fmt.Fprintf(w, "| %s | %d | %.2f | %.2f | %.2f | %.2f | %.2f |\n", name, q.asked, q.at(1), q.at(3), q.at(5), q.at(10), q.mrr/float64(q.asked))
	}
	for _, kind := range []string{"named", "plain", "paraphrase", "indirect", "language"} {
		if q := o.kinds[kind]; q != nil {
			row(kind, q)
		}
	}
	row("all", &o.all)
	fmt.Fprintf(w, "\nMissed:\n\n")
	for _, m := range o.misses {
		fmt.Fprintf(w, "- %s\n", m)
	}
	if len(o.misses) == 0 {
		fmt.Fprintf(w, "- none\n")
	}
	fmt.Fprintln(w)
}

const (
	figures    = "<!-- figures: written by make search-quality -->\n"
	figuresEnd = "<!-- end of figures -->\n"
)

// write puts the figures into the page.
func write(t *testing.T, text string) {
	t.Helper()
	const path = "../../test/reports/search.md"
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(raw), figures)
	_, after, ends := strings.Cut(rest, figuresEnd)
	if !ok || !ends {
		t.Fatalf("%s has no place for figures", path)
	}
	date := time.Now().Format(time.DateOnly)
	require.NoError(t, os.WriteFile(path, []byte(before+figures+"\nMeasured on "+date+" with `make search-quality`, without an endpoint for embeddings.\n\n"+text+figuresEnd+after), 0o600))
}
