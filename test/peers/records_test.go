//go:build integration

package peers_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/registrytest"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// Without it one record of npm is tried, whose package npx finds in test/npm.
var download = flag.Bool("download", false, "have npx and uvx download the packages: make packages")

// published is a server of the registry, and what is done with it.
type published struct {
	name, runner, document string
	add, call              []string
	want                   string // of the call's result
}

func publishedRecords(dir string) []published {
	return []published{
		{
			"org.example/files", "npx",
			`"packages":[{"registryType":"npm","identifier":"@modelcontextprotocol/server-filesystem","version":"2026.8.31","transport":{"type":"stdio"},
			  "packageArguments":[{"type":"positional","valueHint":"folder","isRequired":true}]}]`,
			[]string{"--arg", "folder=" + dir},
			[]string{"list_allowed_directories"},
			filepath.Base(dir),
		},
		{
			"org.example/memory", "npx",
			`"packages":[{"registryType":"npm","identifier":"@modelcontextprotocol/server-memory","version":"2026.8.31","transport":{"type":"stdio"},
			  "environmentVariables":[{"name":"MEMORY_FILE_PATH","isRequired":true}]}]`,
			[]string{"--env", "MEMORY_FILE_PATH=" + filepath.Join(dir, "memory.json")},
			[]string{"create_entities", `entities:=[{"name":"oak","entityType":"tree","observations":["tall"]}]`},
			`"name":"oak"`,
		},
		{
			"org.example/everything", "npx",
			`"packages":[{"registryType":"npm","identifier":"@modelcontextprotocol/server-everything","version":"2026.8.31","transport":{"type":"stdio"},
			  "packageArguments":[{"type":"positional","value":"stdio"}]}]`,
			nil,
			[]string{"echo", "message=a b $HOME"},
			"a b $HOME",
		},
		{
			"org.example/clock", "uvx",
			`"packages":[{"registryType":"pypi","identifier":"mcp-server-time","version":"2026.10.19","transport":{"type":"stdio"},
			  "packageArguments":[{"type":"named","name":"--local-timezone","isRequired":true}]}]`,
			[]string{"--arg", "--local-timezone=Europe/Berlin"},
			[]string{"convert_time", "source_timezone=UTC", "time=12:00", "target_timezone=Asia/Tokyo"},
			"+9.0h",
		},
		{
			"org.example/calculator", "uvx",
			`"packages":[{"registryType":"pypi","identifier":"mcp-server-calculator","version":"0.2.1","transport":{"type":"stdio"}}]`,
			nil,
			[]string{"calculate", "expression=6*7"},
			"42",
		},
	}
}

// TestRecords adds records of npm and PyPI by their name in a registry, and calls a tool of
// each server, which the real npx or uvx starts.
func TestRecords(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	all := publishedRecords(dir)
	documents := make([]json.RawMessage, len(all))
	for i, r := range all {
		documents[i] = json.RawMessage(`{"$schema":"https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json","name":"` + r.name + `","description":"d","version":"1.0.0",` + r.document + `}`)
	}
	handler, err := registrytest.NewServer(documents, registrytest.Options{})
	require.NoError(t, err)
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	if !*download {
		all = all[:1]
	}
	for _, r := range all {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(r.runner); err != nil {
				t.Fatalf("%s is not installed, so %s is not tried (pip install uv has uvx)", r.runner, r.name)
			}
			m := adder{t, t.TempDir(), server.URL}
			_, alias, _ := strings.Cut(r.name, "/")
			m.mcpctl(append([]string{"add", r.name, "--yes"}, r.add...)...)
			if got := m.mcpctl(append([]string{"call", alias}, r.call...)...); !strings.Contains(got, r.want) {
				t.Errorf("got %s, want %q", got, r.want)
			}
		})
	}
}

// adder is a home of mcpctl.
type adder struct {
	t              *testing.T
	home, registry string
}

// mcpctl runs mcpctl, for as long as a download may take, and returns its output.
func (m adder) mcpctl(words ...string) string {
	m.t.Helper()
	ctx := wait.Context(m.t)
	cmd := exec.CommandContext(ctx, binary, append([]string{"--no-input", "--json", "--connect-timeout", "3m"}, words...)...)
	// HOME stays: npm and uv have their settings and their caches there.
	cmd.Env = append(os.Environ(), "MCPCTL_HOME="+m.home, "MCPCTL_REGISTRY="+m.registry)
	cmd.WaitDelay = 5 * time.Second
	if cmd.Dir = m.home; !*download {
		folder, err := filepath.Abs("../npm")
		require.NoError(m.t, err)
		cmd.Dir = folder
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		m.t.Fatalf("mcpctl %s: %v\n%s%s", strings.Join(words, " "), err, out, stderr.Bytes())
	}
	return string(out)
}
