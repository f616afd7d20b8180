package proc

import (
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/proctree"
)

// inheritedNames are the variables of our own environment that a server gets;
// a name that ends in "*" stands for all that begin so. What a program needs to
// find its files, its language and the network, and nothing that was set for
// mcpctl or for another program: tokens of all kinds live in environments. The
// specification leaves the set to clients; those of the official SDKs are in it
// (docs/configure.md, "Environment of a server").
func inheritedNames(system string) []string {
	names := []string{
		"PATH", "LANG", "LANGUAGE", "LC_*", "TZ",
		// Networks that are reached through a proxy, or with certificates of
		// their own.
		"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
		// Whose process it is, so that nothing outlives us from further down.
		proctree.MarkVariable,
	}
	if system == "windows" {
		return append(names,
			"APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "ALLUSERSPROFILE", "USERPROFILE", "USERNAME", "USERDOMAIN", "HOMEDRIVE", "HOMEPATH",
			"PATHEXT", "COMSPEC", "SYSTEMDRIVE", "SYSTEMROOT", "WINDIR", "TEMP", "TMP", "OS", "COMPUTERNAME",
			"PROCESSOR_ARCHITECTURE", "PROCESSOR_IDENTIFIER", "NUMBER_OF_PROCESSORS",
			"PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432", "COMMONPROGRAMFILES", "COMMONPROGRAMFILES(X86)", "COMMONPROGRAMW6432",
		)
	}
	return append(names, "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "XDG_*")
}

// ChildEnv returns a server's whole environment, never nil: the variables of ours that
// it gets, and those of its entry, which win.
func ChildEnv(system string, ours []string, add map[string]string) []string {
	names := inheritedNames(system)
	fold := func(name string) string {
		if system == "windows" { // names there have no case
			return strings.ToUpper(name)
		}
		return name
	}
	env := make([]string, 0, 32)
	for _, line := range ours {
		name, value, ok := strings.Cut(line, "=")
		if !ok || name == "" || strings.HasPrefix(value, "()") {
			continue // the last: a function that bash has exported, which others run
		}
		if takes(append(names, raceOptions()...), fold(name)) {
			env = append(env, line)
		}
	}
	for name, value := range add {
		env = slices.DeleteFunc(env, func(line string) bool {
			have, _, _ := strings.Cut(line, "=")
			return fold(have) == fold(name)
		})
		env = append(env, name+"="+value)
	}
	return env
}

func takes(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		if prefix, ok := strings.CutSuffix(n, "*"); ok {
			return strings.HasPrefix(name, prefix)
		}
		return n == name
	})
}

// LookPath returns a command as it is found on the PATH that the entry has of
// its own; unchanged where it has none, names a place, or is not found there. The
// search on ours is left to package exec.
func LookPath(command string, env map[string]string) string {
	list, ok := env["PATH"]
	if !ok || goruntime.GOOS == "windows" || strings.ContainsRune(command, filepath.Separator) {
		return command
	}
	for _, dir := range filepath.SplitList(list) {
		if !filepath.IsAbs(dir) {
			continue // what happens to lie in the working directory is not run
		}
		file := filepath.Join(dir, command)
		if info, err := os.Stat(file); err != nil || info.IsDir() {
			continue
		}
		if found, err := exec.LookPath(file); err == nil { // executable
			return found
		}
	}
	return command
}
