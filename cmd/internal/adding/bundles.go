package adding

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/bundle"
	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/scaffold"
)

// bundles are those that one command has read, each once.
type bundles struct {
	store *bundle.Store // nil refuses bundles

	mu   sync.Mutex // of what follows
	read []*bundle.Bundle
	from []registry.Package
}

// reader returns how package scaffold gets what a bundle runs, with the user's arguments.
func (b *bundles) reader(ctx context.Context, args []scaffold.InputValue) func(registry.Package) (*scaffold.Bundle, error) {
	if b.store == nil {
		return nil
	}
	given := func(name string) bool {
		return slices.ContainsFunc(args, func(a scaffold.InputValue) bool { return a.Name == name })
	}
	return func(p registry.Package) (*scaffold.Bundle, error) {
		of := b.find(p)
		if of == nil {
			var err error
			if of, err = b.store.Open(ctx, p); err != nil {
				return nil, err
			}
			b.add(p, of)
		}
		return of.Scaffold(given), nil
	}
}

// find returns a bundle that was read, nil for none.
func (b *bundles) find(p registry.Package) *bundle.Bundle {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, from := range b.from {
		if from.Identifier == p.Identifier && from.FileSHA256 == p.FileSHA256 {
			return b.read[i]
		}
	}
	return nil
}

func (b *bundles) add(p registry.Package, of *bundle.Bundle) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.from, b.read = append(b.from, p), append(b.read, of)
}

// file reads a bundle that the user names.
func (b *bundles) file(path string) (*Found, error) {
	of, err := b.store.OpenFile(path)
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, ui.Usage("read %s: %w", path, pe.Err)
	}
	if err != nil {
		return nil, &ui.Error{Kind: "other", Err: err, Remedy: path + " has to be a bundle (mcpb): a ZIP archive with a manifest.json"}
	}
	s := of.Record(path)
	b.add(s.Packages[0], of)
	return &Found{Record: registry.Record{Server: s}}, nil
}

// install unpacks the bundle that an entry is started in, if it is one.
func (b *bundles) install(ctx context.Context, config string, entry json.RawMessage) error {
	of := b.startedIn(entry)
	if of == nil {
		return nil
	}
	if err := of.Use(ctx, config); err != nil {
		return err
	}
	return of.Install()
}

// holds reports whether a program is one of a bundle.
func (b *bundles) holds(program string) bool { return b.store != nil && b.store.Holds(program) }

// startedIn returns the bundle of an entry, nil for none.
func (b *bundles) startedIn(entry json.RawMessage) *bundle.Bundle {
	var of struct{ Cwd string }
	if json.Unmarshal(entry, &of) != nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, read := range b.read {
		if strings.ReplaceAll(of.Cwd, "$$", "$") == read.Dir() {
			return read
		}
	}
	return nil
}

// close removes what was downloaded, and folders that no entry names.
func (b *bundles) close(ctx context.Context) {
	for _, of := range b.read {
		_ = of.Close() // a temporary file that stays costs nothing but space
	}
	if b.store != nil {
		_ = b.store.Prune(context.WithoutCancel(ctx)) // the next command tries again
	}
}

// isBundle reports whether an argument of add is the file of a bundle: .dxt is its older name.
func isBundle(arg string) bool {
	return slices.Contains([]string{".mcpb", ".dxt"}, strings.ToLower(filepath.Ext(arg))) && !strings.Contains(arg, "://")
}
