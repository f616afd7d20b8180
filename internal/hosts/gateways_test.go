package hosts_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/internal/hosts"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/test/require"
)

// gatewaySamples returns the files of gateways that the tests have.
func gatewaySamples(t testing.TB) []string {
	t.Helper()
	all, err := filepath.Glob("testdata/gateways/*.*")
	require.NoError(t, err)
	var out []string
	for _, path := range all {
		if !strings.Contains(path, ".golden.") && filepath.Base(path) != "presets.json" {
			out = append(out, path)
		}
	}
	return out
}

// TestGateways: a file of each gateway is known by its form, and becomes these servers and views.
func TestGateways(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, path := range gatewaySamples(t) {
		name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		f, err := hosts.Open(path, place())
		require.NoError(t, err)
		host := f.Location.Host.Name
		known[host] = true
		if name != host && !strings.HasPrefix(name, host+"-") {
			t.Errorf("%s is taken for a file of %s", path, host)
		}
		type result struct {
			Entry json.RawMessage `json:"entry,omitempty"`
			Notes []string        `json:"notes,omitempty"`
			Lost  []string        `json:"lost,omitempty"`
			Skip  string          `json:"skip,omitempty"`
		}
		var got bytes.Buffer
		enc := json.NewEncoder(&got)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		for _, server := range f.Names() {
			in := f.Import(server, "")
			var lost []string
			for _, l := range in.Lost {
				lost = append(lost, l.Setting)
			}
			require.NoError(t, enc.Encode(map[string]result{server: {in.Entry, in.Notes, lost, in.Skip}}))
			if in.Skip == "" {
				parsed, err := config.Parse("", fmt.Appendf(nil, `{"mcpServers":{"x":%s}}`, in.Entry))
				require.NoError(t, err)
				if faults := parsed.Faults(); len(faults) > 0 {
					t.Errorf("%s: %s is no sound entry: %v", path, server, faults[0].Message)
				}
			}
		}
		require.NoError(t, enc.Encode(map[string]any{"views": f.Views(), "left": f.Left()}))
		golden := strings.TrimSuffix(path, filepath.Ext(path)) + ".golden.json"
		if *update {
			require.NoError(t, os.WriteFile(golden, got.Bytes(), 0o600))
		}
		want, err := os.ReadFile(golden)
		require.NoError(t, err)
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	for _, h := range hosts.Gateways() {
		if !known[h.Name] {
			t.Errorf("%s has no sample", h.Name)
		}
		if !h.ReadOnly() {
			t.Errorf("%s can be written", h.Name)
		}
	}
}

// TestGatewaysReadOnly: the file of a gateway is not edited, and one without a text has no servers.
func TestGatewaysReadOnly(t *testing.T) {
	t.Parallel()
	for _, h := range hosts.Gateways() {
		for _, text := range []string{"", " \n", "{}"} {
			f, err := hosts.OpenText("standard input", []byte(text), h, place())
			require.NoError(t, err)
			if n := len(f.Names()); n > 0 {
				t.Errorf("%s: %q has %d servers", h.Name, text, n)
			}
			if _, err := f.Set("x", json.RawMessage(`{"command":"x"}`)); err == nil {
				t.Errorf("%s: the file was edited", h.Name)
			}
			if _, err := f.Remove("x"); err == nil {
				t.Errorf("%s: the file was edited", h.Name)
			}
		}
	}
}

// FuzzGateways: no text of a gateway's file makes its reader fail otherwise than with an error.
func FuzzGateways(f *testing.F) {
	for _, path := range gatewaySamples(f) {
		raw, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(raw)
	}
	f.Add([]byte("a: &a [x]\nmcp_servers: {b: *a}"))
	f.Add([]byte(`{"mcpServers": [null, 1, "x", {}], "profiles": {}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, h := range hosts.Gateways() {
			file, err := hosts.OpenText("standard input", text, h, place())
			if err != nil {
				if _, ok := errors.AsType[*hosts.FileError](err); !ok {
					t.Fatalf("%v is no error of a file", err)
				}
				continue
			}
			for _, name := range file.Names() {
				if in := file.Import(name, ""); in.Skip == "" && !json.Valid(in.Entry) {
					t.Fatalf("%s: %s is no JSON", name, in.Entry)
				}
			}
			file.Views()
		}
	})
}
