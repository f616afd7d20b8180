package results_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/results"
)

// FuzzPage: pages that each begin where the one before ends have all elements once. Of lines,
// they are the text; of a document, each is one, and its elements are those of the whole.
func FuzzPage(f *testing.F) {
	for _, seed := range []string{
		"", "\n", "one\ntwo\n\nfour", "[1, 2,3]", `[{"a":[1,2]},{}]`, `{"n":9007199254740993,"items":[{"id":1},{"id":2},{"id":3}],"x":[]}`, `{"a":1,"b":{"c":[1,2,3,4,5,6,7,8,9]}}`,
		" [ [ [1 ,2 ] ] ] ", `{"a":1,"a":2}`, `{"":{"":{"":"}"}}}`, `"text"`, "[", `{"a":[]}`, "[\"\",\"\n\"]", "a\x00b\r\nc",
	} {
		f.Add(seed, "", uint8(4))
		f.Add(seed, "two\nblocks", uint8(20))
	}
	f.Fuzz(func(t *testing.T, text, other string, size uint8) {
		if !utf8.ValidString(text) || !utf8.ValidString(other) {
			t.Skip()
		}
		texts := results.Texts{[]byte(text)}
		if other != "" {
			texts = append(texts, []byte(other))
		}
		q := results.Query{Most: int(size) + 1, Any: true}
		joined := make([][]byte, len(texts))
		var pages []results.Page
		for n := 0; ; n++ {
			p := texts.Page(q)
			if n > 0 && p.Of != pages[0].Of || p.From != q.From || p.Next != p.From+p.Shown || p.Shown == 0 || p.Percent > 100 {
				t.Fatalf("got %+v after %+v", p, pages)
			}
			pages = append(pages, p)
			for i, part := range p.Texts {
				joined[i] = append(joined[i], part...)
			}
			if q.From = p.Next; p.Next == p.Of {
				break
			}
		}
		for i := range texts {
			if bytes.Equal(joined[i], texts[i]) {
				continue // lines, or all of it on one page
			}
			var values []string
			for _, p := range pages {
				if p.Texts[i] == nil {
					continue
				}
				if rawjson.Valid(p.Texts[i]) != nil {
					t.Fatalf("a page of %q is %q", texts[i], p.Texts[i])
				}
				values = append(values, leaves(t, p.Texts[i])...)
			}
			want := leaves(t, texts[i])
			if got, want := counted(values), counted(want); !sameCounts(got, want) {
				t.Fatalf("%q: pages have %q", texts[i], values)
			}
		}
		// A page of the last elements ends as the whole does.
		if last := texts.Page(results.Query{Most: q.Most, Last: true}); last.Shown > 0 && last.From+last.Shown != last.Of {
			t.Fatalf("got %+v", last)
		}
	})
}

// leaves returns the plain values of a document, each as it is written.
func leaves(t *testing.T, text []byte) (out []string) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err != nil {
			return out
		}
		if _, bracket := token.(json.Delim); !bracket {
			plain, err := json.Marshal(token)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, string(plain))
		}
	}
}

func counted(all []string) map[string]int {
	out := map[string]int{}
	for _, s := range all {
		out[s]++
	}
	return out
}

func sameCounts(a, b map[string]int) bool {
	if len(a) != len(b) {
		return false
	}
	for s, n := range a {
		if b[s] != n {
			return false
		}
	}
	return true
}

// FuzzProject: what is kept is JSON, has only what was there, and is the same a second time.
func FuzzProject(f *testing.F) {
	for _, seed := range []string{
		`{"id":9007199254740993,"x":1}`, `[{"id":1},{"a":{"b":2}}]`, `{"items":[{"id":1,"a":{"b":[{"c":1.0e5}]}}]}`, `{"id":1,"id":{}}`, `[[[{"id":null}]],7,"id"]`, `{"\u0069d":1}`, `{"result":[{"id":1}]}`, ` {"a" : {"b" : 1 } } `, "[",
	} {
		f.Add([]byte(seed), "id", "a.b")
	}
	f.Add([]byte(`{"items":[{"id":1,"x":2}]}`), "items[].id", "[]")
	f.Fuzz(func(t *testing.T, value []byte, one, two string) {
		fields, err := results.ParseFields([]string{one, two})
		if err != nil {
			t.Skip()
		}
		out, some := fields.Project(value)
		if !some {
			return
		}
		if rawjson.Valid(out) != nil {
			t.Fatalf("%q became %q", value, out)
		}
		if again, some := fields.Project(out); !some || !bytes.Equal(again, out) {
			t.Fatalf("%q became %q", out, again)
		}
		had := counted(leaves(t, value))
		for leaf, n := range counted(leaves(t, out)) {
			if had[leaf] < n {
				t.Fatalf("%q: %s is not of %q", out, leaf, value)
			}
		}
	})
}
