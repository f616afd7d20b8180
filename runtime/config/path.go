package config

import (
	"path/filepath"
	goruntime "runtime"
)

// FileName is the name of the file in mcpctl's configuration directory.
const FileName = "servers.json"

// InlineVariable is the environment variable that holds the text of servers.json itself,
// for containers and scripts that have no file.
const InlineVariable = "MCPCTL_CONFIG_JSON"

// Path returns where servers.json is: $MCPCTL_CONFIG (the file itself), else in
// $MCPCTL_HOME, else in $XDG_CONFIG_HOME/mcpctl, else in mcpctl of the
// platform's configuration directory: ~/.config, ~/Library/Application Support
// on macOS, %AppData% on Windows. A relative XDG_CONFIG_HOME is ignored (XDG
// Base Directory Specification). The file need not exist. Where [InlineVariable] is set
// and MCPCTL_CONFIG is not, the name of the file is that of the variable, whose value
// [Load] reads.
func Path(getenv func(string) string) (string, error) {
	return pathFor(goruntime.GOOS, getenv)
}

func pathFor(goos string, getenv func(string) string) (string, error) {
	if p := getenv("MCPCTL_CONFIG"); p != "" {
		return p, nil
	}
	dir, missing := homeFor(goos, getenv, "XDG_CONFIG_HOME", ".config", "AppData")
	if missing != "" {
		return "", &Problem{
			Message: "no place for " + FileName + ": the environment has no " + missing,
			Remedy:  "set MCPCTL_CONFIG to the file's path",
		}
	}
	if getenv(InlineVariable) != "" {
		return filepath.Join(dir, InlineVariable), nil
	}
	return filepath.Join(dir, FileName), nil
}

// IsInline reports whether a path means [InlineVariable].
func IsInline(path string) bool { return filepath.Base(path) == InlineVariable }

// StateDir returns the directory of what mcpctl has learned, as opposed to what
// it was told: $MCPCTL_HOME, else mcpctl in $XDG_STATE_HOME, else in
// ~/.local/state, ~/Library/Application Support on macOS or %LocalAppData% on
// Windows. A relative XDG_STATE_HOME is ignored. The directory need not exist;
// it is "" where the environment has none of these.
func StateDir(getenv func(string) string) string {
	return stateDirFor(goruntime.GOOS, getenv)
}

func stateDirFor(goos string, getenv func(string) string) string {
	dir, _ := homeFor(goos, getenv, "XDG_STATE_HOME", filepath.Join(".local", "state"), "LocalAppData")
	return dir
}

// homeFor returns a directory of mcpctl's, or the name of the variable that is
// not set. The variable xdg goes before the platform's directory: unix in the
// user's home, or the variable windows.
func homeFor(goos string, getenv func(string) string, xdg, unix, windows string) (dir, missing string) {
	if dir := getenv("MCPCTL_HOME"); dir != "" {
		return dir, ""
	}
	if dir := getenv(xdg); filepath.IsAbs(dir) {
		return filepath.Join(dir, "mcpctl"), ""
	}
	variable := "HOME"
	switch goos {
	case "darwin":
		unix = filepath.Join("Library", "Application Support")
	case "windows":
		variable, unix = windows, ""
	}
	if dir = getenv(variable); dir == "" {
		return "", variable
	}
	return filepath.Join(dir, unix, "mcpctl"), ""
}
