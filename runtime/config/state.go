package config

import (
	"path/filepath"
	goruntime "runtime"
)

// StateDir tells where mcpctl keeps what it has learned, as opposed to what it
// was told: $MCPCTL_HOME, else mcpctl in $XDG_STATE_HOME, else in mcpctl of the
// platform's place: ~/.local/state, ~/Library/Application Support on macOS,
// %LocalAppData% on Windows. A relative XDG_STATE_HOME is ignored. The directory
// need not exist; it is "" where the environment names no place.
func StateDir(getenv func(string) string) string {
	return stateDirFor(goruntime.GOOS, getenv)
}

func stateDirFor(goos string, getenv func(string) string) string {
	if dir := getenv("MCPCTL_HOME"); dir != "" {
		return dir
	}
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "mcpctl")
	}
	variable, below := "HOME", filepath.Join(".local", "state")
	switch goos {
	case "darwin":
		below = filepath.Join("Library", "Application Support")
	case "windows":
		variable, below = "LocalAppData", ""
	}
	dir := getenv(variable)
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, below, "mcpctl")
}
