package adding_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/cmd/internal/adding"
	"github.com/mcpctl/mcpctl/cmd/internal/find"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/registrytest"
	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
	"github.com/mcpctl/mcpctl/test/require"
)

// record returns a version of a server with one npm package, some variables and a status.
func record(name, version, variables, status string) json.RawMessage {
	return json.RawMessage(`{"server":{"name":"io.example/` + name + `","version":"` + version + `","description":"x","packages":[{"registryType":"npm","identifier":"` + name +
		`","version":"` + version + `","transport":{"type":"stdio"},"environmentVariables":[` + variables + `]}]},"_meta":{"io.modelcontextprotocol.registry/official":{` + status + `}}}`)
}

// updater is an updater of a servers.json, with what it prints.
type updater struct {
	*adding.Updater
	path       string
	out, notes bytes.Buffer
	asker      *ui.Scripted
}

// newUpdater returns one with a registry of records, and a person who gives some answers; nil
// is nobody. In servers, REG is the registry.
func newUpdater(t *testing.T, records []json.RawMessage, servers string, answers ...any) *updater {
	t.Helper()
	h, err := registrytest.NewServer(records, registrytest.Options{})
	require.NoError(t, err)
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	dir := t.TempDir()
	d := &updater{path: filepath.Join(dir, "servers.json"), asker: &ui.Scripted{Answers: answers}}
	require.NoError(t, os.WriteFile(d.path, []byte(strings.ReplaceAll(servers, "REG", srv.URL)), 0o600))
	u := ui.New(strings.NewReader(""), &d.out, &d.notes)
	u.Text = true
	asker := ui.Asker(d.asker)
	if answers == nil {
		asker = &ui.NonInteractive{}
	}
	d.Updater = &adding.Updater{
		Host: &adding.Host{
			UI: u, Asker: func() ui.Asker { return asker }, Getenv: func(string) string { return "" }, ConfigPath: d.path,
			Load: func() (*config.File, error) { return config.Load(d.path) },
			Dial: func(config.Entry) dial.Options { return dial.Options{} },
		},
		Registry: func(url string) (*registry.Client, error) {
			return registry.New(registry.Options{BaseURL: url, Retries: -1})
		},
		Known: find.NewKnown("", d.path, slog.New(slog.DiscardHandler)),
	}
	return d
}

func (d *updater) servers(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile(d.path)
	require.NoError(t, err)
	return string(raw)
}

const (
	a1 = `"a": {"command": "npx", "args": ["-y", "a@1.0.0"], "origin": {"registry": "REG", "name": "io.example/a", "version": "1.0.0"}}`
	b1 = `"b": {"command": "npx", "args": ["-y", "b@1.0.0"], "origin": {"registry": "REG", "name": "io.example/b", "version": "1.0.0"}}`
)

func versions(t *testing.T, d *updater) string {
	t.Helper()
	f, err := config.Load(d.path)
	require.NoError(t, err)
	var out []string
	for _, e := range f.Entries() {
		out = append(out, e.Name+" "+e.Origin.Version+" "+strings.Join(e.Args, " "))
	}
	return strings.Join(out, "; ")
}

