package adding

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/args"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/scaffold"
)

// Found is a record and its origin.
type Found struct {
	Record registry.Record
	Notes  []string
	// Latest is the registry's latest version, "" if not requested.
	Latest string
	// Registry is the record's URL, "" for a local document.
	Registry string
	Official bool
	// Several says that there are several registries, so that it matters which one it is.
	Several bool
}

// Find resolves the argument of add and info: a local document, or a name, which
// inRegistry finds.
func Find(ctx context.Context, inRegistry func(ctx context.Context, arg string, pre bool) (*Found, error), arg string, pre bool) (*Found, error) {
	if isBundle(arg) {
		return nil, ui.Usage("%s is a bundle (mcpb), and not a record", arg).WithHint("mcpctl add %s --dry-run shows what it would run", arg)
	}
	if isDocument(arg) {
		return readDocument(arg)
	}
	return inRegistry(ctx, arg, pre)
}

// isDocument reports whether an argument is a path and not a server's name: it begins
// with "./", "../", "/" or a drive, or is a JSON file that exists.
func isDocument(arg string) bool {
	slashed := filepath.ToSlash(arg)
	if strings.HasPrefix(slashed, "./") || strings.HasPrefix(slashed, "../") || filepath.IsAbs(arg) {
		return true
	}
	if !strings.HasSuffix(strings.ToLower(arg), ".json") {
		return false
	}
	info, err := os.Stat(arg)
	return err == nil && info.Mode().IsRegular()
}

// MaxDocument bounds a local document; the largest published one has 37 kB.
const MaxDocument = 4 << 20

func readDocument(path string) (*Found, error) {
	raw, err := args.ReadFile(path, MaxDocument)
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	if err != nil {
		return nil, ui.Usage("read %s: %w", path, err)
	}
	rec, err := registry.ParseRecord(raw)
	if err != nil {
		var syntax *json.SyntaxError
		if jerr := json.Unmarshal(raw, new(any)); errors.As(jerr, &syntax) {
			err = fmt.Errorf("%w (at byte %d)", syntax, syntax.Offset)
		}
		return nil, &ui.Error{Kind: "other", Err: fmt.Errorf("read %s: %w", path, err), Remedy: "want a server.json document, as in a registry"}
	}
	return &Found{Record: *rec}, nil
}

// Plan returns the plan of a record.
func (f *Found) Plan(o scaffold.Options) (*scaffold.Plan, error) {
	o.Registry, o.OfficialRegistry = f.Registry, f.Official
	p, err := scaffold.New(f.Record.Server, o)
	if err != nil {
		return nil, err
	}
	p.Warnings = append(slices.Clone(f.Notes), p.Warnings...)
	return p, nil
}

// packageTypes and remoteTypes return the types of a record, each once.
func packageTypes(s *registry.Server) []string {
	return distinct(s.Packages, func(p registry.Package) string { return p.RegistryType })
}

func remoteTypes(s *registry.Server) []string {
	return distinct(s.Remotes, func(r registry.Remote) string { return r.Type })
}

// distinct returns the texts of a list that are not empty, each once.
func distinct[T any](list []T, text func(T) string) []string {
	out := []string{}
	for _, item := range list {
		if t := text(item); t != "" && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// typesOf returns both for display.
func typesOf(s *registry.Server) string {
	types := packageTypes(s)
	if len(s.Remotes) > 0 {
		types = append(types, "remote")
	}
	return strings.Join(types, ",")
}

// Line returns one line about a record, for a list to choose from.
func Line(r *registry.Record) string {
	s := r.Server.Name + "  " + r.Server.Version
	if r.Meta.Status != registry.Active {
		s += "  " + string(r.Meta.Status)
	}
	if t := typesOf(&r.Server); t != "" {
		s += "  [" + t + "]"
	}
	if title := r.Server.Title; title != "" {
		s += "  " + title
	} else if r.Server.Description != "" {
		s += "  " + r.Server.Description
	}
	return ui.CleanLine(s)
}

// NonNil returns an empty list for nil, so that JSON has [] and not null.
func NonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
