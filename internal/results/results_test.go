package results_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/results"
	"github.com/mcpctl/mcpctl/internal/tokens"
	"github.com/mcpctl/mcpctl/test/require"
)

func fieldsOf(tb testing.TB, paths ...string) *results.Fields {
	tb.Helper()
	f, err := results.ParseFields(paths)
	require.NoError(tb, err)
	return f
}

// TestProject: what stays of a value, byte for byte.
func TestProject(t *testing.T) {
	for _, tc := range []struct{ fields, value, want string }{
		{"number", `{"number": 9007199254740993 ,"title":"x"}`, `{"number":9007199254740993}`},
		{"number title", `{"title":"x","other":{"number":1},"number":1.50e2}`, `{"title":"x","number":1.50e2}`},
		{"user.login", `{"user":{"login":"a","id":1},"id":2}`, `{"user":{"login":"a"}}`},
		{"user.login user", `{"user":{"login":"a","id":1}}`, `{"user":{"login":"a","id":1}}`},
		{"items[].id", `{"total":2,"items":[{"id":1,"x":[]},{"id":2}, 7, {"x":1}]}`, `{"items":[{"id":1},{"id":2},{}]}`},
		{"items.id", `{"items":[{"id":1}]}`, `{"items":[{"id":1}]}`},
		{"items[]", `{"items":[1, {"a":2}],"x":1}`, `{"items":[1, {"a":2}]}`},
		{"id", `[{"id":1,"a":2},{"a":3},[{"id":4}],"id"]`, `[{"id":1},{},[{"id":4}]]`},
		{"[].id", `[{"id":1,"a":2}]`, `[{"id":1}]`},
		{"é", `{"\u00e9":1,"e":2}`, `{"\u00e9":1}`},
		{"a", `{"a":1,"b":2,"a":3}`, `{"a":1,"a":3}`},
		{"a.b", `{"a":7,"c":1}`, ``},
		{"a", `7`, ``},
		{"a", `{"b":1}`, ``},
		{"a", `{"b":`, ``},
		{"a.b c", `{"a":{"x":1},"c":[]}`, `{"c":[]}`},
	} {
		got, some := fieldsOf(t, strings.Fields(tc.fields)...).Project([]byte(tc.value))
		if some != (tc.want != "") || some && string(got) != tc.want {
			t.Errorf("%s of %s: got %s, %t", tc.fields, tc.value, got, some)
		}
	}
	for _, path := range []string{"", "a..b", ".a", "a.", "a[0]", "a]", "a.[]", strings.Repeat("a.", 40) + "a"} {
		if _, err := results.ParseFields([]string{path}); err == nil {
			t.Errorf("%q is taken", path)
		}
	}
	if f, err := results.ParseFields(nil); f != nil || err != nil {
		t.Errorf("got %v, %v", f, err)
	}
	deep := strings.Repeat("[", 9000) + `{"a":1}` + strings.Repeat("]", 9000)
	if got, _ := fieldsOf(t, "a").Project([]byte(deep)); len(got) > 200 {
		t.Errorf("got %d bytes", len(got))
	}
}

// TestProjectResult: members of structured content, and of text that is JSON; the rest stays.
func TestProjectResult(t *testing.T) {
	for _, tc := range []struct{ result, want string }{
		{
			`{"content":[{"type":"text","text":"{\"id\":9007199254740993,\"x\":1}","_meta":{"y":1}},{"type":"image","data":"aWQ="}],"structuredContent":{"id":9007199254740993,"x":1},"_meta":{"x":1}}`,
			`{"content":[{"type":"text","text":"{\"id\":9007199254740993}","_meta":{"y":1}},{"type":"image","data":"aWQ="}],"structuredContent":{"id":9007199254740993},"_meta":{"x":1}}`,
		},
		{`{"content":[{"type":"text","text":"id: 7"}]}`, ``},
		{`{"content":[{"type":"text","text":"{\"id\":7,"}]}`, ``},
		{`{"content":[{"type":"text","text":"{\"error\":7}"}],"isError":true}`, ``},
		{`{"content":[{"type":"text","text":"[{\"id\":1,\"x\":2}]"}],"structuredContent":{"result":[{"id":1,"x":2}]}}`, `{"content":[{"type":"text","text":"[{\"id\":1}]"}],"structuredContent":{"result":[{"id":1}]}}`},
		{`{"structuredContent":{"result":"plain"}}`, ``},
		{`{"content":[{"type":"resource","resource":{"uri":"a:b","text":" {\"x\":1}"}}]}`, `{"content":[{"type":"resource","resource":{"uri":"a:b","text":"{}"}}]}`},
		{`{"content":7}`, ``},
		{`7`, ``},
	} {
		want := tc.want
		if want == "" {
			want = tc.result
		}
		if got := results.Project([]byte(tc.result), fieldsOf(t, "id")); string(got) != want {
			t.Errorf("%s\n got %s\nwant %s", tc.result, got, want)
		}
	}
}

