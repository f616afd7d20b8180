package cli

import (
	"net"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/runtime/config"
)

// IsCommand reports whether the words behind "--" are a command. Arguments of a call
// stand there, too: options, pairs and a whole object.
func IsCommand(words []string) bool {
	return len(words) > 0 && words[0] != "" && !strings.HasPrefix(words[0], "-") && !strings.HasPrefix(words[0], "{") && !strings.Contains(words[0], "=")
}

// adhocCommand returns the entry of a command as the shell has given it.
func adhocCommand(words []string) config.Entry {
	e := config.Entry{Name: CommandName(words), Command: config.Escape(words[0])}
	for _, w := range words[1:] {
		e.Args = append(e.Args, config.Escape(w))
	}
	return e
}

// CommandName returns a name for a command: that of the package or file that a runner
// starts, else the program's.
func CommandName(words []string) string {
	name := program(words[0])
	if started := startedBy(name, words[1:]); started != "" {
		name = packageName(started)
	}
	return alias(name)
}

// URLName returns a name for a remote server: what its host is known by.
func URLName(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return alias("")
	}
	host := u.Hostname()
	if net.ParseIP(host) != nil {
		return alias("server-" + host)
	}
	labels := strings.Split(host, ".")
	if len(labels) > 1 {
		labels = labels[:len(labels)-1]
	}
	if len(labels) > 1 && slices.Contains([]string{"www", "api", "mcp"}, labels[0]) {
		labels = labels[1:]
	}
	return alias(strings.Join(labels, "-"))
}

// alias returns a name that servers.json could have.
func alias(name string) string {
	switch name = config.CleanAlias(name); {
	case name == "":
		return "server"
	case config.Reserved(name):
		return name + "-server"
	}
	return name
}

// program returns the name of a program file.
func program(file string) string {
	name := filepath.Base(file)
	if ext := filepath.Ext(name); strings.EqualFold(ext, ".exe") || strings.EqualFold(ext, ".cmd") {
		name = strings.TrimSuffix(name, ext)
	}
	return name
}

// runners returns the programs that start others, with the words between them and
// what they start.
func runners() map[string][]string {
	node, container := []string{}, []string{"run", "container"}
	return map[string][]string{
		"npx": node, "bunx": node, "pnpx": node, "uvx": node, "dnx": node, "pipx": {"run"},
		"npm": {"exec", "x"}, "pnpm": {"dlx", "exec"}, "yarn": {"dlx", "exec"}, "bun": {"x", "run"}, "uv": {"tool", "run"}, "deno": {"run"},
		"node": node, "python": node, "python3": node, "java": node, "go": {"run"}, "sh": node, "bash": node, "env": node,
		"docker": container, "podman": container, "nerdctl": container,
	}
}

// withValue returns the options of runners whose value is the next word.
func withValue() []string {
	return []string{
		"-e", "-v", "-p", "-w", "-u", "-c", "--env", "--env-file", "--volume", "--mount", "--name", "--network", "--entrypoint", "--user", "--workdir",
		"--package", "--from", "--with", "--python", "--index-url", "--registry", "--platform", "--pull",
	}
}

// startedBy returns what a runner starts by its arguments, "" if name is none.
func startedBy(name string, args []string) string {
	between, ok := runners()[strings.ToLower(name)]
	for i := 0; ok && i < len(args); i++ {
		switch w := args[i]; {
		case slices.Contains(withValue(), w):
			i++
		case strings.HasPrefix(w, "-"), slices.Contains(between, w), name == "env" && strings.Contains(w, "="):
		default:
			return w
		}
	}
	return ""
}

// packageName returns the last part of a package, an image or a file, without version.
func packageName(started string) string {
	name := path.Base(strings.ReplaceAll(strings.TrimRight(started, `/\`), `\`, "/"))
	if end := strings.IndexAny(name[min(1, len(name)):], "@:=<>~[") + 1; end > 0 {
		name = name[:end]
	}
	switch ext := path.Ext(name); ext {
	case ".js", ".mjs", ".cjs", ".ts", ".py", ".jar", ".sh":
		name = strings.TrimSuffix(name, ext)
	}
	return strings.TrimPrefix(name, "@")
}
