package support_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"
)

// source is one type-checked package of the module.
type source struct {
	path  string
	types *types.Package
	info  *types.Info
	files []*ast.File
	names []string // of the files
	texts [][]byte
	order int // in which it was loaded: what it imports comes first
}

// loader type-checks packages of a module from source, each once, and loads
// others for their types only.
type loader struct {
	module, root string
	fset         *token.FileSet
	others       types.Importer
	loaded       map[string]*source
}

func newLoader(module, root string) *loader {
	fset := token.NewFileSet()
	return &loader{module: module, root: root, fset: fset, others: importer.ForCompiler(fset, "source", nil), loaded: map[string]*source{}}
}

// own reports whether a package belongs to the module.
func (l *loader) own(path string) bool { return strings.HasPrefix(path, l.module+"/") }

// Import implements [types.Importer].
func (l *loader) Import(path string) (*types.Package, error) {
	if !l.own(path) {
		return l.others.Import(path)
	}
	s, err := l.load(path)
	if err != nil {
		return nil, err
	}
	return s.types, nil
}

func (l *loader) load(path string) (*source, error) {
	if s := l.loaded[path]; s != nil {
		return s, nil
	}
	dir := filepath.Join(l.root, filepath.FromSlash(strings.TrimPrefix(path, l.module+"/")))
	p, err := build.ImportDir(dir, 0)
	if err != nil {
		return nil, err
	}
	s := &source{path: path, info: &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}}
	for _, name := range p.GoFiles {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		f, err := parser.ParseFile(l.fset, filepath.Join(dir, name), text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		s.files, s.names, s.texts = append(s.files, f), append(s.names, name), append(s.texts, text)
	}
	var failed []error
	conf := types.Config{Importer: l, Error: func(err error) { failed = append(failed, err) }}
	s.types, _ = conf.Check(path, l.fset, s.files, s.info)
	if len(failed) > 0 {
		return nil, fmt.Errorf("%s: %w", path, errors.Join(failed...))
	}
	s.order = len(l.loaded)
	l.loaded[path] = s
	return s, nil
}
