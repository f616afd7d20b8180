package config

import (
	"path/filepath"
	"testing"

	"github.com/mcpctl/mcpctl/test/require"
)

func TestPath(t *testing.T) {
	abs, err := filepath.Abs("x")
	require.NoError(t, err)
	for _, tt := range []struct {
		name, goos string
		env        map[string]string
		want       string // "" for an error
	}{
		{"the file itself", "linux", map[string]string{"MCPCTL_CONFIG": "f.json", "MCPCTL_HOME": "h", "HOME": "u"}, "f.json"},
		{"mcpctl's home", "linux", map[string]string{"MCPCTL_HOME": "h", "XDG_CONFIG_HOME": abs}, filepath.Join("h", "servers.json")},
		{"XDG", "linux", map[string]string{"XDG_CONFIG_HOME": abs, "HOME": "u"}, filepath.Join(abs, "mcpctl", "servers.json")},
		{"XDG on macOS", "darwin", map[string]string{"XDG_CONFIG_HOME": abs, "HOME": "u"}, filepath.Join(abs, "mcpctl", "servers.json")},
		{"relative XDG", "linux", map[string]string{"XDG_CONFIG_HOME": "x", "HOME": "u"}, filepath.Join("u", ".config", "mcpctl", "servers.json")},
		{"macOS", "darwin", map[string]string{"HOME": "u"}, filepath.Join("u", "Library", "Application Support", "mcpctl", "servers.json")},
		{"Windows", "windows", map[string]string{"AppData": "d", "HOME": "u"}, filepath.Join("d", "mcpctl", "servers.json")},
		{"nothing", "linux", nil, ""},
		{"nothing on Windows", "windows", map[string]string{"HOME": "u"}, ""},
	} {
		got, err := pathFor(tt.goos, func(n string) string { return tt.env[n] })
		if got != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("%s: got %q, %v, want %q", tt.name, got, err, tt.want)
		}
	}
}

func TestStateDir(t *testing.T) {
	abs, err := filepath.Abs("x")
	require.NoError(t, err)
	for _, tt := range []struct {
		name, goos string
		env        map[string]string
		want       string
	}{
		{"mcpctl's home", "linux", map[string]string{"MCPCTL_HOME": "h", "XDG_STATE_HOME": abs}, "h"},
		{"XDG", "darwin", map[string]string{"XDG_STATE_HOME": abs, "HOME": "u"}, filepath.Join(abs, "mcpctl")},
		{"relative XDG", "linux", map[string]string{"XDG_STATE_HOME": "x", "HOME": "u"}, filepath.Join("u", ".local", "state", "mcpctl")},
		{"macOS", "darwin", map[string]string{"HOME": "u"}, filepath.Join("u", "Library", "Application Support", "mcpctl")},
		{"Windows", "windows", map[string]string{"LocalAppData": "d"}, filepath.Join("d", "mcpctl")},
		{"nothing", "linux", nil, ""},
	} {
		if got := stateDirFor(tt.goos, func(n string) string { return tt.env[n] }); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
