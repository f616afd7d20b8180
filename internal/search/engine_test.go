package search_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/search"
)

// small is an engine with a few tools.
func small() *search.Engine {
	e := &search.Engine{Vocabulary: search.Default()}
	e.Build("github", []search.Doc{
		{Group: "github", Name: "create_issue", Text: "Opens a new issue in a repository."},
		{Group: "github", Name: "list_issues", Text: "Lists issues. They may be filtered by label."},
		{Group: "github", Name: "merge_pull_request", Text: "Merges a pull request.", Params: "merge squash rebase"},
	})
	e.Build("hackernews", []search.Doc{{Group: "hackernews", Name: "getStories", Text: "Gets stories by type", Params: "top new best"}})
	e.Build("fs", []search.Doc{
		{Group: "fs", Name: "list", Text: "Lists a directory"},
		{Group: "fs", Name: "read_file", Text: "Reads a file and shows what issues it has"},
		{Group: "fs", Name: "deleteFile", Text: "Removes a file"},
	})
	e.Build("maps", []search.Doc{{Group: "maps", Name: "route", Text: "地图服务"}})
	return e
}

func find(t *testing.T, e *search.Engine, limit int, phrasings ...string) string {
	t.Helper()
	var out []string
	for _, f := range e.Search(t.Context(), search.Query{Phrasings: phrasings, Limit: limit}, nil) {
		out = append(out, f.Group+":"+f.Name)
	}
	return strings.Join(out, " ")
}

func TestEngine(t *testing.T) {
	e := small()
	for query, want := range map[string]string{
		"issues":                      "github:list_issues github:create_issue fs:read_file",
		"squash":                      "github:merge_pull_request",
		"open a ticket":               "github:create_issue", // by the vocabulary
		"erase it":                    "fs:deleteFile",
		"top of hacker news":          "hackernews:getStories",
		"服务":                          "maps:route",
		"GitHub":                      "github:create_issue",
		"list":                        "fs:list", // a name
		"list_issues":                 "github:list_issues",
		"listIssues":                  "github:list_issues",
		"github__list-issues":         "github:list_issues",
		"then call delete_file on it": "fs:deleteFile",
		"Datei löschen":               "fs:deleteFile",
		"quux":                        "",
		"get rid of a document":       "fs:deleteFile",       // by what it means
		"repositorylike":              "github:create_issue", // a word of the same family
		"":                            "",
		"the of":                      "",
		`" OR quux:* (`:               "",
	} {
		if got := find(t, e, 0, query); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%q: got %q, want %q first", query, got, want)
		}
	}
}

// TestEngineLimit: documents that are named are returned beyond the limit, and what is not
// kept does not count.
func TestEngineLimit(t *testing.T) {
	e := small()
	if got := find(t, e, 1, "issues"); got != "github:list_issues" {
		t.Errorf("got %q", got)
	}
	if got := find(t, e, 1, "read_file, create-issue"); got != "fs:read_file github:create_issue" && got != "github:create_issue fs:read_file" {
		t.Errorf("named: got %q", got)
	}
	if got := find(t, e, 2, "read_file", "squash", "create_issue", "top stories"); !strings.Contains(got, "fs:read_file") || !strings.Contains(got, "github:create_issue") {
		t.Errorf("named in several phrasings: got %q", got)
	}
	var asked int
	found := e.Search(t.Context(), search.Query{Phrasings: []string{"issues"}, Limit: 1}, func(_, name string) bool {
		asked++
		return name != "list_issues"
	})
	if len(found) != 1 || found[0].Name != "create_issue" || asked > 2 {
		t.Errorf("kept: got %v after %d questions", found, asked)
	}
	if got := e.Search(t.Context(), search.Query{Phrasings: []string{"list_issues", "issues"}}, func(string, string) bool { return false }); len(got) != 0 {
		t.Errorf("got %v, want nothing", got)
	}
}

// TestEngineFuse: what several phrasings find comes before what one finds.
func TestEngineFuse(t *testing.T) {
	got := find(t, small(), 1, "squash commits of a branch", "merge", "read")
	if got != "github:merge_pull_request" {
		t.Errorf("got %q", got)
	}
	if got := find(t, small(), 0); got != "" {
		t.Errorf("no phrasing: got %q", got)
	}
}

