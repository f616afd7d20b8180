package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// bench is a module of its own on disk, with generated packages in it, that
// sees mcpctl's runtime as this checkout has it. Tools that read files by name
// can look at it.
type bench struct {
	dir string
}

// benchModule is its path.
const benchModule = "mcpctl.test/bench"

// newBench makes an empty one in a temporary directory. It has the
// requirements of mcpctl's own module, so that nothing has to be looked up.
func newBench(root string) (*bench, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "mcpctl-bench-")
	if err != nil {
		return nil, err
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return nil, err
	}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		return nil, err
	}
	text := regexp.MustCompile(`(?m)^module .*$`).ReplaceAllString(string(mod), "module "+benchModule)
	text += "\nrequire " + modulePath + " v0.0.0\n\nreplace " + modulePath + " => " + root + "\n"
	b := &bench{dir}
	for name, data := range map[string][]byte{"go.mod": []byte(text), "go.sum": sum} {
		if err := b.write(name, data); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (b *bench) close() { _ = os.RemoveAll(b.dir) }

// write puts a file into it.
func (b *bench) write(name string, data []byte) error {
	at := filepath.Join(b.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		return err
	}
	return os.WriteFile(at, data, 0o600)
}

// complaints runs a tool and returns what it prints where it fails, without the
// name of the directory.
func (b *bench) complaints(ctx context.Context, name string, args ...string) string {
	_, err := output(ctx, b.dir, name, args...)
	if err == nil {
		return ""
	}
	return strings.ReplaceAll(err.Error(), b.dir+string(filepath.Separator), "")
}
