package lockfile_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/internal/lockfile"
	"github.com/mcpctl/mcpctl/test/require"
)

// offer returns one with tools, prompts, resources and templates of these texts; a
// text nil leaves a list unknown.
func offer(t testing.TB, lists ...[]string) *lockfile.Offer {
	t.Helper()
	o := &lockfile.Offer{About: &lockfile.About{Name: "notes", Instructions: "Ask first."}}
	for l, texts := range lists {
		if texts == nil {
			continue
		}
		raw := make([]json.RawMessage, len(texts))
		for i, text := range texts {
			raw[i] = json.RawMessage(text)
		}
		o.Items[l] = lockfile.Items(lockfile.List(l), raw)
	}
	return o
}

func locked(o *lockfile.Offer) *lockfile.Server {
	s := &lockfile.Server{}
	s.Take(o)
	return s
}

// sentences returns changes as lines.
func sentences(changes []lockfile.Change) []string {
	var out []string
	for _, c := range changes {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s", c.State, c.What, c.Key)))
	}
	return out
}

const readTool = `{"name":"read","description":"Read a file.","inputSchema":{"type":"object","properties":{"path":{"type":"string"}}},"annotations":{"readOnlyHint":true}}`

// TestCompare: every member that a model or a host sees counts, its spelling does not.
func TestCompare(t *testing.T) {
	t.Parallel()
	server := locked(offer(t, []string{readTool, `{"name":"b"}`}, []string{`{"name":"p"}`}, []string{`{"uri":"a:b","size":1,"annotations":{"lastModified":"x","priority":1}}`}, []string{`{"uriTemplate":"a:{x}"}`}))
	one := func(tool string) *lockfile.Offer { return offer(t, []string{tool, `{"name":"b"}`}) }
	for name, c := range map[string]struct {
		offer *lockfile.Offer
		want  []string
	}{
		"the same":        {one(readTool), nil},
		"key order":       {one(`{ "annotations" : {"readOnlyHint":true}, "name":"\u0072ead","description":"Read a file.","inputSchema":{"properties":{"path":{"type":"string"}},"type":"object"}}`), nil},
		"how to run it":   {one(strings.Replace(readTool, `{"name"`, `{"execution":{"taskSupport":"optional"},"name"`, 1)), nil},
		"another order":   {offer(t, []string{`{"name":"b"}`, readTool}), nil},
		"a word":          {one(strings.Replace(readTool, "a file", "any file", 1)), []string{"changed tool read"}},
		"a schema":        {one(strings.Replace(readTool, `"string"`, `"number"`, 1)), []string{"changed tool read"}},
		"an annotation":   {one(strings.Replace(readTool, "true", "false", 1)), []string{"changed tool read"}},
		"_meta":           {one(strings.Replace(readTool, `{"name"`, `{"_meta":{"a":1},"name"`, 1)), []string{"changed tool read"}},
		"a title":         {one(strings.Replace(readTool, `{"name"`, `{"title":"R","name"`, 1)), []string{"changed tool read"}},
		"zero width":      {one(strings.Replace(readTool, "a file", "a\u200b file", 1)), []string{"changed tool read"}},
		"new and gone":    {offer(t, []string{readTool, `{"name":"c"}`}), []string{"new tool c", "gone tool b"}},
		"twice":           {offer(t, []string{readTool, `{"name":"b"}`, `{"name":"b","title":"x"}`}), nil},
		"none any more":   {offer(t, []string{}), []string{"gone tool b", "gone tool read"}},
		"unknown lists":   {&lockfile.Offer{}, nil},
		"instructions":    {&lockfile.Offer{About: &lockfile.About{Name: "notes", Instructions: "Never ask."}}, []string{"changed instructions"}},
		"a title of it":   {&lockfile.Offer{About: &lockfile.About{Name: "notes", Title: "N", Instructions: "Ask first."}}, []string{"new title"}},
		"a size":          {offer(t, nil, nil, []string{`{"uri":"a:b","annotations":{"priority":1,"lastModified":"y"},"size":22}`}), nil},
		"a resource":      {offer(t, nil, nil, []string{`{"uri":"a:b","annotations":{"priority":2}}`}), []string{"changed resource a:b"}},
		"a prompt":        {offer(t, nil, []string{`{"name":"p","description":"x"}`}), []string{"changed prompt p"}},
		"a template":      {offer(t, nil, nil, nil, []string{`{"uriTemplate":"a:{y}"}`}), []string{"new resource template a:{y}", "gone resource template a:{x}"}},
		"a large integer": {one(strings.Replace(readTool, `{"name"`, `{"_meta":{"a":9007199254740993},"name"`, 1)), []string{"changed tool read"}},
	} {
		if diff := cmp.Diff(c.want, sentences(server.Compare(c.offer))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestDifferences: a change is said where it is, with what nobody sees spelled out.
func TestDifferences(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("All of this stays as it was. ", 20)
	for name, c := range map[string]struct {
		was, is string
		want    []lockfile.Difference
	}{
		"a word": {`{"name":"a","description":"Read a file."}`, `{"name":"a","description":"Read every file."}`, []lockfile.Difference{{Where: "description", Was: "Read a file.", Is: "Read every file."}}},
		"in a long text": {
			`{"name":"a","description":"` + long + `Old. ` + long + `"}`, `{"name":"a","description":"` + long + `New. ` + long + `"}`,
			[]lockfile.Difference{{Where: "description", Was: "…as it was. All of this stays as it was. Old. All of this stays as it was. All of…", Is: "…as it was. All of this stays as it was. New. All of this stays as it was. All of…"}},
		},
		"hidden": {
			`{"name":"a","description":"Safe."}`, `{"name":"a","description":"Safe.\u200b\u202e\udb40\udc41\u001b[0m\u00a0x"}`,
			[]lockfile.Difference{{Where: "description", Was: "Safe.", Is: "Safe.<U+200B zero width space><U+202E right-to-left override><U+E0041 tag A><U+001B escape>[0m<U+00A0 no-break space>x"}},
		},
		"deep": {
			`{"name":"a","inputSchema":{"properties":{"p/q":{"type":"string","enum":["a"]}}}}`, `{"name":"a","inputSchema":{"properties":{"p/q":{"type":"number","enum":["a","b"]}}}}`,
			[]lockfile.Difference{{Where: "inputSchema/properties/p~1q/enum/1", Is: "b"}, {Where: "inputSchema/properties/p~1q/type", Was: "string", Is: "number"}},
		},
		"one member less": {`{"name":"a","title":"T","x":[1,{}]}`, `{"name":"a"}`, []lockfile.Difference{{Where: "title", Was: "T"}, {Where: "x/0", Was: "1"}, {Where: "x/1", Was: "{}"}}},
	} {
		changes := locked(offer(t, []string{c.was})).Compare(offer(t, []string{c.is}))
		if len(changes) != 1 {
			t.Errorf("%s: %v", name, sentences(changes))
			continue
		}
		if diff := cmp.Diff(c.want, changes[0].Differences()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestCheck: what each mode holds back.
func TestCheck(t *testing.T) {
	t.Parallel()
	server := locked(offer(t, []string{readTool}))
	changed := offer(t, []string{strings.Replace(readTool, "a file", "any file", 1), `{"name":"new"}`})
	for name, c := range map[string]struct {
		policy lockfile.Policy
		text   string
		holds  bool
	}{
		"off":            {lockfile.Policy{Mode: lockfile.Off, Locked: server}, "", false},
		"warn":           {lockfile.Policy{Locked: server}, "changed: tool read; new: tool new", false},
		"hold":           {lockfile.Policy{Mode: lockfile.Hold, Locked: server}, "changed: tool read; new: tool new; held back", true},
		"warn, unlocked": {lockfile.Policy{}, "", false},
		"hold, unlocked": {lockfile.Policy{Mode: lockfile.Hold}, "nothing is locked, so everything is held", true},
	} {
		v := lockfile.Check(c.policy, changed)
		if v.String() != c.text || v.Holds(lockfile.Tools, "read") != c.holds || v.Holds(lockfile.Tools, "new") != c.holds || v.Holds(lockfile.Prompts, "read") {
			t.Errorf("%s: %q, holds %t %t", name, v, v.Holds(lockfile.Tools, "read"), v.Holds(lockfile.Tools, "new"))
		}
	}
	v := lockfile.Check(lockfile.Policy{Mode: lockfile.Hold, Locked: server}, changed)
	page := []byte(`{"tools":[{"name":"new"}, {"name":"ok"} ,{"name":"read"}],"x":1}`)
	if got := string(v.Filter(lockfile.Tools, page)); got != `{"tools":[ {"name":"ok"} ],"x":1}` && got != `{"tools":[{"name":"ok"} ],"x":1}` && got != `{"tools":[{"name":"ok"}],"x":1}` {
		t.Errorf("the page without what is held is %s", got)
	}
	if got := v.Filter(lockfile.Prompts, []byte(`{"prompts":[{"name":"read"}]}`)); string(got) != `{"prompts":[{"name":"read"}]}` {
		t.Errorf("another list loses an entry: %s", got)
	}
}

// TestFile: what is written is read again, does not depend on the order of what was
// offered, has nothing invisible in it, and each member on a line.
func TestFile(t *testing.T) {
	t.Parallel()
	a := offer(t, []string{readTool, `{"name":"b\u200b","description":"<x>\u202e"}`}, []string{}, nil, []string{`{"uriTemplate":"a:{x}"}`})
	b := offer(t, []string{`{"description":"<x>\u202e","name":"b\u200b"}`, readTool}, []string{}, nil, []string{`{"uriTemplate":"a:{x}"}`})
	file := func(o *lockfile.Offer) *lockfile.File {
		s := locked(o)
		s.Entry, s.Resolved = "sha256:e", json.RawMessage(`{"type":"npm","name":"n","integrity":["sha512-x"]}`)
		return &lockfile.File{Servers: map[string]*lockfile.Server{"fs": s, "a": {}}}
	}
	text := string(file(a).Bytes())
	if text != string(file(b).Bytes()) {
		t.Error("the order of the offer changes the file")
	}
	if strings.ContainsAny(text, "\u200b\u202e") || !strings.Contains(text, `"description": "<x>\u202e"`) {
		t.Errorf("something in the file is invisible:\n%s", text)
	}
	if !strings.Contains(text, "\n            \"description\": \"Read a file.\",\n") {
		t.Errorf("a description has no line of its own:\n%s", text)
	}
	read, err := lockfile.Parse("x.lock.json", []byte(text))
	require.NoError(t, err)
	if again := string(read.Bytes()); again != text {
		t.Errorf("it is written otherwise:\n%s", cmp.Diff(text, again))
	}
	if changes := read.Servers["fs"].Compare(a); changes != nil {
		t.Errorf("read again it differs: %v", sentences(changes))
	}
	if d := read.Servers["fs"].Damaged(); d != nil {
		t.Errorf("damaged: %q", d)
	}
	edited, err := lockfile.Parse("x.lock.json", []byte(strings.Replace(text, "Read a file.", "Read files.", 1)))
	require.NoError(t, err)
	if d := edited.Servers["fs"].Damaged(); len(d) != 1 || d[0] != "tool read" {
		t.Errorf("an edit by hand is not found: %q", d)
	}
}

// TestBrokenFile: each has one line that says what is wrong, and a remedy.
func TestBrokenFile(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{\n\n<<<<<<< HEAD\n":                               "f.json:3: it is not JSON",
		`{"lockVersion":1,"servers":{"a":{}`:                "f.json:1: it is not JSON",
		`[]`:                                                "it has no servers",
		`{"lockVersion":2,"servers":{}}`:                    "lockVersion is 2, want 1",
		`{"servers":{}}`:                                    "lockVersion is missing, want 1",
		`{"lockVersion":1,"servers":{"a":1}}`:               `the server "a" cannot be read`,
		`{"lockVersion":1,"servers":{"a":{"tools":[]}}}`:    `the server "a" cannot be read`,
		`{"lockVersion":1,"servers":{"a":{},"a":{}}}`:       `the server "a" is there twice`,
		`{"lockVersion":1,"servers":[]}`:                    "servers is no object",
		"{\"lockVersion\":1,\"servers\":{\"a\":\"\xff\"}}}": "it is not JSON",
	} {
		_, err := lockfile.Parse("f.json", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: got %v", text, err)
		}
	}
	if _, err := lockfile.Load(t.TempDir()); err == nil {
		t.Error("a directory was read")
	}
	if f, err := lockfile.Load(filepath.Join(t.TempDir(), "none")); err != nil || len(f.Servers) != 0 {
		t.Errorf("no file: %v", err)
	}
}

// TestUpdate: many at once lose nothing, an error writes nothing, and what has not
// changed is not written.
func TestUpdate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "servers.lock.json")
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			if err := lockfile.Update(path, func(f *lockfile.File) error {
				f.Servers[fmt.Sprint("s", i)] = locked(offer(t, []string{readTool}))
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	f, err := lockfile.Load(path)
	require.NoError(t, err)
	if len(f.Servers) != 16 {
		t.Errorf("%d of 16 are there", len(f.Servers))
	}
	before, err := os.Stat(path)
	require.NoError(t, err)
	require.NoError(t, lockfile.Update(path, func(*lockfile.File) error { return nil }))
	if err := lockfile.Update(path, func(f *lockfile.File) error {
		clear(f.Servers)
		return os.ErrInvalid
	}); !errors.Is(err, os.ErrInvalid) {
		t.Errorf("got %v", err)
	}
	if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) {
		t.Errorf("it was written again: %v", err)
	}
	one, err := lockfile.LoadServer(path, "s3")
	require.NoError(t, err)
	if one == nil || one.Compare(offer(t, []string{readTool})) != nil {
		t.Error("one server alone is not what all are")
	}
}

// many returns an offer of n tools of a usual size.
func many(t testing.TB, n int) *lockfile.Offer {
	t.Helper()
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf(`{"name":"tool_%d","title":"Tool %d","description":"Finds the records that match the query, and returns them with their numbers, titles and dates. %d","inputSchema":{"type":"object","properties":{"query":{"type":"string","description":"What to look for"},"limit":{"type":"integer","minimum":1,"maximum":100},"fields":{"type":"array","items":{"type":"string","enum":["title","date","author"]}}},"required":["query"],"additionalProperties":false},"annotations":{"readOnlyHint":true,"openWorldHint":false}}`, i, i, i)
	}
	return offer(t, texts)
}

// copyOf returns an offer with bytes of its own.
func copyOf(o *lockfile.Offer) *lockfile.Offer {
	out := &lockfile.Offer{About: o.About}
	for l, items := range o.Items {
		for _, it := range items {
			out.Items[l] = append(out.Items[l], lockfile.Item{Key: it.Key, Raw: []byte(string(it.Raw))})
		}
	}
	return out
}

// TestCost: a list with the bytes of the last one costs a comparison of bytes, and a
// new one of 1,000 tools is compared in a bounded time. The bounds are far above what is
// promised of 5,000, 1 ms and 100 ms: the machine may be busy, and the race detector is slow.
// BenchmarkCheck measures.
func TestCost(t *testing.T) {
	t.Parallel()
	o := many(t, 1000)
	other, g := copyOf(o), &lockfile.Guard{}
	g.Set(map[string]lockfile.Policy{"s": {Mode: lockfile.Hold, Locked: locked(o)}})
	start := time.Now()
	if v := g.Check("s", o); v.HoldsAny() {
		t.Fatal("something is held")
	}
	first, again := time.Since(start), time.Hour
	for range 5 {
		start = time.Now()
		g.Check("s", other)
		again = min(again, time.Since(start))
		o, other = other, o
	}
	t.Logf("first %s, again %s", first, again)
	if first > 5*time.Second || again > 10*time.Millisecond {
		t.Errorf("the first check takes %s, one of the same bytes %s", first, again)
	}
}

func BenchmarkCheck(b *testing.B) {
	o := many(b, 5000)
	server, other := locked(o), copyOf(o)
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			lockfile.Check(lockfile.Policy{Mode: lockfile.Hold, Locked: server}, o)
		}
	})
	b.Run("same", func(b *testing.B) {
		g := &lockfile.Guard{}
		g.Set(map[string]lockfile.Policy{"s": {Mode: lockfile.Hold, Locked: server}})
		g.Check("s", o)
		for b.Loop() {
			g.Check("s", other)
			g.Check("s", o)
		}
	})
	b.Run("load", func(b *testing.B) {
		raw := (&lockfile.File{Servers: map[string]*lockfile.Server{"s": server}}).Bytes()
		for b.Loop() {
			if _, err := lockfile.Parse("x", raw); err != nil {
				b.Fatal(err)
			}
		}
	})
}
