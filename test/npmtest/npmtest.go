// Package npmtest finds the real MCP servers that integration tests talk to:
// those of test/npm, pinned by its lock file.
package npmtest

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/mcpctl/mcpctl/test/require"
)

// entry points inside node_modules/@modelcontextprotocol, by short name.
func entry(name string) string {
	switch name {
	case "everything", "filesystem", "memory", "sequential-thinking":
		return filepath.Join("server-"+name, "dist", "index.js")
	}
	return ""
}

// Server returns the command line of a server: "everything", "filesystem",
// "memory" or "sequential-thinking". Everything takes "stdio" as its first argument
// (see [Listener] for others), filesystem the folders it may touch, memory its file in
// MEMORY_FILE_PATH. It fails the test when the servers are not installed: an
// integration test that skips is not one.
func Server(t testing.TB, name string, args ...string) []string {
	t.Helper()
	e := entry(name)
	if e == "" {
		t.Fatalf("npmtest: no server %q", name)
	}
	path := filepath.Join(dir(t), "node_modules", "@modelcontextprotocol", e)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("npmtest: server-%s is not installed: run make npm", name)
	}
	return append([]string{"node", path}, args...)
}

// ListenerReady begins the line in which a [Listener] says where it listens.
const ListenerReady = "listening: "

// Listener returns the command line of server-everything over HTTP, in the mode "sse" or
// "streamableHttp". With PORT=0 in its environment it listens on a free port.
func Listener(t testing.TB, mode string) []string {
	t.Helper()
	words := Server(t, "everything", mode)
	return slices.Insert(words, 1, "--require", filepath.Join(dir(t), "..", "npmtest", "listening.cjs"))
}

// dir is test/npm, found from this file's own place.
func dir(t testing.TB) string {
	t.Helper()
	if _, file, _, ok := runtime.Caller(0); ok && filepath.IsAbs(file) {
		return filepath.Join(filepath.Dir(file), "..", "npm")
	}
	// Built with -trimpath: go up from the package under test.
	d, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(d, "test", "npm", "package.json")); err == nil {
			return filepath.Join(d, "test", "npm")
		}
		up := filepath.Dir(d)
		if up == d {
			t.Fatal("npmtest: test/npm is not above the working directory")
		}
		d = up
	}
}

// Peer returns the command line of a program of test/npm/peers.
func Peer(t testing.TB, name string, args ...string) []string {
	t.Helper()
	at := dir(t)
	if _, err := os.Stat(filepath.Join(at, "node_modules", "@modelcontextprotocol", "client")); err != nil {
		t.Fatal("npmtest: the TypeScript SDKs are not installed: run make npm")
	}
	return append([]string{"node", filepath.Join(at, "peers", name)}, args...)
}

// Inspector returns the command line of the MCP Inspector's command line and the
// Node that it needs (22.19 or newer), which is installed beside it.
func Inspector(t testing.TB, args ...string) []string {
	t.Helper()
	modules := filepath.Join(dir(t), "node_modules")
	launcher, err := filepath.Glob(filepath.Join(modules, ".bin", "mcp-inspector"))
	if err != nil || len(launcher) == 0 {
		t.Fatal("npmtest: the Inspector is not installed: run make npm")
	}
	script, err := filepath.EvalSymlinks(launcher[0])
	require.NoError(t, err)
	return append([]string{node(t), script, "--cli"}, args...)
}

// TypeScript returns the command line of its compiler.
func TypeScript(t testing.TB, args ...string) []string {
	t.Helper()
	tsc := filepath.Join(dir(t), "node_modules", "typescript", "bin", "tsc")
	if _, err := os.Stat(tsc); err != nil {
		t.Fatal("npmtest: TypeScript is not installed: run make npm")
	}
	return append([]string{"node", tsc}, args...)
}

// Issuers returns the command line of a script that uses oidc-provider, and the Node
// that it needs. Its first argument is where packages are.
func Issuers(t testing.TB, script string) []string {
	t.Helper()
	modules := filepath.Join(dir(t), "node_modules")
	if _, err := os.Stat(filepath.Join(modules, "oidc-provider")); err != nil {
		t.Fatal("npmtest: oidc-provider is not installed: run make npm")
	}
	return []string{node(t), script, modules}
}

// node returns the Node 22 that is installed beside the servers.
func node(t testing.TB) string {
	t.Helper()
	for _, pattern := range []string{"node-*/bin/node", "node-*/bin/node.exe"} {
		if found, _ := filepath.Glob(filepath.Join(dir(t), "node_modules", pattern)); len(found) > 0 {
			return found[0]
		}
	}
	t.Fatal("npmtest: Node 22 is not installed: run make npm")
	return ""
}
