package dial_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// TestServerErrors: errors of the file and the name, and where the file is.
func TestServerErrors(t *testing.T) {
	home := t.TempDir()
	write := func(text string) {
		t.Helper()
		require.NoError(t, os.WriteFile(filepath.Join(home, "servers.json"), []byte(text), 0o600))
	}
	serve := func(name string) error {
		c, err := dial.Server(t.Context(), name, dial.Options{Lookup: func(name string) (string, bool) { return home, name == "MCPCTL_HOME" }})
		if err == nil {
			_ = c.Close()
		}
		return err
	}
	var missing *config.NotFoundError
	if err := serve("github"); !errors.As(err, &missing) || !missing.Empty {
		t.Errorf("no file: got %v", err)
	}
	write(`{"mcpServers":{"github":{"command":"x","env":{"A":"${NOT_SET}"}}}}`)
	if err := serve("gihub"); !errors.As(err, &missing) || len(missing.Nearest) != 1 || !strings.Contains(err.Error(), "servers.json: unknown server") {
		t.Errorf("another name: got %v", err)
	}
	if err := serve("github"); err == nil || !strings.Contains(err.Error(), "NOT_SET") {
		t.Errorf("missing variable: got %v", err)
	}
	write(`{`)
	if err := serve("github"); err == nil || !strings.Contains(err.Error(), "servers.json") {
		t.Errorf("broken file: got %v", err)
	}
}

// TestToolsVersion: a client knows that the server's tools changed, as soon as
// its connection has heard of it, in a call or not.
func TestToolsVersion(t *testing.T) {
	for _, flag := range []string{"", "-modern"} {
		var flags []string
		if flag != "" {
			flags = append(flags, flag)
		}
		c, err := dial.Dial(t.Context(), stdioEntry(flags...), quick(dial.Options{Listen: true}))
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		for i, opts := range []*runtime.CallOptions{nil, {Progress: func(runtime.Progress) {}}} {
			before := c.ToolsVersion()
			if i == 0 && before != 0 {
				t.Errorf("%q: got %d at first", flag, before)
			}
			if _, err := c.CallTool(t.Context(), "change", json.RawMessage(`{}`), opts); err != nil {
				t.Fatal(err)
			}
			wait.Until(t, fmt.Sprintf("%q: the change of call %d is counted", flag, i), func() bool { return c.ToolsVersion() != before })
		}
	}
}
