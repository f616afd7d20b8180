package declare_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/declare"
	"github.com/mcpctl/mcpctl/test/require"
)

// corpus returns the tools of the repository: those that real servers list, those that the
// generator of Go is tested with, and those of the corpus for searches.
func corpus(tb testing.TB) *declare.Source {
	tb.Helper()
	s := &declare.Source{Of: "the corpus"}
	add := func(server, name string, definition []byte) {
		s.Tools = append(s.Tools, declare.Tool{Name: server + "__" + name, Definition: definition})
	}
	for _, pattern := range []string{"../../generated/*/mcpctl.lock.json", "../../scaffold/gogen/testdata/*/tools.json"} {
		files, err := filepath.Glob(pattern)
		require.NoError(tb, err)
		for _, file := range files {
			raw, err := os.ReadFile(file)
			require.NoError(tb, err)
			var list struct{ Tools []json.RawMessage }
			if json.Unmarshal(raw, &list) != nil {
				require.NoError(tb, json.Unmarshal(raw, &list.Tools))
			}
			for _, definition := range list.Tools {
				var t struct{ Name string }
				require.NoError(tb, json.Unmarshal(definition, &t))
				add(filepath.Base(filepath.Dir(file)), t.Name, definition)
			}
		}
	}
	raw, err := os.ReadFile("../../test/codegen/testdata/bakeoff.json")
	require.NoError(tb, err)
	var schemas []struct {
		Name   string
		Schema json.RawMessage
	}
	require.NoError(tb, json.Unmarshal(raw, &schemas))
	for _, t := range schemas {
		add("bakeoff", t.Name, []byte(`{"name":"x","inputSchema":`+string(t.Schema)+`,"outputSchema":`+string(t.Schema)+`}`))
	}
	if raw, err = os.ReadFile("../search/testdata/tools.txt"); err != nil {
		tb.Fatal(err)
	}
	server := ""
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimRight(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		if line[0] != ' ' {
			server = line
			continue
		}
		part := strings.SplitN(strings.TrimSpace(line), " | ", 3)
		properties := map[string]any{}
		if len(part) == 3 {
			for name := range strings.FieldsSeq(part[2]) {
				properties[name] = map[string]any{"type": "string"}
			}
		}
		definition, err := json.Marshal(map[string]any{"name": part[0], "description": part[1], "inputSchema": map[string]any{"type": "object", "properties": properties}})
		require.NoError(tb, err)
		add(server, part[0], definition)
	}
	if len(s.Tools) < 400 {
		tb.Fatalf("%d tools only", len(s.Tools))
	}
	return s
}