// TestEngineChanges: a search that begins after Build or Drop knows what they have done.
func TestEngineChanges(t *testing.T) {
	e := small()
	for i := range 50 {
		e.Build("fs", []search.Doc{{Group: "fs", Name: fmt.Sprint("tool", i), Text: "file"}})
		if got, want := find(t, e, 1, "file"), fmt.Sprint("fs:tool", i); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
		e.Drop("fs")
		if got := find(t, e, 0, "file"); strings.Contains(got, "fs:") {
			t.Fatalf("got %q after Drop", got)
		}
	}
	e.Drop("nobody")
	var empty search.Engine
	if got := find(t, &empty, 5, "file"); got != "" {
		t.Errorf("an empty engine: got %q", got)
	}
	empty.Build("a", []search.Doc{{Group: "a", Name: "read_file"}})
	if got := find(t, &empty, 5, "files"); got != "a:read_file" {
		t.Errorf("without a vocabulary: got %q", got)
	}
}

// TestEngineImpatient: what is not indexed yet is found by its name.
func TestEngineImpatient(t *testing.T) {
	var e search.Engine
	e.Build("slow", slices.Repeat([]search.Doc{{Group: "slow", Name: "read_file", Text: strings.Repeat("many words here ", 2000)}}, 200))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	found := e.Search(ctx, search.Query{Phrasings: []string{"file of readings"}, Limit: 1}, nil)
	if len(found) != 1 || found[0].Name != "read_file" {
		t.Errorf("got %v", found)
	}
}

// TestEngineDefinitions: definitions of tools are read in the background. Until then a tool is
// found by its name, afterwards by all that its definition says, also one that cannot be read.
func TestEngineDefinitions(t *testing.T) {
	var e search.Engine
	docs := []search.Doc{
		{Group: "fs", Name: "read_file", Definition: json.RawMessage(`{"name":"read_file","description":"Shows what a document contains.","inputSchema":{"properties":{"encoding":{"enum":["latin1"]}}}}`)},
		{Group: "fs", Name: "odd_tool", Definition: json.RawMessage(`{"name":`)},
	}
	e.Build("fs", slices.Concat(docs, slices.Repeat([]search.Doc{{Group: "fs", Name: "other", Text: strings.Repeat("many words here ", 2000)}}, 100)))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	names := func(ctx context.Context, text string) (all []string) {
		for _, f := range e.Search(ctx, search.Query{Phrasings: []string{text}, Limit: 5}, nil) {
			all = append(all, f.Name)
		}
		return all
	}
	if got := names(ctx, "file"); !slices.Equal(got, []string{"read_file"}) {
		t.Errorf("before: got %v", got)
	}
	if got := names(ctx, "latin1"); got != nil {
		t.Errorf("before: got %v by the definition", got)
	}
	e.Wait(t.Context())
	for text, want := range map[string]string{"document": "read_file", "latin1": "read_file", "odd": "odd_tool"} {
		if got := names(t.Context(), text); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: got %v", text, got)
		}
	}
}

// TestEngineCrowd: 32 searchers see each server whole or not at all, and as it is when they
// ask, while one is replaced every 100 ms and removed now and then.
func TestEngineCrowd(t *testing.T) {
	e := small()
	e.Wait(t.Context())
	ctx, stop := context.WithTimeout(t.Context(), 600*time.Millisecond)
	defer stop()
	var now atomic.Int64 // the version that is there, of which no older one may be found
	var crowd sync.WaitGroup
	for range 32 {
		crowd.Go(func() {
			for ctx.Err() == nil {
				least := now.Load()
				var versions []string
				for _, f := range e.Search(t.Context(), search.Query{Phrasings: []string{"marker file"}}, nil) {
					if _, v, ok := strings.Cut(f.Name, "_v"); ok {
						versions = append(versions, v)
					}
				}
				if len(versions) == 0 {
					continue // removed
				}
				if v, err := strconv.Atoi(versions[0]); err != nil || int64(v) < least || len(versions) != 2 || versions[0] != versions[1] {
					t.Errorf("versions %v, want two of %d at least", versions, least)
					return
				}
			}
		})
	}
	for i := int64(1); ctx.Err() == nil; i++ {
		e.Build("changing", []search.Doc{
			{Group: "changing", Name: fmt.Sprintf("marker1_v%d", i), Text: "marker"},
			{Group: "changing", Name: fmt.Sprintf("marker2_v%d", i), Text: "marker"},
		})
		now.Store(i)
		select {
		case <-time.After(100 * time.Millisecond): // as the list of a restless server
		case <-ctx.Done():
		}
		if i%3 == 0 {
			e.Drop("changing")
		}
	}
	crowd.Wait()
}

// TestEngineMemory: what the index of 1,400 tools takes is what test/reports/search.md says, or less.
func TestEngineMemory(t *testing.T) {
	search.Default()
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	servers := many(1_400)
	before := heap()
	e := &search.Engine{Vocabulary: search.Default()}
	for server, docs := range servers {
		e.Build(server, docs)
	}
	e.Wait(t.Context())
	took := int64(heap()) - int64(before)
	t.Logf("%d tools take %.1f MB", 1_400, float64(took)/1e6)
	if took > 8e6 {
		t.Errorf("the index of 1,400 tools takes %d bytes", took)
	}
	runtime.KeepAlive(e)
	runtime.KeepAlive(servers)
}

