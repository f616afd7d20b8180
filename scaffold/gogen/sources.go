package gogen

import (
	"bytes"
	"cmp"
	"fmt"
	goruntime "runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/codegen"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/build"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/drift"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/model"
)

// source is one entry of a list in its canonical form, whatever the order of
// members and the spelling of numbers.
type source[T any] struct {
	key       string
	value     T
	canonical []byte
}

// sorted returns the entries of a list in the order of their keys, each once.
func sorted[T any](list []T, what string) ([]source[T], error) {
	out := make([]source[T], 0, len(list))
	for _, v := range list {
		e, err := drift.EntryOf(&v)
		s := source[T]{key: e.Key, value: v}
		if err == nil {
			s.canonical, err = codegen.Canonical(e.Raw)
		}
		if err != nil {
			return nil, entryError(what, e.Key, err.Error())
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b source[T]) int {
		return cmp.Or(cmp.Compare(a.key, b.key), bytes.Compare(a.canonical, b.canonical))
	})
	out = slices.CompactFunc(out, func(a, b source[T]) bool { return a.key == b.key && bytes.Equal(a.canonical, b.canonical) })
	return out, nil
}

// unique is sorted with one of the entries of each key, as all of them lead to
// the same. It warns of each key that has several.
func unique[T any](list []T, what string, warnings *[]Warning) ([]source[T], error) {
	all, err := sorted(list, what)
	var out []source[T]
	for _, s := range all {
		if n := len(out); n == 0 || out[n-1].key != s.key {
			out = append(out, s)
			continue
		}
		w := Warning{Reason: "the server lists the " + what + " " + s.key + " in different ways; one is taken"}
		if !slices.Contains(*warnings, w) {
			*warnings = append(*warnings, w)
		}
	}
	return out, err
}

func entryError(what, key, reason string) error {
	if what == "tool" {
		return &Error{Tool: key, Reason: reason}
	}
	return &Error{Reason: fmt.Sprintf("%s %q: %s", what, key, reason)}
}

// sources are all lists, sorted.
type sources struct {
	tools     []source[runtime.Tool]
	prompts   []source[runtime.Prompt]
	resources []source[runtime.Resource]
	templates []source[runtime.ResourceTemplate]
	warnings  []Warning
	digests   map[string]lockDigest // of the tools, by name; set by model
}

func (in *Input) sortSources() (*sources, error) {
	var s sources
	var err error
	if s.tools, err = sorted(in.Tools, "tool"); err != nil {
		return nil, err
	}
	for i := 1; i < len(s.tools); i++ {
		if s.tools[i].key == s.tools[i-1].key {
			return nil, entryError("tool", s.tools[i].key, "the server lists two different tools of this name")
		}
	}
	if s.prompts, err = unique(in.Prompts, "prompt", &s.warnings); err != nil {
		return nil, err
	}
	if s.resources, err = unique(in.Resources, "resource", &s.warnings); err != nil {
		return nil, err
	}
	if s.templates, err = unique(in.Templates, "resource template", &s.warnings); err != nil {
		return nil, err
	}
	return &s, nil
}

func values[T any](list []source[T]) []T {
	out := make([]T, len(list))
	for i := range list {
		out[i] = list[i].value
	}
	return out
}

// model returns the model, with digests.
func (s *sources) model(in *Input) (*model.Package, error) {
	implementation := in.Implementation.Name
	if implementation != "" && in.Implementation.Version != "" {
		implementation += " "
	}
	p := build.Build(build.Input{
		Package: in.Package, Server: in.Server, Implementation: implementation + in.Implementation.Version, Protocol: in.Protocol,
		Tools: values(s.tools), Prompts: values(s.prompts), Resources: values(s.resources), Templates: values(s.templates),
		Decimals: in.Decimals,
	})
	digests := make([]codegen.ToolDigests, len(p.Tools))
	var g errgroup.Group
	g.SetLimit(goruntime.GOMAXPROCS(0))
	for i, t := range p.Tools {
		g.Go(func() error {
			d, err := codegen.DigestTool(s.tools[i].canonical)
			if err != nil {
				return entryError("tool", t.Name, err.Error())
			}
			t.Digest, digests[i] = d.Structure, d
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	s.digests = make(map[string]lockDigest, len(p.Tools))
	for i, d := range digests {
		s.digests[s.tools[i].key] = lockDigest(d)
	}
	p.Digest = s.digest()
	return p, nil
}

// digest returns the digest of all that is generated from.
func (s *sources) digest() string {
	var all []byte
	add := func(kind string, canonical []byte) {
		all = append(append(append(append(all, kind...), ' '), canonical...), '\n')
	}
	for _, e := range s.tools {
		add("tool", e.canonical)
	}
	for _, e := range s.prompts {
		add("prompt", e.canonical)
	}
	for _, e := range s.resources {
		add("resource", e.canonical)
	}
	for _, e := range s.templates {
		add("template", e.canonical)
	}
	return codegen.Digest(all)
}
