package mirror_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/mirror"
	"github.com/mcpctl/mcpctl/internal/registrytest"
	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/test/require"
)

// corpus returns the documents that real publishers have written, if they are here: the
// test is an extra.
func corpus(t *testing.T) []json.RawMessage {
	t.Helper()
	if os.Getenv("MCPCTL_COPY") == "" {
		t.Skip("make registry-copy runs it")
	}
	dir := os.Getenv("MCPCTL_REGISTRY_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "registry-corpus")
	}
	b, err := os.ReadFile(filepath.Join(dir, "servers.jsonl"))
	if err != nil {
		t.Skip("no documents here")
	}
	return slices.Collect(func(yield func(json.RawMessage) bool) {
		for line := range bytes.Lines(b) {
			if !yield(bytes.TrimSpace(line)) {
				return
			}
		}
	})
}

type query struct {
	kind, words string
	names       []string // parts of names that answer it
}

func queries(t *testing.T) (all []query) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "queries.tsv"))
	require.NoError(t, err)
	kind := ""
	for s := bufio.NewScanner(bytes.NewReader(b)); s.Scan(); {
		if text, ok := strings.CutPrefix(s.Text(), "# "); ok {
			kind, _, _ = strings.Cut(text, ",")
			continue
		}
		if strings.HasPrefix(s.Text(), "#") {
			continue
		}
		words, names, ok := strings.Cut(s.Text(), "\t")
		if !ok {
			t.Fatalf("no names: %q", s.Text())
		}
		all = append(all, query{kind, words, strings.Fields(names)})
	}
	return all
}

// rank returns at which place an answer is, from 1 on; 0 for none.
func (q query) rank(found []string) int {
	return 1 + slices.IndexFunc(found, func(name string) bool {
		return slices.ContainsFunc(q.names, func(part string) bool { return strings.Contains(name, part) })
	})
}

// TestRecall finds what 100 queries are for among real documents: in a copy, and with the
// registry's own search, which docs/find-and-add.md compares.
func TestRecall(t *testing.T) {
	docs := corpus(t)
	h, err := registrytest.NewServer(docs, registrytest.Options{})
	require.NoError(t, err)
	f, m := newFake(t), open(t)
	f.page = 100
	f.answer(func(w http.ResponseWriter, r *http.Request, _ http.Handler) { h.ServeHTTP(w, r) })
	c := f.client(one)
	require.NoError(t, m.Sync(t.Context(), c, mirror.Options{}))
	all := queries(t)
	if len(all) != 100 {
		t.Fatalf("got %d queries, want 100", len(all))
	}
	searches := map[string]func(words string) []string{
		"the copy": func(words string) (found []string) {
			res, err := m.Search(context.WithoutCancel(t.Context()), mirror.Query{Words: words, Registries: []string{one}, Limit: 10})
			require.NoError(t, err)
			for _, hit := range res.Hits {
				found = append(found, hit.Record.Server.Name)
			}
			return found
		},
		"the registry's search for the longest word, filtered by all words": func(words string) []string {
			l, err := c.Search(t.Context(), words)
			return namesOf(l, err)
		},
		"the registry's own search for the whole query": func(words string) []string {
			l, err := c.List(t.Context(), registry.Query{Search: words, Version: "latest"})
			return namesOf(l, err)
		},
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "find-and-add.md"))
	require.NoError(t, err)
	for name, search := range searches {
		first, five, ten := 0, 0, 0
		for _, q := range all {
			found := search(q.words)
			rank := q.rank(found)
			if rank == 0 && name == "the copy" {
				t.Logf("%s: %q is not answered by %v", q.kind, q.words, found[:min(len(found), 5)])
			}
			for place, into := range map[int]*int{1: &first, 5: &five, 10: &ten} {
				if rank > 0 && rank <= place {
					*into++
				}
			}
		}
		if row := fmt.Sprintf("| %s | %d | %d | %d |", name, first, five, ten); !strings.Contains(string(page), row) {
			t.Errorf("docs/find-and-add.md lacks the row\n%s", row)
		}
	}
}

// namesOf returns the names of a list, none for an error: words may be too short.
func namesOf(l *registry.List, err error) (names []string) {
	if err != nil {
		return nil
	}
	for _, rec := range l.Records {
		names = append(names, rec.Server.Name)
	}
	return names
}