// many returns the tools of many servers, of words that are as frequent as those of texts.
func many(tools int) map[string][]search.Doc {
	random := rand.New(rand.NewPCG(1, 2))
	frequent := strings.Fields("get list create delete update search find read write file user issue table query page message order price record name id")
	word := func() string {
		if random.IntN(3) > 0 {
			return frequent[random.IntN(len(frequent))]
		}
		return fmt.Sprint("word", string(rune('a'+random.IntN(26))), string(rune('a'+random.IntN(26))))
	}
	out := map[string][]search.Doc{}
	for i := range tools {
		server := fmt.Sprint("server", i/20)
		var text []string
		for range 25 {
			text = append(text, word())
		}
		out[server] = append(out[server], search.Doc{
			Group: server, Name: fmt.Sprint(word(), "_", word(), "_", i), Text: strings.Join(text, " "), Params: word() + " " + word(),
		})
	}
	return out
}

// BenchmarkEngine shows how long a search takes in as many tools as a company may have. It
// fails beyond what test/reports/search.md promises.
func BenchmarkEngine(b *testing.B) {
	queries := []string{"create a new issue", "find a user by name and update the record", "delete all pages of a wordtableful", "send a message about the price of an order"}
	for tools, most := range map[int]time.Duration{1_400: 10 * time.Millisecond, 20_000: 60 * time.Millisecond} {
		start := time.Now()
		e := &search.Engine{Vocabulary: search.Default()}
		for server, docs := range many(tools) {
			e.Build(server, docs)
		}
		e.Wait(b.Context())
		built := time.Since(start)
		b.Run(fmt.Sprint(tools), func(b *testing.B) {
			var took []time.Duration
			for i := 0; b.Loop(); i++ {
				start := time.Now()
				e.Search(b.Context(), search.Query{Phrasings: queries[i%4 : i%4+1], Limit: 5}, nil)
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			p99 := took[len(took)*99/100]
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(p99.Microseconds())/1000, "p99-ms")
			b.ReportMetric(float64(built.Milliseconds()), "index-ms")
			if len(took) > 100 && p99 > most {
				b.Errorf("p99 of a search in %d tools is %s, more than %s", tools, p99, most)
			}
			if tools == 1_400 && built > 500*time.Millisecond {
				b.Errorf("%d tools are indexed in %s", tools, built)
			}
		})
	}
}

// FuzzEngine: a tool is found by its name, whatever that is, and no query is too odd.
func FuzzEngine(f *testing.F) {
	for _, q := range []string{"a b", `"x" AND`, "NEAR(a b)", "^name:*", "地\x00图", "\xff", "the", "_", strings.Repeat("word ", 400), strings.Repeat("地图", 200), `"`, "NOT", "a\tb\nc", "'; DROP", "𝒳 ﬁle", strings.Repeat("x", 400)} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, query string) {
		e := &search.Engine{Vocabulary: search.Default()}
		e.Build("other", []search.Doc{{Group: "other", Name: "other", Text: query}})
		e.Build("x", []search.Doc{{Group: "x", Name: query, Text: "some text"}})
		found := e.Search(t.Context(), search.Query{Phrasings: []string{query}, Limit: 3}, nil)
		if len(search.Split(query)) > 0 && (len(found) == 0 || found[0].Name != query && found[0].Name != "other") {
			t.Errorf("%q: got %v", query, found)
		}
	})
}

func TestOfTool(t *testing.T) {
	for definition, want := range map[string]string{
		`{"name":"a","title":"T","description":"D","inputSchema":{"properties":{"p":{"enum":["x",1,"y"],"description":"no"}}},"_meta":{"anthropic/searchHint":"hint"}}`: "a|T. D|p x y hint",
		`{"name":"a","annotations":{"title":"T"}}`: "a|T. |",
		`{"name":"a","inputSchema":{"properties":{"p":{"items":{"properties":{"q":{"properties":{"r":{"properties":{"s":{}}}}}}}}}}}`: "a||p q ",
		`{"name":"a","inputSchema":true}`:              "a||",
		`{"name":"a","description":7,"title":"T"}`:     "a|T. |",
		`{"name":"a","inputSchema":{"properties":[]}}`: "a||",
		`{"title":"no name"}`:                          "",
		`nonsense`:                                     "",
	} {
		d, ok := search.OfTool("s", json.RawMessage(definition))
		if got := d.Name + "|" + d.Text + "|" + d.Params; ok && got != want || ok == (want == "") {
			t.Errorf("%s: got %q, %v, want %q", definition, got, ok, want)
		}
	}
}
