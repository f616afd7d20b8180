package context_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/require"
)

// tool is one tool of a corpus.
type tool struct {
	server, name string
	definition   json.RawMessage
}

func (t tool) key() string { return t.server + ":" + t.name }

// alias is what the server is called in servers.json, which takes no spaces.
func (t tool) alias() string { return strings.ReplaceAll(t.server, " ", "-") }

// query is what a person wants, and the tools that would do, as server:name.
type query struct {
	Query  string   `json:"query"`
	Accept []string `json:"accept"`
}

// corpus is tools of many servers, and queries for them.
type corpus struct {
	tools   []tool // those of a server together
	queries []query
}

// servers returns the aliases of the servers, in order.
func (c *corpus) servers() (names []string) {
	for _, t := range c.tools {
		if len(names) == 0 || names[len(names)-1] != t.alias() {
			names = append(names, t.alias())
		}
	}
	return names
}

func lines(t *testing.T, path string) (out []string) {
	t.Helper()
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimRight(line, "\n"); strings.TrimSpace(line) != "" && line[0] != '#' {
			out = append(out, line)
		}
	}
	return out
}

// ours returns the corpus of this repository. Its tools have names of arguments only: all of
// them are strings, and none is required.
func ours(t *testing.T) *corpus {
	t.Helper()
	const dir = "../../internal/search/testdata/"
	c := &corpus{}
	server := ""
	for _, line := range lines(t, dir+"tools.txt") {
		if line[0] != ' ' {
			server = line
			continue
		}
		part := append(strings.SplitN(strings.TrimSpace(line), " | ", 3), "")
		properties := map[string]any{}
		for name := range strings.FieldsSeq(part[2]) {
			properties[name] = map[string]string{"type": "string"}
		}
		c.tools = append(c.tools, tool{server, part[0], marshal(t, map[string]any{
			"name": part[0], "description": strings.TrimSuffix(part[1], " |"), "inputSchema": map[string]any{"type": "object", "properties": properties},
		})})
	}
	for _, line := range lines(t, dir+"queries.txt") {
		part := strings.Split(line, " | ")
		c.queries = append(c.queries, query{part[1], strings.Fields(part[2])})
	}
	return c
}

// published returns the tools of a source in a folder, of all for "", and the queries that
// they can answer.
func published(t *testing.T, dir, source string) *corpus {
	t.Helper()
	c := &corpus{}
	for _, line := range lines(t, filepath.Join(dir, "tools.jsonl")) {
		var in struct {
			Server      string          `json:"server,omitempty"`
			Source      string          `json:"source,omitempty"`
			Name        string          `json:"name"`
			Title       string          `json:"title,omitempty"`
			Description string          `json:"description"`
			InputSchema json.RawMessage `json:"inputSchema"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &in))
		if source == "" || in.Source == source {
			server := in.Server
			in.Server, in.Source = "", ""
			c.tools = append(c.tools, tool{server, in.Name, marshal(t, in)})
		}
	}
	for _, line := range lines(t, filepath.Join(dir, "queries.jsonl")) {
		var q query
		require.NoError(t, json.Unmarshal([]byte(line), &q))
		if slices.ContainsFunc(q.Accept, func(a string) bool { return slices.ContainsFunc(c.tools, func(t tool) bool { return t.key() == a }) }) {
			c.queries = append(c.queries, q)
		}
	}
	return c
}

func marshal(t *testing.T, v any) json.RawMessage {
	t.Helper()
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	require.NoError(t, e.Encode(v))
	return bytes.TrimSpace(out.Bytes())
}
