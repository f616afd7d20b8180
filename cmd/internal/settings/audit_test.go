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

// TestAuditRefused: testdata/audit.txt has what is said of each section.
func TestAuditRefused(t *testing.T) {
	var got strings.Builder
	for _, section := range []string{
		"on", "[]", "{durabilty: power}", "{durability: fsync}", "{durability: }", "{required: maybe}", "{keep: 90}", "{keep: 90 days}", "{keep: -1h}", "{keep: 5m}", "{keep: [90d]}", "{keep: }",
		"{max: 2 giga}", "{max: -1}", "{max: 1KiB}", "{keep: 90d, keep: 30d}",
		"{bodies: true}", "{bodies: {}}", "{bodies: {to: []}}", "{bodies: {to: [gh]}}", "{bodies: {to: ['gh/a b']}}", "{bodies: {to: ['gh/*'], max: 2MiB}}", "{bodies: {to: ['gh/*'], max: never}}",
		"{bodies: {to: ['gh/*'], keep: soon}}", "{bodies: {to: ['gh/*'], redakt: false}}",
		"{anchor: 'file:'}", "{anchor: [{file: a}]}", "{anchor: [http://witness.example.com]}", "{anchor: ['https://user:hunter2@witness.example.com']}", "{anchor: [witness.example.com]}",
		"{anchor: ['https://witness.example.com/?a=b']}", "{anchor: [https://witness.example.com, https://witness.example.com/]}",
		"{export: audit.jsonl}", "{export: [{}]}", "{export: [{jsonl: a, otlp: https://otel.example.com}]}", "{export: [{json: a}]}", "{export: [{jsonl: a, rotate: 1KB}]}", "{export: [{jsonl: a, headers: {A: '${B}'}}]}",
		"{export: [{jsonl: a}, {jsonl: ./a}]}", "{export: [{otlp: http://otel.example.com}]}", "{export: [{otlp: https://otel.example.com, rotate: 1MB}]}",
		"{export: [{otlp: https://otel.example.com, headers: {Authorization: Bearer hunter2}}]}", "{export: [{otlp: https://otel.example.com, headers: {'A B': '${C}'}}]}", "{export: [{otlp: https://otel.example.com}, {otlp: https://otel.example.com/v1/logs}]}",
	} {
		said := shown(t, "audit: "+section+"\n")
		if strings.Contains(said, "hunter2") {
			t.Errorf("a secret is said: %s", said)
		}
		fmt.Fprintf(&got, "%s\n%s\n", strings.ReplaceAll(section, "hunter2", "…"), said)
	}
	fmt.Fprintf(&got, "auditt\n%s\n", shown(t, "auditt: {}\n"))
	const golden = "testdata/audit.txt"
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(got.String()), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("%s is not current (-update): %s", golden, diff)
	}
}

// TestAudit: what is read of a section, and what counts without its settings.
func TestAudit(t *testing.T) {
	usual := settings.Audit{Keep: 90 * 24 * time.Hour, Max: 2 << 30}
	for text, want := range map[string]*settings.Audit{
		"timeout: 3s\n": nil,
		"audit:\n":      &usual,
		"audit: {}\n":   &usual,
		"audit: {durability: power, required: false, keep: never, max: 0}\n": {Power: true, Optional: true},
		"audit: {bodies: {to: ['gh/*']}}\n":                                  {Keep: usual.Keep, Max: usual.Max, Bodies: &settings.Bodies{To: []string{"gh/*"}, Redact: true, Max: 16 << 10, Keep: 7 * 24 * time.Hour}},
		"audit:\n  keep: 36h\n  max: 10 GB\n  bodies: {to: ['gh/*', '*/read_*'], redact: false, max: 1KB, keep: never}\n": {
			Keep: 36 * time.Hour, Max: 10e9, Bodies: &settings.Bodies{To: []string{"gh/*", "*/read_*"}, Max: 1000},
		},
		"audit: {anchor: 'file:a/../b', export: {jsonl: x, rotate: never}}\n": {
			Keep: usual.Keep, Max: usual.Max, Anchors: []settings.Anchor{{File: "DIR/b"}}, Exports: []settings.Export{{JSONL: "DIR/x"}},
		},
		"audit: {anchor: [https://w.example.com/a/, 'file:/c'], export: [{otlp: 'http://127.0.0.1:4318'}, {jsonl: /y}, {otlp: https://o.example.com/x/v1/logs, headers: {Authorization: 'Bearer ${A}'}}]}\n": {
			Keep: usual.Keep, Max: usual.Max, Anchors: []settings.Anchor{{Witness: "https://w.example.com/a"}, {File: "/c"}},
			Exports: []settings.Export{
				{OTLP: "http://127.0.0.1:4318/v1/logs"},
				{JSONL: "/y", Rotate: 100e6},
				{OTLP: "https://o.example.com/x/v1/logs", Headers: map[string]string{"Authorization": "Bearer ${A}"}},
			},
		},
	} {
		s, err := run{file: text}.load(t)
		require.NoError(t, err)
		if s.Audit != nil { // a relative path is relative to config.yaml
			for i := range s.Audit.Anchors {
				s.Audit.Anchors[i].File = inFolder(t, s.Audit.Anchors[i].File)
			}
			for i := range s.Audit.Exports {
				s.Audit.Exports[i].JSONL = inFolder(t, s.Audit.Exports[i].JSONL)
			}
		}
		if diff := cmp.Diff(want, s.Audit); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

// inFolder returns a path with DIR in the place of the test's own folder.
func inFolder(t *testing.T, path string) string {
	if strings.Contains(path, t.Name()) {
		return "DIR/" + filepath.Base(path)
	}
	return filepath.ToSlash(path)
}
