package find_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/find"
	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/test/require"
)

// engine returns one as it is without settings.
func engine(t *testing.T) *find.Engine {
	t.Helper()
	e, err := find.New(find.Options{})
	require.NoError(t, err)
	t.Cleanup(e.Close)
	return e
}

// TestVocabulary: the words of a file count.
func TestVocabulary(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "words.txt")
	require.NoError(t, os.WriteFile(path, []byte("zorble file\n"), 0o600))
	e, err := find.New(find.Options{Settings: settings.Search{Vocabulary: path}})
	require.NoError(t, err)
	lists := []find.List{{Server: "s", Items: items()}}
	if got := e.Rank(t.Context(), lists, []string{"zorble"}, 1); len(got) != 1 || got[0].Name != "write" && got[0].Name != "read_file" {
		t.Errorf("got %v", got)
	}
	if got := engine(t).Rank(t.Context(), lists, []string{"zorble"}, 1); len(got) != 0 {
		t.Errorf("without the file: got %v", got)
	}
	if _, err := find.New(find.Options{Settings: settings.Search{Vocabulary: path + "x"}}); err == nil {
		t.Error("a file that is not there is no error")
	}
}

// TestEmbeddings: an endpoint finds what has no word in common with the query. What it has
// read is kept for the next time, and without a variable of its headers it is not asked.
func TestEmbeddings(t *testing.T) {
	t.Parallel()
	var texts atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Input []string }
		if r.Header.Get("X-Key") != "canary" || json.NewDecoder(r.Body).Decode(&in) != nil {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		texts.Add(int64(len(in.Input)))
		var data []string
		for i, text := range in.Input {
			v := "[0,1]"
			if strings.Contains(text, "write") || text == "zorble" {
				v = "[1,0]"
			}
			data = append(data, fmt.Sprintf(`{"index":%d,"embedding":%s}`, i, v))
		}
		_, _ = io.WriteString(w, `{"data":[`+strings.Join(data, ",")+`]}`)
	}))
	defer server.Close()
	o := find.Options{
		Settings: settings.Search{Embeddings: &settings.Embeddings{URL: server.URL, Model: "toy", Headers: map[string]string{"X-Key": "${KEY}"}, Timeout: 10 * time.Second}},
		StateDir: t.TempDir(), Getenv: func(name string) string { return map[string]string{"KEY": "canary"}[name] }, Log: slog.New(slog.DiscardHandler),
	}
	for _, want := range []int64{4, 5} { // three tools and a query, and a query
		e, err := find.New(o)
		require.NoError(t, err)
		if got := e.Rank(t.Context(), []find.List{{Server: "s", Items: items()}}, []string{"zorble"}, 1); len(got) != 1 || got[0].Name != "write" {
			t.Errorf("got %v, %+v", got, e.Meaning.Status())
		}
		e.Close()
		if texts.Load() != want {
			t.Errorf("%d texts were sent, want %d", texts.Load(), want)
		}
	}
	o.Getenv = func(string) string { return "" }
	if _, err := find.New(o); err == nil || err.Error() != "serve.search.embeddings.headers: the variable KEY of X-Key is not set" {
		t.Errorf("got %v", err)
	}
}