// TestConsent: each server is asked about, before its new version is started and before
// anything is written.
func TestConsent(t *testing.T) {
	t.Parallel()
	records := []json.RawMessage{record("a", "1.0.0", "", ""), record("a", "2.0.0", "", ""), record("b", "1.0.0", "", ""), record("b", "2.0.0", "", "")}
	text := "{\n  // mine\n  \"mcpServers\": {" + a1 + ", " + b1 + "}\n}\n"
	d := newUpdater(t, records, text, false, false, false, true)
	require.NoError(t, d.Run(t.Context(), nil))
	if got := versions(t, d); got != "a 1.0.0 -y a@1.0.0; b 2.0.0 -y b@2.0.0" {
		t.Errorf("got %s", got)
	}
	want := []string{"Start a 2.0.0 to compare its tools", "Update a to 2.0.0", "Start b 2.0.0 to compare its tools", "Update b to 2.0.0"}
	if strings.Join(d.asker.Asked, "|") != strings.Join(want, "|") || !strings.Contains(d.out.String(), "a: not updated\nupdated b: 1.0.0 -> 2.0.0\n") {
		t.Errorf("asked %q\n%s", d.asker.Asked, d.out.String())
	}
	if !strings.Contains(d.notes.String(), `+   "args": ["-y", "b@2.0.0"],`) || !strings.Contains(d.servers(t), "// mine") {
		t.Errorf("notes:\n%s\nservers:\n%s", d.notes.String(), d.servers(t))
	}
	// An aborted question ends the run; what was agreed to before stays.
	d = newUpdater(t, records, text, false, true, context.Canceled)
	if err := d.Run(t.Context(), nil); !errors.Is(err, context.Canceled) || versions(t, d) != "a 2.0.0 -y a@2.0.0; b 1.0.0 -y b@1.0.0" {
		t.Errorf("got %v, %s", err, versions(t, d))
	}
	// Nobody to ask: nothing is written.
	d = newUpdater(t, records, text)
	if err := d.Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "a, b") || versions(t, d) != "a 1.0.0 -y a@1.0.0; b 1.0.0 -y b@1.0.0" {
		t.Errorf("got %v, %s", err, versions(t, d))
	}
}

// TestCannotStart: a new version that does not start is said, and the entry still written.
func TestCannotStart(t *testing.T) {
	t.Parallel()
	entry := strings.Replace(a1, `"npx"`, `"/no/such/npx"`, 1)
	d := newUpdater(t, []json.RawMessage{record("a", "1.0.0", "", ""), record("a", "2.0.0", "", "")}, `{"mcpServers": {`+entry+`}}`, true, true)
	require.NoError(t, d.Run(t.Context(), []string{"a"}))
	if !strings.Contains(d.notes.String(), "tools: not compared: ") || !strings.Contains(d.notes.String(), "/no/such/npx") || !strings.Contains(d.servers(t), "a@2.0.0") {
		t.Errorf("notes:\n%s\nservers:\n%s", d.notes.String(), d.servers(t))
	}
}

// TestNewValues: what the new version needs is asked for, but for secrets, whose variables
// are named.
func TestNewValues(t *testing.T) {
	t.Parallel()
	records := []json.RawMessage{record("a", "1.0.0", "", ""), record("a", "2.0.0", `{"name":"ORG","description":"Your organisation","isRequired":true},{"name":"API_KEY","isRequired":true,"isSecret":true}`, "")}
	d := newUpdater(t, records, `{"mcpServers": {`+a1+`}}`, "acme $1", true)
	d.Options.NoStart = true
	require.NoError(t, d.Run(t.Context(), nil))
	if got := d.servers(t); !strings.Contains(got, `"ORG": "acme $$1"`) || !strings.Contains(got, `"API_KEY": "${API_KEY}"`) {
		t.Errorf("servers:\n%s", got)
	}
	if !strings.Contains(d.notes.String(), "export before use:\n  API_KEY (secret)\n") || !strings.HasPrefix(d.asker.Asked[0], "ORG - Your organisation") {
		t.Errorf("asked %q\n%s", d.asker.Asked, d.notes.String())
	}
	d = newUpdater(t, records, `{"mcpServers": {`+a1+`}}`)
	d.Options.Yes, d.Options.NoStart = true, true
	require.NoError(t, d.Run(t.Context(), nil))
	if !strings.Contains(d.servers(t), `"ORG": "${ORG}"`) || !strings.Contains(d.notes.String(), "  ORG: Your organisation\n") {
		t.Errorf("servers:\n%s\n%s", d.servers(t), d.notes.String())
	}
}

