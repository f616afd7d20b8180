//go:build unix

package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	modname "golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/mcpctl/mcpctl/test/require"
)

// TestGosdkModule: the adapter for the official SDK, as a module that somebody
// else requires: its replace does not hold there.
func TestGosdkModule(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("compiles a program")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
	env := moduleEnv(t)
	served := strings.TrimPrefix(strings.Split(env[0], ",")[0], "GOPROXY=file://")
	serveAdapter(t, served)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/sdk\n\ngo 1.26.0\n",
		"main.go": `package main

import (
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/gosdk"
)

var session *mcp.ClientSession

var _ runtime.Caller = gosdk.New(session, gosdk.Options{})

func main() {}
`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	for _, words := range [][]string{
		{"get", module + "/runtime/gosdk@" + moduleVersion, module + "@" + moduleVersion},
		{"list", "-deps", "."}, // all packages are found; that they compile is seen in their own module
	} {
		cmd := exec.CommandContext(t.Context(), "go", words...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(words, " "), err, out)
		}
	}
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	require.NoError(t, err)
	for _, m := range []string{module + " " + moduleVersion, module + "/runtime/gosdk " + moduleVersion} {
		if !strings.Contains(string(mod), m) {
			t.Errorf("requires\n%s\nwant %s", mod, m)
		}
	}
}

// serveAdapter serves runtime/gosdk beside the module it belongs to.
func serveAdapter(t *testing.T, dir string) {
	t.Helper()
	const path = module + "/runtime/gosdk"
	root := filepath.Join(checkout(), "runtime", "gosdk")
	place := filepath.Join(dir, filepath.FromSlash(path), "@v")
	require.NoError(t, os.MkdirAll(place, 0o700))
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	for name, text := range map[string]string{
		"list":                  moduleVersion + "\n",
		moduleVersion + ".info": `{"Version":"` + moduleVersion + `","Time":"2026-01-01T00:00:00Z"}`,
		moduleVersion + ".mod":  string(mod),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(place, name), []byte(text), 0o600))
	}
	f, err := os.Create(filepath.Join(place, moduleVersion+".zip"))
	require.NoError(t, err)
	var files []zip.File
	for _, name := range []string{"go.mod", "gosdk.go", "lists.go", "progress.go"} {
		files = append(files, moduleFile{name, filepath.Join(root, name)})
	}
	require.NoError(t, zip.Create(f, modname.Version{Path: path, Version: moduleVersion}, files))
	require.NoError(t, f.Close())
}
