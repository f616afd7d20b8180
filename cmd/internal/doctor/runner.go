package doctor

import (
	"path/filepath"
	"regexp"
	goruntime "runtime"
	"strings"
)

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

// runnerOf returns the name of a command without its folder and ending.
func runnerOf(command string) string {
	name := filepath.Base(command)
	for _, ending := range []string{".exe", ".cmd"} {
		name = strings.TrimSuffix(name, ending)
	}
	return name
}

// installCommand returns the command that installs a runner on this system, "" for one
// that is not known.
func installCommand(command string) string {
	by := installs(runnerOf(command))
	if by[goruntime.GOOS] != "" {
		return by[goruntime.GOOS]
	}
	return by[""]
}

// missing are the words of package managers for what does not exist, and what it is.
func missing() []struct {
	words *regexp.Regexp
	what  string
} {
	return []struct {
		words *regexp.Regexp
		what  string
	}{
		{regexp.MustCompile(`E404|404 Not Found - GET|ETARGET|No matching version`), "npm does not have the package, or not in this version"},
		{regexp.MustCompile(`was not found in the package registry|No solution found|No matching distribution`), "PyPI does not have the package, or not in this version"},
		{regexp.MustCompile(`manifest unknown|pull access denied|repository does not exist|manifest for .* not found`), "the registry does not have the image, or not for everybody"},
	}
}

// missingPackage says of what a runner wrote to standard error that it did not find the
// package, "" for anything else. Nothing but starting the server shows that: runners
// look in caches, mirrors and private registries of their own.
func missingPackage(stderr string) string {
	for _, m := range missing() {
		if m.words.MatchString(stderr) {
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
		name := arg
		if at := strings.LastIndexByte(arg, '@'); at > 0 {
			name = arg[:at]
		}
		if strings.Contains(said, name) {
			return arg
		}
		if found == "" {
			found = arg
		}
	}
	return found
}

// daemonDown reports that a container runner has nobody to run containers.
func daemonDown(stderr string) bool {
	return strings.Contains(stderr, "Cannot connect to the Docker daemon") || strings.Contains(stderr, "docker daemon is not running")
}

// fetches reports whether a runner downloads what it runs.
func fetches(command string) bool {
	switch runnerOf(command) {
	case "npx", "uvx", "bunx", "pipx", "docker", "podman", "dnx":
		return true
	}
	return false
}
