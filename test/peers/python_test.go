//go:build integration

package peers_test

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

// pythonPeer returns the command line of a program of test/python. It skips the test
// where the Python SDK is not installed.
func pythonPeer(t *testing.T, script string, args ...string) []string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", "python"))
	require.NoError(t, err)
	if _, err := os.Stat(filepath.Join(dir, "venv", ".stamp")); err != nil {
		t.Skip("the Python SDK is not installed: make python says why")
	}
	return append([]string{filepath.Join(dir, "venv", "bin", "python"), filepath.Join(dir, script)}, args...)
}

// python is a server of the Python SDK, which speaks both eras.
func python(t *testing.T, dir, name, transport string) entry {
	t.Helper()
	words := pythonPeer(t, "server.py", name, transport, dir)
	if transport == "stdio" {
		return process(name, nil, words...)
	}
	return listening(t, name, transport, words)
}

// listening starts a server that says at which URL it is.
func listening(t *testing.T, name, transport string, words []string) entry {
	t.Helper()
	p, err := wire.Launch(exec.CommandContext(context.WithoutCancel(t.Context()), words[0], words[1:]...), "URL ")
	require.NoError(t, err)
	t.Cleanup(func() { p.Stop(0) })
	e := remote(name, p.URL)
	if transport == "sse" {
		e.object["type"] = "sse"
	}
	return e
}

// TestPython has clients of the Python SDK before serve, and servers of it behind, over
// each transport in each era that it has.
func TestPython(t *testing.T) {
	t.Parallel()
	web := []entry{
		python(t, t.TempDir(), "pyweb", "http"),
		typescript(t, t.TempDir(), "v2", "web", "http", ""),
	}
	want := map[string]map[string]any{"py": finds("python", "py"), "pyweb": finds("python", "pyweb"), "web": finds("v2", "web")}
	if wire.Nightly() {
		web = append(web, python(t, t.TempDir(), "pysse", "sse"))
		want["pysse"] = finds("python", "pysse")
	}
	for c, daily := range map[tourist]bool{ // not only with make nightly
		{"python", "modern", "stdio"}: false,
		{"python", "modern", "http"}:  true,
		{"python", "legacy", "stdio"}: true,
		{"python", "legacy", "http"}:  false,
		{"python", "legacy", "sse"}:   false,
		{"v2", "modern", "http"}:      false,
		{"v1", "legacy", "http"}:      false,
	} {
		if !daily && !wire.Nightly() {
			continue
		}
		// One after another: they count each other's cancels.
		t.Run(c.String(), func(t *testing.T) {
			v := visit{config: configure(t, append([]entry{python(t, t.TempDir(), "py", "stdio")}, web...)...), want: want}
			if c.transport == "stdio" {
				v.command = []string{binary, "serve"}
			} else {
				// Its own: once a server has asked, calls of modern clients go to
				// another session of it than subscriptions.
				v.url = serveHTTP(t, v.config).URL
			}
			c.pages(t, v)
		})
	}
}

// TestPythonServersFromTheCommandLine calls servers of the Python SDK with mcpctl's
// commands, over each transport.
func TestPythonServersFromTheCommandLine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for transport, version := range map[string]string{"stdio": "2026-07-28", "http": "2026-07-28", "sse": "2025-11-25"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			name := "py" + transport
			config := configure(t, python(t, dir, name, transport))
			steps := map[string]string{
				"--json ping " + name:                 `"protocolVersion":"` + version + `"`,
				name + ` ask --elicit {"name":"Ada"}`: "accept Ada",
			}
			if transport != "stdio" || wire.Nightly() { // which starts the server for each
				maps.Copy(steps, map[string]string{
					"tools " + name + " --json":               `"outputSchema":{`,
					name + " add a=40 b:=2":                   `"structuredContent":{"n":42}`,
					name + " echo message=hallo":              "hallo",
					name + " ask --elicit decline":            "decline",
					name + " steps n=3":                       "done",
					"read " + name + " " + name + "://note":   "this is " + name + "://note",
					"read " + name + " " + name + "://item/7": "this is " + name + "://item/7",
					"prompt " + name + " greet who=Ada":       "Greet Ada.",
				})
				if o := mcpctl(t, config, name, "fail"); o.code != 3 {
					t.Errorf("fail: got %d, want 3: %s%s", o.code, o.stdout, o.stderr)
				}
			}
			for words, want := range steps {
				if out := ok(t, config, strings.Fields(words)...); !strings.Contains(out, want) {
					t.Errorf("%s: got %.500s, want %q", words, out, want)
				}
			}
		})
	}
}
