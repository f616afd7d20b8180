package gogen

import (
	"fmt"
	"slices"
	"strings"

	runtimeschema "github.com/mcpctl/mcpctl/runtime/schema"
	modelbuild "github.com/mcpctl/mcpctl/scaffold/gogen/internal/build"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/drift"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/emit"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/model"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/names"
)

type (
	// Change is one difference between two states of a server; see [drift.Change].
	Change = drift.Change
	// Class is what a change does.
	Class = drift.Class
	// Counts are the numbers of changes by class.
	Counts = drift.Counts
)

// The classes of changes.
const (
	WireBreaking   = drift.Wire
	SourceBreaking = drift.Source
	Compatible     = drift.Compatible
)

// CountChanges counts by class.
func CountChanges(changes []Change) Counts { return drift.Count(changes) }

// Changes returns what changed from the state in one lock file to that in
// another, the worst first. Effects on Go code are found by generating the tools
// and prompts concerned from both; decimals is as in [Input].
func Changes(old, now *Lock, decimals bool) ([]Change, error) {
	changes, err := drift.Compare(old.surface(), now.surface())
	if err != nil {
		return nil, fmt.Errorf("compare with the lock file: %w", err)
	}
	if changes == nil {
		return nil, nil
	}
	var touched []drift.Place
	for i := range changes {
		touched = append(touched, changes[i].Where())
	}
	before, err := old.part(touched, decimals)
	if err != nil {
		return nil, err
	}
	after, err := now.part(touched, decimals)
	if err != nil {
		return nil, err
	}
	var effects []drift.Effect
	for _, b := range drift.Breaks(before.api, after.api) {
		effects = append(effects, drift.Effect{Place: before.place(b.Name), Text: b.String()})
	}
	return drift.AddEffects(changes, effects), nil
}

func (l *Lock) surface() drift.Surface {
	return drift.Surface{
		Implementation: l.Implementation, Protocol: l.Protocol,
		Tools: l.Tools, Prompts: l.Prompts, Resources: l.Resources, Templates: l.Templates,
	}
}

// goPart is a part of the package of a lock file.
type goPart struct {
	api    drift.API
	places map[string]drift.Place
}

// part generates the tools, prompts, resources and templates at the places,
// under the names of the lock file.
func (l *Lock) part(places []drift.Place, decimals bool) (*goPart, error) {
	in := modelbuild.Input{Package: "p", Decimals: decimals}
	in.Tools = changedEntries(places, drift.KindTool, l.Tools)
	in.Prompts = changedEntries(places, drift.KindPrompt, l.Prompts)
	in.Resources = changedEntries(places, drift.KindResource, l.Resources)
	in.Templates = changedEntries(places, drift.KindTemplate, l.Templates)
	m := modelbuild.Build(in)
	if _, err := names.Resolve(m, names.Options{Locked: l.Names}); err != nil {
		return nil, err
	}
	files, err := emit.Package(m, emit.Options{})
	if err != nil {
		return nil, err
	}
	data := make([][]byte, len(files))
	for i, f := range files {
		data[i] = f.Data
	}
	p := &goPart{places: placesByName(m)}
	p.api, err = drift.APIOf(data)
	return p, err
}

// changedEntries returns the entries of a list of a kind that are at the places.
func changedEntries[T any](places []drift.Place, kind string, list []T) []T {
	var out []T
	for i, e := range drift.Entries(list) {
		if slices.ContainsFunc(places, func(p drift.Place) bool { return p.Kind == kind && p.Name == e.Key }) {
			out = append(out, list[i])
		}
	}
	return out
}

// place returns what an exported name stands for.
func (p *goPart) place(name string) drift.Place {
	if at, ok := p.places[name]; ok {
		return at
	}
	of, member, _ := strings.Cut(name, ".")
	if at, ok := p.places[of]; ok {
		return at
	}
	return p.places[member]
}

// placesByName returns what the names of methods, types, fields, constants and
// constructors stand for.
func placesByName(m *model.Package) map[string]drift.Place {
	out := map[string]drift.Place{}
	owner := map[*model.Decl]drift.Place{}
	for _, t := range m.Tools {
		out["Client."+t.GoName] = drift.Place{Kind: drift.KindTool, Name: t.Name}
		owner[t.Params] = drift.Place{Kind: drift.KindTool, Name: t.Name, Pointer: "/inputSchema"}
		owner[t.Result] = drift.Place{Kind: drift.KindTool, Name: t.Name, Pointer: "/outputSchema"}
	}
	for _, p := range m.Prompts {
		out["Client."+p.GoName] = drift.Place{Kind: drift.KindPrompt, Name: p.Name}
		owner[p.Params] = drift.Place{Kind: drift.KindPrompt, Name: p.Name, Pointer: "/arguments"}
	}
	for _, r := range m.Resources {
		out["Client."+r.GoName] = drift.Place{Kind: drift.KindResource, Name: r.URI}
	}
	for _, t := range m.Templates {
		out["Client."+t.GoName] = drift.Place{Kind: drift.KindTemplate, Name: t.URITemplate}
		owner[t.Params] = drift.Place{Kind: drift.KindTemplate, Name: t.URITemplate}
	}
	for _, d := range m.Decls {
		at, top := owner[d]
		if !top {
			at = drift.Place{Kind: drift.KindTool, Name: d.Tool, Pointer: strings.TrimPrefix(d.Key, names.Key("tools", d.Tool, ""))}
		}
		for _, name := range []string{d.Name, "New" + d.Name, d.Name + "Arm", d.Name + "Unknown"} {
			if _, ok := out[name]; !ok || name == d.Name {
				out[name] = at
			}
		}
		for _, f := range d.Fields {
			field := at
			switch {
			case at.Kind == drift.KindPrompt:
				field.Pointer = runtimeschema.Pointer(field.Pointer, f.JSON)
			case d.Form == model.Tuple:
				field.Pointer += "/prefixItems/" + f.JSON
			default:
				field.Pointer = runtimeschema.Pointer(field.Pointer+"/properties", f.JSON)
			}
			out[d.Name+"."+f.Name] = field
			if f.DefaultName != "" {
				out[f.DefaultName] = field
			}
		}
		for _, v := range d.Values {
			out[v.Name] = at
		}
	}
	return out
}
