package config

import (
	"path/filepath"
	goruntime "runtime"
)

// FileName is the name of the file in mcpctl's configuration directory.
const FileName = "servers.json"

// Path tells where servers.json is: $MCPCTL_CONFIG (the file itself), else in
// $MCPCTL_HOME, else in $XDG_CONFIG_HOME/mcpctl, else in mcpctl of the
// platform's configuration directory: ~/.config, ~/Library/Application Support
// on macOS, %AppData% on Windows. A relative XDG_CONFIG_HOME is ignored (XDG
// Base Directory Specification). The file need not exist.
func Path(getenv func(string) string) (string, error) {
	return pathFor(goruntime.GOOS, getenv)
}

func pathFor(goos string, getenv func(string) string) (string, error) {
	if p := getenv("MCPCTL_CONFIG"); p != "" {
		return p, nil
	}
	if dir := getenv("MCPCTL_HOME"); dir != "" {
		return filepath.Join(dir, FileName), nil
	}
	if dir := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "mcpctl", FileName), nil
	}
	variable, below := "HOME", ".config"
	switch goos {
	case "darwin":
		below = filepath.Join("Library", "Application Support")
	case "windows":
		variable, below = "AppData", ""
	}
	dir := getenv(variable)
	if dir == "" {
		return "", &Problem{
			Message: "no place for " + FileName + ": the environment has no " + variable,
			Remedy:  "set MCPCTL_CONFIG to the file's path",
		}
	}
	return filepath.Join(dir, below, "mcpctl", FileName), nil
}
