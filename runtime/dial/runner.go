package dial

import (
	"errors"
	"path"
	"path/filepath"
	"regexp"
	goruntime "runtime"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/lazy"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/transport"
)

// RunnerError says what a package manager or a container runner lacks, so that the server
// of an entry does not start.
type RunnerError struct {
	// Package is what the runner does not find, "" where it has nobody to run containers.
	Package string

	reason  string
	cause   *transport.ExitError
	command string
	remark  string
}

// Error says what is not there.
func (e *RunnerError) Error() string { return e.reason }

// Unwrap returns how the runner ended.
func (e *RunnerError) Unwrap() error { return e.cause }

// Fix returns the command that mends it, and what to know of it, "" for nothing.
func (e *RunnerError) Fix() (command, remark string) { return e.command, e.remark }

// Hint returns the remedy in one line.
func (e *RunnerError) Hint() string {
	if e.remark == "" {
		return e.command
	}
	return e.command + ", " + e.remark
}

// runnerError returns what an entry's runner lacks by what it said at its end, nil for
// anything else. Nothing but starting the server shows that: runners look in caches,
// mirrors and private registries of their own.
func runnerError(entry config.Entry, exit *transport.ExitError) *RunnerError {
	if !Fetches(entry.Command) {
		return nil
	}
	if what := missingPackage(exit.Stderr); what != "" {
		name := packageOf(entry.Args, exit.Stderr)
		return &RunnerError{
			Package: name, reason: name + ": " + what, cause: exit,
			command: "mcpctl search " + path.Base(bare(name)), remark: "and mcpctl add --replace, or correct args in servers.json",
		}
	}
	if daemonDown().MatchString(exit.Stderr) {
		return &RunnerError{reason: "docker has no daemon to run containers", cause: exit, command: "sudo systemctl start docker"}
	}
	return nil
}

// slowStart is a first start that may have been downloading when its time was over.
type slowStart struct{ error }

func (e *slowStart) Error() string { return e.error.Error() + "; a first start downloads the package" }
func (e *slowStart) Unwrap() error { return e.error }

// Hint returns the remedy.
func (*slowStart) Hint() string { return "wait longer: --connect-timeout 5m" }

// installs are the commands that install well-known runners, by system; "" is any.
func installs(runner string) map[string]string {
	node := map[string]string{"darwin": "brew install node", "windows": "winget install OpenJS.NodeJS", "": "sudo apt install npm"}
	uv := map[string]string{"darwin": "brew install uv", "windows": "winget install astral-sh.uv", "": "curl -LsSf https://astral.sh/uv/install.sh | sh"}
	docker := map[string]string{"darwin": "brew install --cask docker", "windows": "winget install Docker.DockerDesktop", "": "sudo apt install docker.io"}
	return map[string]map[string]string{
		"npx": node, "npm": node, "node": node,
		"uvx": uv, "uv": uv,
		"docker": docker,
		"podman": {"darwin": "brew install podman", "windows": "winget install RedHat.Podman", "": "sudo apt install podman"},
		"bunx":   {"windows": "winget install Oven-sh.Bun", "": "curl -fsSL https://bun.sh/install | bash"},
		"deno":   {"windows": "winget install DenoLand.Deno", "": "curl -fsSL https://deno.land/install.sh | sh"},
		"pipx":   {"darwin": "brew install pipx", "windows": "python -m pip install --user pipx", "": "sudo apt install pipx"},
		"python": {"darwin": "brew install python", "windows": "winget install Python.Python.3.13", "": "sudo apt install python-is-python3"},
		"dnx":    {"darwin": "brew install dotnet", "windows": "winget install Microsoft.DotNet.SDK.10", "": "https://dotnet.microsoft.com/download"},
	}[runner]
}

// RunnerName returns the name of a command without its folder and ending.
func RunnerName(command string) string {
	name := filepath.Base(command)
	for _, ending := range []string{".exe", ".cmd"} {
		name = strings.TrimSuffix(name, ending)
	}
	return name
}

// InstallCommand returns the command that installs a runner on this system where an error
// is that it is not there; "" for another error, and for a runner that is not known.
func InstallCommand(command string, err error) string {
	if !errors.Is(err, transport.ErrNoCommand) {
		return ""
	}
	commands := installs(RunnerName(command))
	if commands[goruntime.GOOS] != "" {
		return commands[goruntime.GOOS]
	}
	return commands[""]
}

// missing are the words of package managers for what does not exist, and what it is.
var missing = []struct { //nolint:gochecknoglobals // a constant table
	words func() *regexp.Regexp
	what  string
}{
	{lazy.Regexp(`E404|404 Not Found - GET|ETARGET|No matching version`), "npm does not have the package, or not in this version"},
	{lazy.Regexp(`was not found in the package registry|No solution found|No matching distribution`), "PyPI does not have the package, or not in this version"},
	{lazy.Regexp(`manifest unknown|pull access denied|repository does not exist|manifest for .* not found`), "the registry does not have the image, or not for everybody"},
}

// daemonDown finds the words of a container runner that has nobody to run containers.
var daemonDown = lazy.Regexp(`Cannot connect to the Docker daemon|docker daemon is not running`)

// missingPackage says of what a runner wrote to standard error that it did not find the
// package, "" for anything else.
func missingPackage(stderr string) string {
	for _, m := range missing {
		if m.words().MatchString(stderr) {
			return m.what
		}
	}
	return ""
}

// packageOf returns what a runner ran that said this: an argument that it names without
// its version, or else the first that is no flag and no word of its own.
func packageOf(args []string, said string) string {
	found := ""
	for _, arg := range args {
		if strings.HasPrefix(arg, "-") || arg == "run" || arg == "dlx" || arg == "exec" {
			continue
		}
		if strings.Contains(said, bare(arg)) {
			return arg
		}
		if found == "" {
			found = arg
		}
	}
	return found
}

// bare returns a package without its version.
func bare(name string) string {
	if at := strings.LastIndexByte(name, '@'); at > 0 {
		return name[:at]
	}
	return name
}

// Fetches reports whether a runner downloads what it runs.
func Fetches(command string) bool {
	return slices.Contains([]string{"npx", "uvx", "bunx", "pipx", "docker", "podman", "dnx"}, RunnerName(command))
}
