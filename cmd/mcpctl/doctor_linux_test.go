package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/require"
)

// TestDoctorOnATerminal: the live table shows each server while it is checked, is drawn over itself,
// and is gone at the end.
func TestDoctorOnATerminal(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "servers.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"mcpServers":{"fine":{"command":"fake-mcp"},"hangs":{"command":"fake-mcp","args":["-silent"]}}}`), 0o600))

	p := openTerminal(t)
	out, code := atTerminal(t, p, nil, "--config", file, "doctor", "-o", "text", "--connect-timeout", "1500ms")
	drawn := p.text()
	if code != 7 || !strings.Contains(out, "error    hangs\n") || !strings.Contains(out, "\nok") && !strings.HasPrefix(out, "ok       fine") {
		t.Errorf("got exit %d:\n%s", code, out)
	}
	lines := withoutCodes(drawn)
	if !strings.Contains(lines, "checks   hangs") || !strings.Contains(lines, "ok       fine  16 tools") || !strings.Contains(drawn, "\x1b[2A") {
		t.Errorf("drawn: %q", drawn)
	}
	if !strings.HasSuffix(drawn, "\r\x1b[2A\x1b[J") {
		t.Errorf("the table is left: %q", drawn)
	}
}
