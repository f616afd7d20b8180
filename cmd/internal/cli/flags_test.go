package cli

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/test/require"
)

// setUp parses words as a command would and returns its app. env is the whole
// environment.
func setUp(t *testing.T, env map[string]string, tty bool, words ...string) (*app, *bytes.Buffer) {
	t.Helper()
	var errOut bytes.Buffer
	a := &app{environment: environment{ui: ui.New(strings.NewReader(""), io.Discard, &errOut), log: slog.New(slog.DiscardHandler)}}
	dir := t.TempDir()
	a.getenv = func(name string) string {
		if name == "MCPCTL_HOME" {
			return dir
		}
		return env[name]
	}
	a.ui.OutTTY, a.ui.ErrTTY = tty, tty
	root := newRoot(a)
	root.AddCommand(&cobra.Command{Use: "probe", RunE: func(*cobra.Command, []string) error { return nil }})
	root.SetArgs(append([]string{"probe"}, words...))
	require.NoError(t, root.ExecuteContext(context.Background()))
	return a, &errOut
}

func TestColor(t *testing.T) {
	for _, tt := range []struct {
		name  string
		env   map[string]string
		tty   bool
		words []string
		want  bool
	}{
		{"terminal", nil, true, nil, true},
		{"pipe", nil, false, nil, false},
		{"NO_COLOR", map[string]string{"NO_COLOR": "1"}, true, nil, false},
		{"flag over NO_COLOR", map[string]string{"NO_COLOR": "1"}, true, []string{"--color", "always"}, true},
		{"flag auto over NO_COLOR", map[string]string{"NO_COLOR": "1"}, true, []string{"--color", "auto"}, true},
		{"variable over NO_COLOR", map[string]string{"NO_COLOR": "1", "MCPCTL_COLOR": "always"}, false, nil, true},
		{"never", nil, true, []string{"--color=never"}, false},
		{"dumb terminal", map[string]string{"TERM": "dumb"}, true, nil, false},
		{"always into a pipe", nil, false, []string{"--color=always"}, true},
	} {
		if a, _ := setUp(t, tt.env, tt.tty, tt.words...); a.ui.Color != tt.want {
			t.Errorf("%s: color %v, want %v", tt.name, a.ui.Color, tt.want)
		}
	}
}

func TestLog(t *testing.T) {
	for _, tt := range []struct {
		words []string
		tty   bool
		want  string // the messages that pass, by their first letters
	}{
		{nil, false, "we"},
		{[]string{"-v"}, false, "iwe"},
		{[]string{"-vv"}, false, "diwe"},
		{[]string{"-vvvv", "--log-format", "json"}, false, "diwe"},
		{[]string{"-q"}, false, "e"},
		{[]string{"-q", "-v"}, true, "iwe"},
	} {
		a, errOut := setUp(t, nil, tt.tty, tt.words...)
		a.log.Debug("d")
		a.log.Info("i")
		a.log.Warn("w")
		a.log.Error("e")
		got := ""
		for line := range strings.Lines(errOut.String()) {
			for _, m := range []string{"d", "i", "w", "e"} {
				if strings.Contains(line, "msg="+m+"\n") || strings.Contains(line, `"msg":"`+m+`"`) {
					got += m
				}
			}
			if strings.Contains(line, "time") == tt.tty {
				t.Errorf("%v: %q", tt.words, line)
			}
		}
		if got != tt.want {
			t.Errorf("%v: logged %q, want %q (%q)", tt.words, got, tt.want, errOut)
		}
	}
}

func TestFlagsReachCommands(t *testing.T) {
	a, _ := setUp(t, map[string]string{"MCPCTL_CONNECT_TIMEOUT": "never", "MCPCTL_REGISTRY": "http://127.0.0.1:1/"}, false,
		"--timeout=5s", "-H", "x-a=b", "--protocol-version", "2025-06-18", "--url", "http://127.0.0.1:2/mcp", "--no-input", "-q")
	f := a.settings
	if f.Timeout != 5*time.Second || f.ConnectTimeout != -1 || len(f.Registries) != 1 || f.Registries[0].URL != "http://127.0.0.1:1" || f.ProtocolVersion != "2025-06-18" ||
		f.URL != "http://127.0.0.1:2/mcp" || len(f.Headers) != 1 || f.Headers["X-A"] != "b" || !a.ui.NoInput || !a.ui.Quiet || a.ui.JSON || a.ui.Text {
		t.Errorf("settings %+v, ui %+v", f, a.ui)
	}
	if got := a.settings.CallTimeout(time.Second); got != 5*time.Second {
		t.Errorf("CallTimeout = %v, want the flag's 5s", got)
	}
}

// TestReserved: no command's name can be an alias.
func TestReserved(t *testing.T) {
	root := newRoot(&app{environment: environment{ui: ui.New(nil, io.Discard, io.Discard), getenv: func(string) string { return "" }}})
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		for _, name := range append(c.Aliases, c.Name()) {
			if !config.Reserved(name) {
				t.Errorf("the command %s is no reserved word", name)
			}
		}
	}
}
