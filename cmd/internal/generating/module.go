package generating

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"github.com/mcpctl/mcpctl/internal/atomicfile"
)

// maxModule is the greatest size of a go.mod, in bytes: Go's own bound for
// downloads.
const maxModule = 16 << 20

// Module is the place of a directory in a Go module.
type Module struct {
	ImportPath string // "" if the package cannot be imported
	Why        string // what to do about that
	Lacks      bool   // the go.mod does not require mcpctl, nor is it mcpctl's own
}

// FindModule finds the nearest go.mod above a directory, which need not exist.
func FindModule(dir string) (Module, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Module{}, err
	}
	for root := abs; ; root = filepath.Dir(root) {
		file := filepath.Join(root, "go.mod")
		data, err := atomicfile.Read(file, maxModule)
		switch {
		case errors.Is(err, fs.ErrNotExist), isNotDir(err):
			if filepath.Dir(root) == root {
				return Module{Why: "it imports the client, and there is no go.mod above " + dir + ": go mod init makes one"}, nil
			}
			continue
		case err != nil:
			return Module{}, err
		}
		name := modfile.ModulePath(data)
		if name == "" {
			return Module{}, fmt.Errorf("%s names no module", file)
		}
		rel, err := filepath.Rel(root, abs)
		if err != nil {
			return Module{}, err
		}
		imported := path.Join(name, filepath.ToSlash(rel))
		if err := module.CheckImportPath(imported); err != nil {
			return Module{Why: fmt.Sprintf("it imports the client, which is in a folder that cannot be imported (%v): choose a folder with --out", err)}, nil
		}
		return Module{ImportPath: imported, Lacks: !requires(file, data)}, nil
	}
}

// isNotDir reports whether an error means a file in place of a directory; writing the
// package reports it.
func isNotDir(err error) bool {
	var failed *fs.PathError
	if !errors.As(err, &failed) {
		return false
	}
	info, err := os.Stat(filepath.Dir(failed.Path))
	return err == nil && !info.IsDir()
}

// requires reports whether a go.mod has the module that generated packages import.
func requires(file string, data []byte) bool {
	const own = "github.com/mcpctl/mcpctl"
	f, err := modfile.ParseLax(file, data, nil)
	if err != nil || f.Module != nil && f.Module.Mod.Path == own {
		return true // Go says what is wrong
	}
	return slices.ContainsFunc(f.Require, func(r *modfile.Require) bool { return r.Mod.Path == own })
}
