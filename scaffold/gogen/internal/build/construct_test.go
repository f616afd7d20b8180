package build_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/test/require"
)

var update = flag.Bool("update", false, "rewrite the models in testdata")

// TestConstructs builds each schema of testdata, one construct a file, and
// compares the model with the text below the schema. A schema is that of a
// member v of an object or, after "root", of all arguments. What could not be
// typed follows the model, each after "!".
func TestConstructs(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) < 9 {
		t.Fatalf("got %d files, %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			var out strings.Builder
			for i, line := range strings.Split(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n") {
				switch {
				case strings.HasPrefix(line, "# ") || line == "":
					out.WriteString(line + "\n")
				case strings.HasPrefix(line, "{") || strings.HasPrefix(line, "root ") || line == "true" || line == "false":
					schema, root := strings.CutPrefix(line, "root ")
					if !root {
						schema = `{"type":"object","properties":{"v":` + schema + `}}`
					}
					if !json.Valid([]byte(schema)) {
						t.Fatalf("line %d: no JSON", i+1)
					}
					out.WriteString(line + "\n" + built(t, schema))
				}
			}
			got := strings.TrimSuffix(out.String(), "\n")
			if *update {
				require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
				return
			}
			if diff := cmp.Diff(strings.ReplaceAll(string(data), "\r\n", "\n"), got); diff != "" {
				t.Errorf("(-want +got), -update to accept:\n%s", diff)
			}
		})
	}
}

// built returns the dump of a schema, indented, without an empty first line.
func built(t *testing.T, schema string) string {
	p := buildOne(t, json.RawMessage(schema))
	lines := strings.Split(strings.TrimSuffix(dump(p), "\n"), "\n")
	if lines[0] == ". struct" {
		lines = lines[1:]
	}
	for _, w := range p.Warnings {
		lines = append(lines, "! "+strings.TrimPrefix(w.Pointer, "/inputSchema")+" "+w.Reason)
	}
	lines = slices.DeleteFunc(lines, func(l string) bool { return l == "" })
	var b strings.Builder
	for _, l := range lines {
		b.WriteString("    " + l + "\n")
	}
	return b.String()
}
