package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/registrytest"
	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/test/require"
)

// publishedServers returns the newest version of each server of the samples and, where
// there is one, of a collection of published documents, refused ones included.
func publishedServers(t *testing.T) map[string]registry.Server {
	t.Helper()
	raws, err := registrytest.Records()
	require.NoError(t, err)
	dir := os.Getenv("MCPCTL_REGISTRY_CORPUS") // about a minute, so it is not looked for
	for _, name := range []string{"servers.jsonl", "refused.jsonl"} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
			for line := range bytes.SplitSeq(bytes.TrimSpace(b), []byte("\n")) {
				raws = append(raws, line)
			}
		}
	}
	out := map[string]registry.Server{}
	for _, raw := range raws {
		s, err := registry.ParseServer(raw)
		if err != nil || registry.CompareVersions(out[s.Name].Version, s.Version) > 0 {
			continue
		}
		out[s.Name] = *s
	}
	return out
}

// TestPublished takes every server through add, lint and an update to an artificial newer
// version: nothing crashes, every output is JSON, and the file stays sound.
func TestPublished(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // no npm that asks its registry
	servers := publishedServers(t)
	var docs []json.RawMessage
	for _, s := range servers {
		var doc map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(s.Raw, &doc))
		docs = append(docs, s.Raw)
		doc["version"] = json.RawMessage(`"999999.0.0"`)
		later, err := json.Marshal(doc)
		require.NoError(t, err)
		docs = append(docs, later)
	}
	h, err := registrytest.NewServer(docs, registrytest.Options{})
	require.NoError(t, err)
	srv := httptest.NewServer(h)
	defer srv.Close()
	dir := t.TempDir()
	sh := &shop{url: srv.URL, file: filepath.Join(dir, "servers.json"), env: map[string]string{"MCPCTL_HOME": dir}}
	added := 0
	var entries []string
	for name, s := range servers {
		draft := filepath.Join(dir, "server.json")
		require.NoError(t, os.WriteFile(draft, s.Raw, 0o600))
		if got := sh.run(t, "lint", draft); got.code > exitOther || !json.Valid([]byte(got.out)) {
			t.Errorf("lint %s: %+v", name, got)
		}
		got := sh.run(t, "add", name+"@"+s.Version, "--dry-run", "--as", fmt.Sprint("s", added))
		if got.code != exitOK {
			if got.code != exitOther || !strings.Contains(got.errOut, "refused") {
				t.Errorf("add %s: %+v", name, got)
			}
			continue
		}
		var plan struct{ Entry json.RawMessage }
		require.NoError(t, json.Unmarshal([]byte(got.out), &plan))
		entries = append(entries, fmt.Sprintf(`"s%d": %s`, added, plan.Entry))
		added++
	}
	// Added in one go: add would ask each remote server whether it wants a login.
	require.NoError(t, os.WriteFile(sh.file, []byte(`{"mcpServers": {`+strings.Join(entries, ",\n")+`}}`), 0o600))
	got := sh.run(t, "update", "--yes", "--no-start")
	var answer struct {
		Servers []struct {
			Name, State, Reason, To string
			Conflicts               []any
		}
	}
	require.NoError(t, json.Unmarshal([]byte(got.out), &answer))
	if got.code != exitOK || len(answer.Servers) != added {
		t.Errorf("update: exit code %d, %d of %d servers\n%s", got.code, len(answer.Servers), added, got.errOut)
	}
	for _, s := range answer.Servers {
		if s.State != "updated" || len(s.Conflicts) > 0 {
			t.Errorf("%+v", s)
		}
	}
	f, err := config.Load(sh.file)
	require.NoError(t, err)
	if len(f.Faults()) > 0 {
		t.Error(f.Faults())
	}
	for _, e := range f.Entries() {
		if e.Origin == nil || e.Origin.Version != "999999.0.0" {
			t.Errorf("%s is of %+v", e.Name, e.Origin)
		}
	}
	t.Logf("%d of %d servers", added, len(servers))
}