// numbered returns n texts that say their number.
func numbered(n int, format string) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(format, i)
	}
	return all
}

func textResult(text string, more string) []byte {
	return append(append(rawjson.Quote([]byte(`{"content":[{"type":"text","text":`), text), `}]`...), more+`}`...)
}

// TestCut: what is shown of a result that is too long.
func TestCut(t *testing.T) {
	lines := strings.Join(numbered(500, "line %d of a long text"), "\n")
	items := strings.Join(numbered(500, `{"id": %d, "n": 9007199254740993}`), ",\n  ")
	for name, tc := range map[string]struct {
		result                    []byte
		unit                      string
		begins, ends, next, never string
		last                      bool
	}{
		"lines":  {textResult(lines, ``), "lines", "line 0 of", "text\n", "line %d of", "", false},
		"array":  {textResult("[\n  "+items+"\n]", ``), "items", "[\n  {\"id\": 0,", "}\n]", `"id": %d,`, "", false},
		"object": {textResult(`{"total_count": 500, "items": [`+items+`], "more": true}`, ``), "items", `{"total_count": 500, "items": [{"id": 0,`, `}], "more": true}`, `"id": %d,`, "", false},
		"inner":  {textResult(`{"data":{"list":{"nodes":[`+items+`]}}}`, ``), "items", `{"data":{"list":{"nodes":[{"id": 0,`, `}]}}}`, `"id": %d,`, "", false},
		"members": {
			textResult("{"+strings.Join(numbered(500, `"key%d": {"a": [1, 2, 3]}`), ", ")+"}", ``), "members", `{"key0": {"a"`, `]}}`, `"key%d"`, "", false,
		},
		"structured": {
			textResult(`[`+items+`]`, `,"structuredContent":{"result":[`+items+`]},"_meta":{"x":1}`), "items", `[{"id": 0,`, `}]`, `"id": %d,`, "structuredContent", false,
		},
		"error": {textResult(lines, `,"isError":true`), "lines", "line ", "line 499 of a long text", "", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			const most = 300
			l := results.Cut(tc.result, most)
			if l == nil {
				t.Fatal("it is not cut")
			}
			out := l.Answer([]byte(`{"type":"text","text":"END"}`))
			var r struct {
				Content []struct{ Type, Text string }
				IsError bool
			}
			require.NoError(t, json.Unmarshal(out, &r))
			if len(r.Content) != 2 || r.Content[1].Text != "END" || r.IsError != tc.last {
				t.Fatalf("got %s", out)
			}
			text := r.Content[0].Text
			if !strings.HasPrefix(text, tc.begins) || !strings.HasSuffix(text, tc.ends) {
				t.Errorf("got %s", text)
			}
			if n := tokens.Estimate([]byte(text)); n > most*21/20 || n < most*3/4 {
				t.Errorf("it has %d tokens, want about %d", n, most)
			}
			p := l.Page
			if p.Unit != tc.unit || p.Of != 500 || p.Shown < 5 || p.Percent < 1 || p.Percent > 20 {
				t.Errorf("got %+v", p)
			}
			switch {
			case tc.last && (p.From+p.Shown != 500 || p.Next != 500 || !strings.HasPrefix(text, fmt.Sprintf("line %d ", p.From))):
				t.Errorf("got %+v of %s", p, text)
			case !tc.last && (p.From != 0 || p.Next != p.Shown || strings.Contains(text, fmt.Sprintf(tc.next, p.Next)) || !strings.Contains(text, fmt.Sprintf(tc.next, p.Next-1))):
				t.Errorf("got %+v of %s", p, text)
			}
			if tc.never != "" && bytes.Contains(out, []byte(tc.never)) || bytes.Contains(tc.result, []byte("_meta")) != bytes.Contains(out, []byte("_meta")) {
				t.Errorf("got %s", out)
			}
			if strings.HasPrefix(text, "[") || strings.HasPrefix(text, "{") {
				require.NoError(t, rawjson.Valid([]byte(text)))
			}
		})
	}
}

// TestCutNot: what is no longer than asked, or no result of a tool, stays as it is.
func TestCutNot(t *testing.T) {
	long := strings.Repeat("a line of text\n", 200)
	for _, result := range []string{
		string(textResult("short", ``)), string(textResult(long, ``))[:400], `{"content":7,"x":"` + long[:100] + `"}`, `[1]`, `{"resultType":"input_required","x":"` + strings.Repeat("x", 4000) + `"}`,
		`{"content":[{"type":"image","data":"` + strings.Repeat("A", 9000) + `"},{"type":"text","text":"` + strings.Repeat(" ", 200) + `ok"}]}`,
	} {
		if l := results.Cut([]byte(result), 100); l != nil {
			t.Errorf("%.80s: cut to %s", result, l.Answer())
		}
	}
	if results.Cut(textResult(long, ``), 0) != nil {
		t.Error("cut without a bound")
	}
}

