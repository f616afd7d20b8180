package context_test

import (
	"cmp"
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
	"github.com/mcpctl/mcpctl/internal/tokens"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

var update = flag.Bool("update", false, "run all tasks, and write the figures into test/reports/context.md")

const (
	// maxTurns bounds a task.
	maxTurns = 10
	// cached is what a token costs that was in the turn before.
	cached = 0.1
	// instructions and answer are tokens that each task has beside its queries and results:
	// what the host says to the model, and what the model says at the end.
	instructions, answer = 200, 100
	// limit is how many tools a first search shows, wider that of a second one.
	limit, wider = 5, 20
)

// agent does tasks as a model would, by a script.
type agent struct {
	t       *testing.T
	all     *gateway // with the whole list
	search  *gateway // in search mode
	exposed map[string]string
	schema  map[string]json.RawMessage // definitions as listed, by exposed name
	index   *search.Engine             // of a host that searches by itself
}

// task is the cost of one, in tokens that a model reads: those of all turns together.
type task struct {
	context int // what the next turn reads
	before  int // what the last one has read
	read    int
	price   float64 // with a cache
	turns   int
	calls   int // of tools, those that search among them
	failed  bool
}

// turn has the model read all so far; it says something of so many tokens, and is told others.
func (k *task) turn(says, told int) {
	k.turns++
	k.read += k.context
	k.price += cached*float64(k.before) + float64(k.context-k.before)
	k.before = k.context
	k.context += says + told
}

func count(text string) int { return tokens.Estimate([]byte(text)) }

// do does a task in a mode, whose prompt takes so many tokens.
func (a *agent) do(mode string, prompt int, queries []query) *task {
	k := &task{context: prompt + instructions}
	for _, q := range queries {
		k.context += count(q.Query)
	}
	for _, q := range queries {
		if !a.step(mode, k, q) {
			k.failed = true
		}
	}
	k.turn(answer, 0)
	return k
}

// step does what a query wants, and reports whether it could. A model that sees all tools is
// taken to choose right.
func (a *agent) step(mode string, k *task, q query) bool {
	var names []string
	for _, n := range q.Accept {
		if name := a.exposed[n]; name != "" { // or it is not in this corpus
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return false
	}
	name := names[0]
	if mode != "all" {
		if name = a.find(mode, k, q.Query, limit, names); name == "" && k.turns+2 < maxTurns {
			name = a.find(mode, k, keywords(q.Query), wider, names)
		}
		if name == "" {
			return false
		}
	}
	f, with, tool := a.all, any(arguments(a.schema[name])), name
	if mode == "search" {
		f, with, tool = a.search, map[string]any{"name": name, "arguments": with}, "call_tool"
	}
	text, failed := f.call(tool, with)
	k.calls++
	k.turn(count(string(marshal(a.t, map[string]any{"name": tool, "arguments": with}))), count(text))
	first, _, _ := strings.Cut(text, "\n")
	if failed || a.exposed[first] != name {
		a.t.Errorf("%s: %s: got %.300s", mode, name, text)
	}
	return !failed && k.turns < maxTurns
}

// find searches, and returns the first of some tools in the answer, "" for none.
func (a *agent) find(mode string, k *task, words string, most int, names []string) string {
	with := map[string]any{"queries": []string{words}, "limit": most}
	says := count(string(marshal(a.t, map[string]any{"name": "search_tools", "arguments": with})))
	var told string
	found := map[string]bool{}
	if mode == "search" {
		told, _ = a.search.call("search_tools", with)
		k.calls++
		for line := range strings.Lines(told) {
			name, _, _ := strings.Cut(line, "(")
			found[name] = true
		}
	} else { // the host shows whole definitions, as they are to be called
		for _, hit := range a.index.Search(a.t.Context(), search.Query{Phrasings: []string{words}, Limit: most}, nil) {
			name := a.exposed[hit.Group+":"+hit.Name]
			found[name] = true
			told += string(a.schema[name])
		}
	}
	k.turn(says, count(told))
	if i := slices.IndexFunc(names, func(n string) bool { return found[n] }); i >= 0 {
		return names[i]
	}
	return ""
}

// keywords are the other words of a second search: the long ones of the first.
func keywords(text string) string {
	long := slices.DeleteFunc(strings.Fields(text), func(w string) bool { return len(w) < 5 })
	return cmp.Or(strings.Join(long, " "), text)
}

// arguments returns arguments that a definition takes: what is required, and the least of it.
func arguments(definition json.RawMessage) map[string]any {
	var d struct{ InputSchema schema }
	_ = json.Unmarshal(definition, &d) // a tool without a schema takes anything
	return d.InputSchema.object()
}

type schema struct {
	Type       any
	Enum       []any
	Minimum    float64
	Required   []string
	Properties map[string]json.RawMessage
	MinItems   int
	Items      json.RawMessage
}

func (s *schema) object() map[string]any {
	out := map[string]any{}
	for _, name := range s.Required {
		out[name] = value(s.Properties[name])
	}
	return out
}

func value(raw json.RawMessage) any {
	var s schema
	_ = json.Unmarshal(raw, &s) // what it does not say may be a string
	if len(s.Enum) > 0 {
		return s.Enum[0]
	}
	switch s.Type {
	case "number", "integer":
		return s.Minimum
	case "boolean":
		return true
	case "object":
		return s.object()
	case "array":
		list := []any{}
		for range s.MinItems {
			list = append(list, value(s.Items))
		}
		return list
	}
	return "a text"
}

// figures are those of all tasks in one mode.
type figures struct {
	prompt, read, turns, calls, failed int
	price                              float64
}

// measure does n tasks of one to three queries each, in all modes.
func measure(t *testing.T, program string, c *corpus, n int) (modes map[string]*figures) {
	t.Helper()
	env := behind(t, c)
	a := &agent{t: t, all: serve(t, program, env, "all"), exposed: map[string]string{}, schema: map[string]json.RawMessage{}, index: &search.Engine{Vocabulary: search.Default()}}
	listed := a.all.list()
	if len(listed) != len(c.tools) {
		t.Fatalf("%d tools are listed, want %d", len(listed), len(c.tools))
	}
	prompt := map[string]int{}
	names := map[string]bool{}
	for _, definition := range listed {
		var d struct{ Name string }
		require.NoError(t, json.Unmarshal(definition, &d))
		a.schema[d.Name] = definition
		names[d.Name] = true
		prompt["all"] += tokens.Estimate(definition)
		prompt["host"] += count(d.Name) + 1
	}
	docs := map[string][]search.Doc{}
	for _, one := range c.tools {
		doc, ok := search.OfTool(one.server, one.definition)
		if !ok {
			t.Fatalf("no tool: %s", one.definition)
		}
		docs[one.server] = append(docs[one.server], doc)
		name := one.alias() + "__" + one.name
		if !names[name] { // a name that clients do not take is another one: ask
			continue
		}
		a.exposed[one.key()] = name
		delete(names, name)
	}
	for name := range names {
		text, _ := a.all.call(name, arguments(a.schema[name]))
		first, _, _ := strings.Cut(text, "\n")
		a.exposed[first] = name
	}
	for server, all := range docs {
		a.index.Build(server, all)
	}
	a.index.Wait(t.Context())
	a.search = serve(t, program, env, "search")
	for _, definition := range a.search.list() {
		prompt["search"] += tokens.Estimate(definition)
	}
	prompt["host"] += 120 // the host's own tool
	modes = map[string]*figures{}
	for _, mode := range []string{"all", "search", "host"} {
		f := &figures{prompt: prompt[mode]}
		modes[mode] = f
		at := 0
		for i := range n {
			var queries []query
			for range 1 + i%3 {
				q := c.queries[at%len(c.queries)]
				queries = append(queries, q)
				at++
			}
			k := a.do(mode, prompt[mode], queries)
			f.read += k.read
			f.price += k.price
			f.turns += k.turns
			f.calls += k.calls
			if k.failed {
				f.failed++
			}
			if k.turns > maxTurns {
				t.Errorf("%s: task %d takes %d turns", mode, i, k.turns)
			}
		}
	}
	return modes
}

// TestTasks does tasks with the tools of this repository's corpus: three of them, or with
// -update all 40, also with published tools where MCPCTL_TOOL_CORPUS names their folder.
func TestTasks(t *testing.T) {
	program, err := wire.Build(t.Context(), filepath.Join(t.TempDir(), "mcpctl"), "github.com/mcpctl/mcpctl/cmd/mcpctl")
	require.NoError(t, err)
	n := 3
	if *update {
		n = 40
	}
	var page strings.Builder
	run := func(title string, c *corpus) {
		modes := measure(t, program, c, n)
		all, found := modes["all"], modes["search"]
		if 10*found.prompt > all.prompt {
			t.Errorf("%s: definitions take %d tokens to search, %d as a list", title, found.prompt, all.prompt)
		}
		if all.failed > 0 || found.failed*3 > n {
			t.Errorf("%s: %d and %d of %d tasks failed", title, all.failed, found.failed, n)
		}
		fmt.Fprintf(&page, "### %s\n\n| mode | definitions | tokens | with a cache | warm cache | turns | calls | failed |\n|---|---:|---:|---:|---:|---:|---:|---:|\n", title)
		for _, mode := range []string{"all", "search", "host"} {
			f := modes[mode]
			fmt.Fprintf(&page, "| %s | %d | %d | %.0f | %.0f | %d | %d | %d |\n", mode, f.prompt, f.read, f.price, f.warm(n), f.turns, f.calls, f.failed)
		}
		plain, cold, warm := all.breakEven(found, n)
		per := float64(all.prompt) / float64(len(c.tools))
		fmt.Fprintf(&page, "\nDefinitions take %.1f %% fewer tokens with search. Whole tasks cost less with search from %.0f such tools on (%.0f tokens of definitions).\n"+
			"With a cache it is %.0f tools (%.0f tokens), and with a warm one %.0f (%.0f).\n\n",
			100-100*float64(found.prompt)/float64(all.prompt), plain/per, plain, cold/per, cold, warm/per, warm)
		if m := configured(); m != nil && *update {
			page.WriteString(m.pairs(t, program, c, n))
		}
		if plain <= 0 || cold <= 0 || warm <= 0 {
			t.Errorf("%s: search is cheaper from %v, %v and %v tokens on", title, plain, cold, warm)
		}
	}
	run(fmt.Sprintf("Own corpus: %d tools", len(ours(t).tools)), ours(t))
	if dir := os.Getenv("MCPCTL_TOOL_CORPUS"); dir != "" && *update {
		run("527 published tools of 70 servers", published(t, dir, "LiveMCPTool"))
		run("1,399 published tools of 99 servers", published(t, dir, ""))
	}
	t.Log(page.String())
	if *update && !t.Failed() {
		write(t, page.String())
	}
}

// warm is the price where the definitions are in the cache when a task begins.
func (f *figures) warm(tasks int) float64 {
	return f.price - float64(tasks)*(1-cached)*float64(f.prompt)
}

// breakEven returns how many tokens of definitions make the tasks cost as much as with
// search: without a cache, with one, and with a warm one.
func (f *figures) breakEven(found *figures, tasks int) (plain, cold, warm float64) {
	turns := float64(f.turns)
	first := float64(tasks) // each task reads the definitions again, once
	at := func(search, all, weight float64) float64 { return (search - (all - weight*float64(f.prompt))) / weight }
	return at(float64(found.read), float64(f.read), turns), at(found.price, f.price, first+cached*(turns-first)), at(found.warm(tasks), f.warm(tasks), cached*turns)
}

const (
	begin = "<!-- figures: written by make bench-context -->\n"
	end   = "<!-- end of figures -->\n"
)

// write puts the figures into the page.
func write(t *testing.T, text string) {
	t.Helper()
	const path = "../reports/context.md"
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(raw), begin)
	_, after, ends := strings.Cut(rest, end)
	if !ok || !ends {
		t.Fatalf("%s has no place for figures", path)
	}
	of := " without a model"
	if m := configured(); m != nil {
		of = " and by the model " + m.name
	}
	date := time.Now().Format(time.DateOnly)
	require.NoError(t, os.WriteFile(path, []byte(before+begin+"\nMeasured on "+date+" with `make bench-context`, by a script"+of+".\n\n"+text+end+after), 0o600))
}
