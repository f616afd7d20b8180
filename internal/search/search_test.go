package search_test

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/mcpctl/mcpctl/internal/search"
	"github.com/mcpctl/mcpctl/test/require"
)

func TestSplit(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "",
		"create_issue":           "create issue",
		"create-issue.v2":        "create issue v2",
		"createIssue":            "createissue create issue",
		"getHTTPServer2":         "gethttpserver2 get http server",
		"HTTPServer":             "httpserver http server",
		"PostgreSQL, MySQL":      "postgresql postgre sql mysql my sql",
		"OAuth2 k8s s3 h264":     "oauth2 auth k8s s3 h264",
		"context7":               "context7 context",
		"Müller's Café":          "müller s café",
		"地图服务 maps":              "地图 图服 服务 maps",
		"天":                      "天",
		"東京ラーメン":                 "東京 京ラ ラー ーメ メン",
		`"a" OR name:x* NEAR(b)`: "a or name x near b",
		"\x00\xff--":             "",
	} {
		if got := strings.Join(search.Split(text), " "); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestWords(t *testing.T) {
	for query, want := range map[string]string{
		"send a message to the channel": "send message channel",
		"the mcp server for GitHub":     "github git hub",
		"mcp server":                    "mcp server",
		"to the":                        "to the",
		"issues issues":                 "issues",
		"":                              "",
	} {
		if got := strings.Join(search.Words(query, "mcp", "server"), " "); got != want {
			t.Errorf("%q: got %q, want %q", query, got, want)
		}
	}
}

// index returns an index in memory of documents by name.
func index(t *testing.T, docs ...search.Doc) (search.Index, *sql.DB) {
	t.Helper()
	db, err := sql.Open("sqlite", ":memory:")
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	x := search.Index{Table: "words"}
	_, err = db.ExecContext(t.Context(), x.Schema())
	require.NoError(t, err)
	for i, d := range docs {
		require.NoError(t, x.Put(t.Context(), db, int64(i), d))
	}
	return x, db
}

func ids(t *testing.T, x search.Index, db *sql.DB, query string, keep func(int64) bool, most int) []int64 {
	t.Helper()
	hits, err := x.Search(context.WithoutCancel(t.Context()), db, search.Words(query), keep, most)
	require.NoError(t, err)
	var out []int64
	for _, h := range hits {
		out = append(out, h.ID)
	}
	return out
}

func TestSearch(t *testing.T) {
	x, db := index(t,
		search.Doc{Group: "github", Name: "create_issue", Text: "Opens a ticket in a repository"},
		search.Doc{Group: "jira", Name: "searchTickets", Text: "Finds tickets by their text", Params: "query limit"},
		search.Doc{Group: "fs", Name: "read_file", Text: "Reads a file and shows the issue of it"},
		search.Doc{Group: "maps", Name: "route", Text: "地图服务"},
	)
	for query, want := range map[string][]int64{
		"create issue":              {0, 2}, // all words before some
		"issues":                    {0, 2}, // the stem, and the name before the text
		"ticket":                    {1, 0},
		"search tickets":            {1, 0},
		"searchTickets":             {1, 0},
		"limit":                     {1},
		"reading files":             {2},
		"地图":                        {3},
		"服务 地图":                     {3},
		"nothing":                   nil,
		`"`:                         nil,
		`issue OR NOT name : * ^ (`: {0, 2},
	} {
		if got := ids(t, x, db, query, nil, 10); !slices.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", query, got, want)
		}
	}
	if got := ids(t, x, db, "issue", func(id int64) bool { return id != 0 }, 1); !slices.Equal(got, []int64{2}) {
		t.Errorf("kept: got %v", got)
	}
	if got := ids(t, x, db, "ticket", nil, 1); !slices.Equal(got, []int64{1}) {
		t.Errorf("at most one: got %v", got)
	}
}

func TestPutReplaces(t *testing.T) {
	x, db := index(t, search.Doc{Name: "one"}, search.Doc{Name: "two"})
	require.NoError(t, x.Put(t.Context(), db, 0, search.Doc{Name: "three"}))
	require.NoError(t, x.Remove(t.Context(), db, 1))
	require.NoError(t, x.Remove(t.Context(), db, 7))
	for query, want := range map[string]int{"one": 0, "two": 0, "three": 1} {
		if got := ids(t, x, db, query, nil, 10); len(got) != want {
			t.Errorf("%s: got %v, want %d", query, got, want)
		}
	}
}

// FuzzSearch: no text of a query is read as syntax.
func FuzzSearch(f *testing.F) {
	for _, q := range []string{"a b", `"x" AND`, "NEAR(a b)", "^name:*", "'; DROP TABLE words; --", "地\x00图", "\xff"} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, query string) {
		x, db := index(t, search.Doc{Name: query, Text: "some text"})
		words := search.Words(query)
		hits, err := x.Search(t.Context(), db, words, nil, 5)
		if err != nil {
			t.Fatalf("%q: %v", query, err)
		}
		// SQLite knows fewer letters than Go.
		ascii := slices.ContainsFunc(words, func(w string) bool { return strings.Trim(w, "abcdefghijklmnopqrstuvwxyz0123456789") == "" })
		if ascii && len(hits) != 1 {
			t.Errorf("%q is not found by its own words %q", query, words)
		}
	})
}
