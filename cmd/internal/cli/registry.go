package cli

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
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/args"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/scaffold"
)

// registryTry is how long one try of a registry may take; a shorter --timeout
// shortens it.
const registryTry = 30 * time.Second

// registry returns the client of the configured registry.
func (env *environment) registry() (*registry.Client, error) {
	try := registryTry
	if t := env.settings.Timeout; t > 0 {
		try = min(try, t)
	}
	return registry.New(registry.Options{
		BaseURL: env.settings.Registry, Logger: env.log, TryTimeout: try,
		UserAgent: "mcpctl/" + buildVersion().Version,
	})
}

// found is a record and its origin.
type found struct {
	record registry.Record
	notes  []string
	// latest is the registry's latest version, "" if not requested.
	latest string
	// registry is the record's URL, "" for a local document.
	registry string
	official bool
}

// find resolves the argument of add and info: a name in the registry, or a local
// document.
func (env *environment) find(ctx context.Context, arg string, pre bool) (*found, error) {
	if isDocument(arg) {
		return readDocument(arg)
	}
	c, err := env.registry()
	if err != nil {
		return nil, err
	}
	res, err := c.Resolve(ctx, arg, pre)
	if err != nil {
		return nil, err
	}
	return &found{record: res.Record, notes: res.Notes, latest: res.Latest, registry: c.URL(), official: c.Official()}, nil
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

// maxDocument bounds a local document; the largest published one has 37 kB.
const maxDocument = 4 << 20

func readDocument(path string) (*found, error) {
	raw, err := args.ReadFile(path, maxDocument)
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	if err != nil {
		return nil, usagef("read %s: %w", path, err)
	}
	rec, err := registry.ParseRecord(raw)
	if err != nil {
		var syntax *json.SyntaxError
		if jerr := json.Unmarshal(raw, new(any)); errors.As(jerr, &syntax) {
			err = fmt.Errorf("%w (at byte %d)", syntax, syntax.Offset)
		}
		return nil, &Error{Code: exitOther, Err: fmt.Errorf("read %s: %w", path, err), Remedy: "want a server.json document, as in a registry"}
	}
	return &found{record: *rec}, nil
}

// installed returns the registry's servers that are in servers.json; none if that is
// broken, since searching must still work.
func (a *app) installed() map[string]bool {
	out := map[string]bool{}
	f, err := a.loadConfig()
	if err != nil {
		a.log.Debug("servers.json not read", "err", err)
		return out
	}
	for _, e := range f.Entries() {
		if e.Origin != nil {
			out[e.Origin.Name] = true
		}
	}
	return out
}

// planFor returns the plan of a record.
func (f *found) planFor(o scaffold.Options) (*scaffold.Plan, error) {
	o.Registry, o.OfficialRegistry = f.registry, f.official
	p, err := scaffold.New(f.record.Server, o)
	if err != nil {
		return nil, err
	}
	p.Warnings = append(slices.Clone(f.notes), p.Warnings...)
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

// describeRecord returns one line about a record, for a list to choose from.
func describeRecord(r *registry.Record) string {
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

// nonNil returns an empty list for nil, so that JSON has [] and not null.
func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// originOrNil returns an entry's origin for JSON, nil if it has none.
func originOrNil(o config.Origin) *config.Origin {
	if o.Registry == "" {
		return nil
	}
	return &o
}
