package settings_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestSearchRefused: testdata/search.txt has what is said of each section.
func TestSearchRefused(t *testing.T) {
	var got strings.Builder
	for _, section := range []string{
		"on", "{vocabluary: a}", "{vocabulary: }", "{vocabulary: [a, b]}", "{native: a}", "{native: [{}]}", "{embeddings: true}", "{embeddings: {}}", "{embeddings: {url: 'https://m.example'}}", "{embeddings: {model: m}}",
		"{embeddings: {url: m.example, model: m}}", "{embeddings: {url: 'http://m.example', model: m}}", "{embeddings: {url: 'https://u:hunter2@m.example', model: m}}",
		"{embeddings: {url: 'https://m.example?key=hunter2', model: m}}", "{embeddings: {url: 'https://m.example', model: m, headers: {Authorization: Bearer hunter2}}}",
		"{embeddings: {url: 'https://m.example', model: m, headers: {'A B': '${C}'}}}", "{embeddings: {url: 'https://m.example', model: m, timeout: soon}}",
		"{embeddings: {url: 'https://m.example', model: m, timeout: 1m}}", "{embeddings: {url: 'https://m.example', model: m, timeout: 0s}}", "{embeddings: {url: 'https://m.example', model: m, batch: 0}}",
		"{embeddings: {url: 'https://m.example', model: m, dimensions: -1}}", "{embeddings: {url: 'https://m.example', model: m, dimension: 3}}",
	} {
		said := shown(t, "serve:\n  search: "+section+"\n")
		if strings.Contains(said, "hunter2") {
			t.Errorf("a secret is said: %s", said)
		}
		fmt.Fprintf(&got, "%s\n%s\n", strings.ReplaceAll(section, "hunter2", "…"), said)
	}
	const golden = "testdata/search.txt"
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(got.String()), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("%s is not current (-update): %s", golden, diff)
	}
}

// TestSearch: what is read of a section, and what counts without its settings.
func TestSearch(t *testing.T) {
	for text, want := range map[string]settings.Search{
		"timeout: 3s\n":                              {},
		"serve: {search: {}}\n":                      {},
		"serve: {search: {vocabulary: words.txt}}\n": {Vocabulary: "DIR/words.txt"},
		"serve: {search: {native: [a, b]}}\n":        {Native: []string{"a", "b"}},
		"serve: {search: {native: []}}\n":            {Native: []string{}},
		"serve:\n  search:\n    embeddings: {url: 'http://[::1]:11434/v1/embeddings', model: m}\n": {
			Embeddings: &settings.Embeddings{URL: "http://[::1]:11434/v1/embeddings", Model: "m", Timeout: 300 * time.Millisecond, Batch: 64},
		},
		"serve: {search: {embeddings: {url: 'https://m.example/v1/embeddings', model: m, headers: {Authorization: 'Bearer ${KEY}'}, dimensions: 256, timeout: 1s, batch: 8}}}\n": {
			Embeddings: &settings.Embeddings{URL: "https://m.example/v1/embeddings", Model: "m", Headers: map[string]string{"Authorization": "Bearer ${KEY}"}, Dimensions: 256, Timeout: time.Second, Batch: 8},
		},
	} {
		s, err := run{file: text}.load(t)
		require.NoError(t, err)
		got := s.Serve.Search
		if got.Vocabulary != "" { // a relative path is relative to config.yaml
			got.Vocabulary = inFolder(t, got.Vocabulary)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

// TestWords: a file's words count beside those that are built in, and what is wrong with it
// has a place.
func TestWords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "words.txt")
	if _, err := (settings.Search{Vocabulary: path}).Words(); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("no file: got %v", err)
	}
	require.NoError(t, os.WriteFile(path, []byte("# ours\nrunbook playbook\nalone\n"), 0o600))
	if words, err := (settings.Search{Vocabulary: path}).Words(); err == nil || !strings.Contains(err.Error(), "line 3: one word is no group") || words == nil {
		t.Errorf("got %v, %v", words, err)
	}
	require.NoError(t, os.WriteFile(path, []byte("runbook playbook\n"), 0o600))
	_, err := (settings.Search{Vocabulary: path}).Words()
	require.NoError(t, err)
}