// TestCutBlocks: of several blocks whole ones are shown; images stay, wherever they are.
func TestCutBlocks(t *testing.T) {
	var content []string
	for i := range 50 {
		content = append(content, fmt.Sprintf(`{"type":"text","text":"block %d has a few words","annotations":{"priority":%d}}`, i, i))
	}
	content = append(content, `{"type":"image","data":"AAAA","mimeType":"image/png"}`, `{"type":"resource","resource":{"uri":"a:b","text":"also a text"}}`)
	l := results.Cut([]byte(`{"content":[`+strings.Join(content, ",")+`],"structuredContent":{"other":1}}`), 100)
	p, out := l.Page, l.Answer()
	if p.Unit != "parts" || p.Of != 52 || p.Shown < 5 || p.Shown > 20 || len(l.Texts) != 52 || string(l.Texts[51]) != `{"other":1}` {
		t.Errorf("got %+v", p)
	}
	want := `{"content":[` + strings.Join(content[:p.Shown], ",") + `,` + content[50] + `]}`
	if string(out) != want {
		t.Errorf("got %s\nwant %s", out, want)
	}
}

// TestOverlong: an element longer than a page is not cut. It is shown where it is asked for.
func TestOverlong(t *testing.T) {
	texts := results.Texts{[]byte("one\n" + strings.Repeat("word ", 5000) + "\nthree\n")}
	first := texts.Page(results.Query{Most: 100})
	if string(first.Texts[0]) != "one\n" || first.Next != 1 || first.Overlong < 4000 {
		t.Errorf("got %+v", first)
	}
	if p := texts.Page(results.Query{Most: 100, From: 1}); p.Shown != 0 || p.Next != 1 {
		t.Errorf("got %+v", p)
	}
	if p := texts.Page(results.Query{Most: 100, From: 1, Any: true}); p.Shown != 1 || p.Next != 2 || p.Overlong != 0 || len(p.Texts[0]) != 25001 {
		t.Errorf("got %+v", p)
	}
	if p := texts.Page(results.Query{Most: 100, From: 9}); p.Shown != 0 || p.Next != 3 || p.From != 3 {
		t.Errorf("got %+v", p)
	}
	l := results.Cut(textResult(`{"n":1,"text":"`+strings.Repeat("word ", 5000)+`"}`, ``), 100)
	if string(l.Answer()) == "" || l.Page.Of != 2 || l.Page.Shown != 1 || string(l.Page.Texts[0]) != `{"n":1}` {
		t.Errorf("got %s of %+v", l.Answer(), l.Page)
	}
}

// TestMatch: elements that match, and no others.
func TestMatch(t *testing.T) {
	texts := results.Texts{[]byte(`{"total":100,"items":[` + strings.Join(numbered(100, `{"id":%d,"name":"a word"}`), ", ") + `]}`)}
	p := texts.Page(results.Query{Most: 1000, Match: regexp.MustCompile(`"id":.*7\b`)})
	if p.Shown != 10 || p.Next != 100 || !strings.HasPrefix(string(p.Texts[0]), `[{"id":7,"name":"a word"},{"id":17,`) || rawjson.Valid(p.Texts[0]) != nil {
		t.Errorf("got %s of %+v", p.Texts[0], p)
	}
	p = texts.Page(results.Query{Most: 30, From: 18, Match: regexp.MustCompile(`"id":.*7\b`)})
	if p.Shown < 1 || p.Next != 27+10*p.Shown {
		t.Errorf("got %+v", p)
	}
	if p = texts.Page(results.Query{Most: 30, Match: regexp.MustCompile(`none`)}); p.Shown != 0 || p.Next != 100 || p.Texts[0] != nil {
		t.Errorf("got %+v", p)
	}
}

// TestBounds: what a server sends takes a bounded time and memory, however it is made.
func TestBounds(t *testing.T) {
	lines := results.Texts{bytes.Repeat([]byte("\n"), 4<<20)}
	if p := lines.Page(results.Query{Most: 100}); p.Of > 1<<20+1 || p.Shown < 10 {
		t.Errorf("got %d elements, %d shown", p.Of, p.Shown)
	}
	nested := results.Texts{[]byte(strings.Repeat("[", 9000) + `"` + strings.Repeat("word ", 1<<18) + `"` + strings.Repeat("]", 9000))}
	if p := nested.Page(results.Query{Most: 100}); p.Of != 1 || p.Shown != 0 {
		t.Errorf("got %+v", p)
	}
}

func BenchmarkCut(b *testing.B) {
	for _, size := range []int{1 << 10, 100 << 10, 8 << 20} {
		one := `{"id": 9007199254740993, "name": "a word or two", "user": {"login": "someone"}}`
		result := textResult(`[`+strings.Join(slices.Repeat([]string{one}, size/len(one)), ",")+`]`, ``)
		b.Run(fmt.Sprint(size>>10, " KiB"), func(b *testing.B) {
			for b.Loop() {
				results.Cut(result, 1000)
			}
		})
	}
}
