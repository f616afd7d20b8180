package registrytest_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/internal/registrytest"
	"github.com/mcpctl/mcpctl/test/require"
)

// corpus is where recorded answers of the public registry's server may lie. The
// tests that compare with them are extras and skipped where there are none.
func corpus(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("MCPCTL_REGISTRY_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "registry-corpus")
	}
	if _, err := os.Stat(filepath.Join(dir, "servers.jsonl")); err != nil {
		t.Skip("no recorded answers here")
	}
	return dir
}

func readLines(t *testing.T, file string) []json.RawMessage {
	t.Helper()
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	var out []json.RawMessage
	s := bufio.NewScanner(bytes.NewReader(b))
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		out = append(out, bytes.Clone(s.Bytes()))
	}
	return out
}

// statuses were set on the recorded server before the recording.
func statuses() map[string][2]string {
	return map[string][2]string{
		"com.example/acme-analytics@2.0.0":              {"deprecated", "Moved to com.example/multi-region-mcp"},
		"io.github.mongodb-js/mongodb-mcp-server@1.1.0": {"deprecated", "Please upgrade to version 2.0.0"},
		"io.github.username/database-query-mcp@1.0.0":   {"deleted", "Removed by its publisher"},
	}
}

func TestAgainstRecordedAnswers(t *testing.T) {
	dir := corpus(t)
	var records []json.RawMessage
	for _, line := range readLines(t, filepath.Join(dir, "servers.jsonl")) {
		var doc struct{ Name, Version string }
		require.NoError(t, json.Unmarshal(line, &doc))
		if st, ok := statuses()[doc.Name+"@"+doc.Version]; ok {
			msg, _ := json.Marshal(st[1])
			line = json.RawMessage(`{"server":` + string(line) + `,"_meta":{"io.modelcontextprotocol.registry/official":{"status":"` + st[0] + `","statusMessage":` + string(msg) + `}}}`)
		}
		records = append(records, line)
	}
	h, err := registrytest.NewServer(records, registrytest.Options{})
	require.NoError(t, err)
	compared := 0
	for _, line := range readLines(t, filepath.Join(dir, "responses", "index.tsv"))[1:] {
		f := strings.Split(string(line), "\t")
		t.Run(f[0], func(t *testing.T) {
			want, err := os.ReadFile(filepath.Join(dir, "responses", f[0]))
			require.NoError(t, err)
			w := get(h, strings.TrimPrefix(f[1], "GET "))
			if strconv.Itoa(w.Code) != f[2] || w.Header().Get("Content-Type") != f[3] {
				t.Errorf("got %d %s, want %s %s", w.Code, w.Header().Get("Content-Type"), f[2], f[3])
			}
			compared++
			if !strings.HasSuffix(f[0], ".json") || f[0] == "version.json" {
				return
			}
			if diff := cmp.Diff(normal(t, want), normal(t, w.Body.Bytes())); diff != "" {
				t.Errorf("answer differs (-recorded +got):\n%.3000s", diff)
			}
		})
	}
	if compared != 32 {
		t.Errorf("compared %d answers, want 32", compared)
	}
}

// normal decodes an answer and takes out the times, which are those of the
// recording.
func normal(t *testing.T, b []byte) any {
	t.Helper()
	var v any
	require.NoError(t, json.Unmarshal(b, &v))
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, k := range []string{"publishedAt", "updatedAt", "statusChangedAt"} {
				delete(v, k)
			}
			for _, m := range v {
				walk(m)
			}
		case []any:
			for _, m := range v {
				walk(m)
			}
		}
	}
	walk(v)
	return v
}
