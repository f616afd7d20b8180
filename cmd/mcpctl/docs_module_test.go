//go:build unix

package main_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	modname "golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/mcpctl/mcpctl/test/require"
)

// inModule marks console blocks that make a module of their own and need
// mcpctl's module to be published: ```console module.
const inModule = "module"

// TestDocsModule runs the blocks ```console module of each page, in an empty
// folder. The module that they require is this checkout, as a proxy of modules
// serves it: from a file:// URL, with what the module cache has of its
// dependencies behind it.
func TestDocsModule(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("compiles programs")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
	for _, page := range docPages(t) {
		blocks, _, err := fencedBlocks(page, readPage(t, page))
		require.NoError(t, err)
		for _, b := range blocks {
			if b.kind != "console" || b.of != inModule {
				continue
			}
			steps, err := docSteps(b)
			require.NoError(t, err)
			t.Run(fmt.Sprintf("%s:%d", page, b.line), func(t *testing.T) {
				t.Parallel()
				sh := newDocShell(t, moduleEnv(t)...)
				for _, s := range steps {
					got, code, err := sh.run(s)
					if err != nil || code != s.exit {
						t.Fatalf("%s: $ %s: exit code %d, want %d, %v\n%s", s.at, s.command, code, s.exit, err, got)
					}
					if !s.matches(got) {
						t.Errorf("%s: $ %s: prints\n%s\nwant\n%s", s.at, s.command, got, strings.Join(s.want, "\n"))
					}
				}
			})
		}
	}
}

// moduleEnv lets the go command take mcpctl from this checkout and everything
// else from where it came before. The module cache is one of its own: a version
// that changes has no business in the user's.
func moduleEnv(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("go", "env", "-json", "GOMODCACHE", "GOCACHE", "GOPROXY").Output()
	require.NoError(t, err)
	var env struct{ GOMODCACHE, GOCACHE, GOPROXY string }
	require.NoError(t, json.Unmarshal(out, &env))
	cache := t.TempDir()
	t.Cleanup(func() { makeWritable(t, cache) })
	return []string{
		"GOPROXY=" + fileURL(serveModule(t)) + "," + fileURL(filepath.Join(env.GOMODCACHE, "cache", "download")) + "," + env.GOPROXY,
		"GOMODCACHE=" + cache, "GOCACHE=" + env.GOCACHE,
		// What was compiled from another module cache is the same.
		"GOFLAGS=-trimpath", "GOSUMDB=off", "GOTOOLCHAIN=local", "GOWORK=off", "CGO_ENABLED=0",
	}
}

func fileURL(path string) string { return "file://" + filepath.ToSlash(path) }

// makeWritable lets a module cache be removed.
func makeWritable(t *testing.T, dir string) {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(path, 0o700)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// The checkout is published as this module and version.
const (
	module        = "github.com/mcpctl/mcpctl"
	moduleVersion = "v0.1.0"
)

// serveModule makes a folder that serves this checkout as a proxy of modules
// does (go help goproxy).
func serveModule(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	place := filepath.Join(dir, filepath.FromSlash(module), "@v")
	require.NoError(t, os.MkdirAll(place, 0o700))
	mod, err := os.ReadFile(filepath.Join(checkout(), "go.mod"))
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
	err = zip.Create(f, modname.Version{Path: module, Version: moduleVersion}, moduleFiles(t))
	require.NoError(t, err)
	require.NoError(t, f.Close())
	return dir
}

// moduleFile is a file of the checkout, for a zip.
type moduleFile struct{ rel, path string }

func (f moduleFile) Path() string                 { return f.rel }
func (f moduleFile) Lstat() (os.FileInfo, error)  { return os.Lstat(f.path) }
func (f moduleFile) Open() (io.ReadCloser, error) { return os.Open(f.path) }

// moduleFiles are those that packages are made of. Tests and what they need are
// left out, and so are other modules below this one.
func moduleFiles(t *testing.T) []zip.File {
	t.Helper()
	root := checkout()
	var out []zip.File
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			_, other := os.Stat(filepath.Join(path, "go.mod"))
			skip := strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || slices.Contains([]string{"test", "docs", "generated"}, rel)
			if rel != "." && (skip || other == nil) {
				return filepath.SkipDir
			}
			return nil
		}
		if d.Type().IsRegular() && !strings.HasSuffix(rel, "_test.go") && !strings.HasPrefix(d.Name(), ".") && rel != "mcpctl" {
			out = append(out, moduleFile{filepath.ToSlash(rel), path})
		}
		return nil
	})
	require.NoError(t, err)
	return out
}

// TestDocsTenLines counts what a reader has to type from mcpctl add to the first
// call: commands, and statements of the program.
func TestDocsTenLines(t *testing.T) {
	t.Parallel()
	const page = "docs/generate.md"
	blocks, _, err := fencedBlocks(page, readPage(t, page))
	require.NoError(t, err)
	i := slices.IndexFunc(blocks, func(b *docBlock) bool { return b.kind == "console" && b.of == inModule })
	if i < 0 {
		t.Fatalf("%s has no block ```console %s", page, inModule)
	}
	steps, err := docSteps(blocks[i])
	require.NoError(t, err)
	lines := 0
	for _, s := range steps {
		_, program, ok := strings.Cut(s.command, "main.go <<'EOF'\n")
		if !ok {
			lines++
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), "main.go", strings.TrimSuffix(program, "EOF"), 0)
		require.NoError(t, err)
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				lines += len(fn.Body.List)
			}
		}
	}
	if !strings.HasPrefix(steps[0].command, "mcpctl add ") || lines > 10 {
		t.Errorf("from %q, %d commands and statements; want mcpctl add and 10", steps[0].command, lines)
	}
}