// TestSecrets: what the user has filled in for a secret input is never printed.
func TestSecrets(t *testing.T) {
	t.Parallel()
	const dsn = `{"name":"DSN","isRequired":true,"isSecret":true}`
	entry := strings.Replace(a1, `"origin"`, `"env": {"DSN": "tulip garden"}, "origin"`, 1)
	for _, asJSON := range []bool{true, false} {
		d := newUpdater(t, []json.RawMessage{record("a", "1.0.0", dsn, ""), record("a", "2.0.0", strings.Replace(dsn, "}", `,"value":"fixed"}`, 1), "")}, `{"mcpServers": {`+entry+`}}`)
		d.Options.DryRun, d.Options.NoStart, d.UI.JSON = true, true, asJSON
		require.NoError(t, d.Run(t.Context(), nil))
		if text := d.out.String() + d.notes.String(); strings.Contains(text, "tulip") || !strings.Contains(text, "DSN") {
			t.Errorf("printed:\n%s", text)
		}
	}
}

// TestStatus: what the registry says of versions is said.
func TestStatus(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		records []json.RawMessage
		pre     bool
		want    string
	}{
		"a deprecated one in use":  {[]json.RawMessage{record("a", "1.0.0", "", `"status":"deprecated","statusMessage":"use b"`)}, false, "a: 1.0.0 is the newest version\nwarning: 1.0.0, which is in use, is deprecated: use b\n"},
		"a deleted one in use":     {[]json.RawMessage{record("a", "1.0.0", "", `"status":"deleted"`), record("a", "1.1.0", "", "")}, false, "a: 1.0.0 -> 1.1.0, published 2026-01-01\nwarning: 1.0.0, which is in use, is deleted\n"},
		"a deprecated newer one":   {[]json.RawMessage{record("a", "1.0.0", "", ""), record("a", "1.1.0", "", `"status":"deprecated"`)}, false, "a: 1.0.0 -> 1.1.0, published 2026-01-01\nwarning: 1.1.0 is deprecated\n"},
		"a prerelease":             {[]json.RawMessage{record("a", "1.0.0", "", ""), record("a", "2.0.0-rc.1", "", "")}, false, "a: 1.0.0 is the newest version\nwarning: 2.0.0-rc.1 is a prerelease; --pre takes it\n"},
		"a prerelease that counts": {[]json.RawMessage{record("a", "1.0.0", "", ""), record("a", "2.0.0-rc.1", "", "")}, true, "a: 1.0.0 -> 2.0.0-rc.1, published 2026-01-01\n"},
		"all deleted":              {[]json.RawMessage{record("a", "1.0.0", "", `"status":"deleted"`)}, false, "a: skipped: all versions were deleted from the registry\n"},
		"an older one":             {[]json.RawMessage{record("a", "0.9.0", "", "")}, false, "a: 1.0.0 is the newest version\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newUpdater(t, tt.records, `{"mcpServers": {`+a1+`}}`)
			d.Options.Check, d.Options.Pre = true, tt.pre
			err := d.Run(t.Context(), nil)
			var kind interface{ ExitKind() string }
			if newer := strings.Contains(tt.want, "->"); newer != (errors.As(err, &kind) && kind.ExitKind() == "drift") || d.out.String() != tt.want {
				t.Errorf("got %v\n%s", err, d.out.String())
			}
		})
	}
}

// TestChangedMeanwhile: an entry that somebody has changed since it was shown is left
// alone.
func TestChangedMeanwhile(t *testing.T) {
	t.Parallel()
	d := newUpdater(t, []json.RawMessage{record("a", "1.0.0", "", ""), record("a", "2.0.0", "", "")}, `{"mcpServers": {`+a1+`}}`)
	d.Options.Yes, d.Options.NoStart = true, true
	load := d.Load
	d.Load = func() (*config.File, error) {
		f, err := load()
		require.NoError(t, os.WriteFile(d.path, bytes.Replace(f.Bytes(), []byte(`"-y"`), []byte(`"-q"`), 1), 0o600))
		return f, err
	}
	if err := d.Run(t.Context(), []string{"a"}); err == nil || !strings.Contains(err.Error(), "has changed meanwhile") || !strings.Contains(d.servers(t), `["-q", "a@1.0.0"]`) {
		t.Errorf("got %v\n%s", err, d.servers(t))
	}
}
