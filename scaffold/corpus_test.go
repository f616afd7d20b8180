package scaffold_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/scaffold"
	"github.com/mcpctl/mcpctl/test/require"
)

// corpusLines reads one file of a collection of published documents. Tests
// that use it are extras and skipped where there is none.
func corpusLines(t *testing.T, name string) []json.RawMessage {
	t.Helper()
	dir := os.Getenv("MCPCTL_REGISTRY_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "registry-corpus")
	}
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Skip("no published documents here")
	}
	var out []json.RawMessage
	for line := range bytes.SplitSeq(bytes.TrimSpace(b), []byte("\n")) {
		out = append(out, line)
	}
	return out
}

// planKind returns the name under which the documents are counted.
func planKind(p *scaffold.Plan) string {
	if p.Start != nil {
		return "HTTP package"
	}
	return p.Type
}

func TestPublishedDocuments(t *testing.T) {
	counts := map[string]int{}
	noInput := 0
	for _, line := range corpusLines(t, "servers.jsonl") {
		s, err := registry.ParseServer(line)
		require.NoError(t, err)
		if len(s.Faults) > 0 {
			t.Errorf("%s %s: faults %q", s.Name, s.Version, s.Faults)
		}
		p, err := scaffold.New(*s, scaffold.Options{Registry: "https://registry.example.com", OfficialRegistry: false})
		if _, ok := errors.AsType[*scaffold.RefusedError](err); ok {
			counts["refused"]++
			if len(s.Remotes) > 0 || !strings.Contains(err.Error(), "mcpb") && !strings.Contains(err.Error(), "nothing to run") && !strings.Contains(err.Error(), "api") {
				t.Log(err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s %s: %v", s.Name, s.Version, err)
			continue
		}
		counts[planKind(p)]++
		if len(p.Required) == 0 && len(p.StartRequired) == 0 {
			noInput++
		}
		checkPlan(t, s, p)
		checkCommandLine(t, s, p)
	}
	want := map[string]int{"npm": 333, "oci": 84, "pypi": 46, "remote": 55, "HTTP package": 26, "cargo": 5, "nuget": 5, "refused": 45}
	if diff := cmp.Diff(want, counts); diff != "" {
		t.Error(diff)
	}
	if noInput != 343 {
		t.Errorf("%d documents need no input at all, want 343", noInput)
	}
}

func TestDocumentsThatRegistriesRefuse(t *testing.T) {
	counts := map[string]int{}
	for _, line := range corpusLines(t, "refused.jsonl") {
		var item struct{ Server json.RawMessage }
		require.NoError(t, json.Unmarshal(line, &item))
		s, err := registry.ParseServer(item.Server)
		if err != nil {
			counts["unreadable"]++
			continue
		}
		p, err := scaffold.New(*s, scaffold.Options{})
		if err != nil {
			counts["refused"]++
			t.Log(err)
			continue
		}
		counts[planKind(p)]++
		checkPlan(t, s, p)
	}
	t.Log(counts)
}

// leftover is a template variable that was not replaced.
var leftover = regexp.MustCompile(`(^|[^$])\{[A-Za-z0-9_.-]+\}`)

// checkPlan checks what is true of every entry.
func checkPlan(t *testing.T, s *registry.Server, p *scaffold.Plan) {
	t.Helper()
	f, err := config.Parse("servers.json", []byte("{}"))
	require.NoError(t, err)
	if config.Reserved(p.Alias) {
		p.Alias += "-server"
	}
	if err := f.Set(p.Alias, p.Entry, false); err != nil {
		t.Errorf("%s %s: %v\n%s", s.Name, s.Version, err, p.Entry)
		return
	}
	faults := f.Faults()
	if !strings.Contains(strings.Join(p.Warnings, "\n"), "--force") {
		faults = slices.Concat(faults, f.Warnings())
	}
	if len(faults) > 0 {
		t.Errorf("%s %s: %v\n%s", s.Name, s.Version, faults, p.Entry)
	}
	e, ok := f.Entry(p.Alias)
	if !ok {
		t.Fatalf("%s is not in the file", p.Alias)
	}
	if !bytes.Equal(e.Raw, p.Entry) {
		t.Errorf("%s %s: the entry read back differs:\n%s\n%s", s.Name, s.Version, p.Entry, e.Raw)
	}
	// Only the placeholders of the report expand.
	fields := slices.Concat([]string{e.Command, e.URL}, e.Args, slices.Collect(maps.Values(e.Env)), slices.Collect(maps.Values(e.Headers)))
	var want, got []string
	for _, r := range p.Required {
		want = append(want, r.Name)
	}
	for _, text := range fields {
		names, _ := config.Variables(text)
		got = append(got, names...)
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, slices.Compact(got)); diff != "" {
		t.Errorf("%s %s: placeholders of the report and the entry: %s", s.Name, s.Version, diff)
	}
	// Every key of env has exactly one -e, and the operand stands once.
	if p.Type == "oci" && p.Start == nil {
		for name := range e.Env {
			n := 0
			for i, a := range e.Args {
				if i > 0 && e.Args[i-1] == "-e" && (a == name || strings.HasPrefix(a, name+"=")) {
					n++
				}
			}
			if n != 1 {
				t.Errorf("%s %s: %d times -e %s in %q", s.Name, s.Version, n, name, e.Args)
			}
		}
	}
	for _, text := range fields {
		if leftover.MatchString(text) && len(p.Warnings) == 0 {
			t.Errorf("%s %s: %q has an unexpanded variable and no warning", s.Name, s.Version, text)
		}
	}
}
