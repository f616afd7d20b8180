// Package upgrade makes the entry of one version of a server that of a newer one. What the
// user has edited stays: the entry is merged with what package scaffold makes of the two
// records.
//
// An entry says which record it was made of, and nothing of the choices that were made
// then. They are read off the entry: which package or remote it runs, and which values were
// filled in.
//
// The merge of two changes of one JSON object measures both against the text that both began
// with, and knows nothing of what the members mean. The package does no I/O.
package upgrade

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/scaffold"
)

// Options are decisions about an upgrade.
type Options struct {
	// Registry and OfficialRegistry are as in [scaffold.Options].
	Registry         string
	OfficialRegistry bool
	// Force allows what the newer record is refused for as dangerous.
	Force bool
	// Prefer is whose value counts in a conflict.
	Prefer Side
	// Bundle is that of [scaffold.Options].
	Bundle func(registry.Package) (*scaffold.Bundle, error)
	// Values are values of new inputs: Env, Args, Vars and Headers.
	Values scaffold.Options
}

// Upgrade is an entry of a newer version.
type Upgrade struct {
	// Entry is the merged entry.
	Entry json.RawMessage
	// Plan is what add would write for the newer record, with the choices and values of the
	// entry. Its warnings are those of the newer record alone.
	Plan *scaffold.Plan
	// Package is the package that the plan runs, nil for a remote.
	Package *registry.Package
	// Conflicts are what the user and the publisher have both changed.
	Conflicts []Conflict
	// Required are the placeholders that the entry did not have before.
	Required []scaffold.Requirement
	// Guessed reports that the older record was not known, so that nothing but the version
	// can have changed.
	Guessed bool

	secrets []string
}

// GoneError says that a newer record has nothing like what an entry runs.
type GoneError struct {
	// What is such as "npm package".
	What string
}

// Error says what is missing.
func (e *GoneError) Error() string { return "the new version has no " + e.What }

// New upgrades an entry from a record to a newer one. old may be nil. The errors are those
// of [scaffold.New] for the newer record, and [*GoneError].
func New(old, now *registry.Server, entry config.Entry, o Options) (*Upgrade, error) {
	u := &upgrading{entry: entry, o: o, texts: textsOf(entry.Raw)}
	var err error
	if old == nil {
		err = u.guess(now)
	} else {
		err = u.plan(old, now)
	}
	if err != nil {
		return nil, err
	}
	merged, err := Objects(u.moved(u.base.Entry), u.moved(entry.Raw), u.theirs.Entry, o.Prefer)
	if err != nil {
		return nil, err
	}
	out := &Upgrade{Entry: merged.Object, Plan: u.theirs, Package: u.pick.packageOf(now), Conflicts: merged.Conflicts, Guessed: old == nil, secrets: u.secrets()}
	texts := textsOf(merged.Object)
	for _, r := range u.theirs.Required {
		if mentions(texts, r.Name) && !mentions(u.texts, r.Name) {
			out.Required = append(out.Required, r)
		}
	}
	return out, nil
}

// upgrading is one upgrade.
type upgrading struct {
	entry config.Entry
	texts []string // of the entry
	o     Options
	pick  pick // what of the newer record
	// base and theirs are what add writes for the older and the newer record.
	base, theirs *scaffold.Plan
	// hidden are the secret inputs of both records.
	hidden hidden
	// filled are the values of secret inputs.
	filled []string
}

// options returns those of scaffold for a record.
func (u *upgrading) options(p pick, force bool) scaffold.Options {
	o := scaffold.Options{Alias: u.entry.Name, Registry: u.o.Registry, OfficialRegistry: u.o.OfficialRegistry, Force: force, Bundle: u.o.Bundle}
	p.choose(&o)
	return o
}

// plan makes both plans, with those values of the entry that both records take.
func (u *upgrading) plan(old, now *registry.Server) error {
	from, bare, err := u.running(old)
	if err != nil {
		return err
	}
	if u.pick, err = from.in(old, now); err != nil {
		return err
	}
	u.hidden.add(old, from)
	u.hidden.add(now, u.pick)
	if err := u.newer(now, scaffold.Options{}); err != nil {
		return err
	}
	u.base = bare
	return u.newer(now, u.taken(old, from, now, u.values(bare)))
}

// newer makes the plan of the newer record with some values. Its warnings stay those that
// it had at first, without any.
func (u *upgrading) newer(now *registry.Server, mine scaffold.Options) error {
	o := u.options(u.pick, u.o.Force)
	addValues(&o, u.o.Values)
	addValues(&o, mine)
	plan, err := scaffold.New(*now, o)
	if err != nil {
		return err
	}
	if u.theirs != nil {
		plan.Warnings = u.theirs.Warnings
	}
	u.theirs = plan
	return nil
}

// taken returns the values that both records take, and that make of the older one an entry
// that is more like the user's; u.base has them then. Others stay with the merge.
func (u *upgrading) taken(old *registry.Server, from pick, now *registry.Server, all scaffold.Options) scaffold.Options {
	var out scaffold.Options
	try := func(one scaffold.Options) {
		o, newer := u.options(from, true), u.options(u.pick, u.o.Force)
		addValues(&o, out)
		addValues(&o, one)
		addValues(&newer, one)
		plan, err := scaffold.New(*old, o)
		if err != nil || distance(plan.Entry, u.entry.Raw) >= distance(u.base.Entry, u.entry.Raw) {
			return
		}
		if _, err := scaffold.New(*now, newer); err == nil {
			u.base = plan
			addValues(&out, one)
		}
	}
	for i := range all.Env {
		try(scaffold.Options{Env: all.Env[i : i+1]})
	}
	for i := range all.Args {
		try(scaffold.Options{Args: all.Args[i : i+1]})
	}
	for i := range all.Vars {
		try(scaffold.Options{Vars: all.Vars[i : i+1]})
	}
	for i := range all.Headers {
		try(scaffold.Options{Headers: all.Headers[i : i+1]})
	}
	return out
}

// moved returns an entry that runs the older version with the newer one in its place, so
// that the change of version is no conflict with what stands beside it.
func (u *upgrading) moved(raw json.RawMessage) json.RawMessage {
	from, to := config.Escape(u.base.Reference), config.Escape(u.theirs.Reference)
	var e struct{ Args []json.RawMessage }
	if json.Unmarshal(raw, &e) != nil || !slices.Contains(u.entry.Args, from) {
		return raw
	}
	for i, arg := range e.Args {
		var text string
		if json.Unmarshal(arg, &text) == nil && text == from {
			e.Args[i] = encode(to)
		}
	}
	return With(raw, "args", encode(e.Args))
}

// guess makes the plan of the newer record and takes for the older one what differs in its
// version alone.
func (u *upgrading) guess(now *registry.Server) error {
	var err error
	if u.pick, _, err = u.running(now); err != nil {
		return err
	}
	u.hidden.add(now, u.pick)
	if err := u.newer(now, scaffold.Options{}); err != nil {
		return err
	}
	base := *u.theirs
	base.Entry, base.Reference = u.older(u.theirs)
	u.base = &base
	return nil
}

// older returns a plan's entry with the package in the version that the entry has now, and
// that package.
func (u *upgrading) older(p *scaffold.Plan) (entry json.RawMessage, reference string) {
	var members map[string]json.RawMessage
	if json.Unmarshal(p.Entry, &members) != nil {
		return p.Entry, p.Reference
	}
	reference = p.Reference
	if o := u.entry.Origin; o != nil {
		members["origin"] = encode(o)
	}
	var args []string
	if json.Unmarshal(members["args"], &args) == nil {
		for i, arg := range args {
			at := slices.IndexFunc(u.entry.Args, func(mine string) bool { return registry.WithoutVersion(mine) == registry.WithoutVersion(arg) })
			if arg == config.Escape(p.Reference) && at >= 0 {
				args[i], reference = u.entry.Args[at], u.entry.Args[at]
			}
		}
		members["args"] = encode(args)
	}
	return encode(members), reference
}

func encode(v any) json.RawMessage {
	raw, _ := plain.JSON(v) // texts and what was decoded
	return raw
}

// distance is how many lines two entries differ in.
func distance(a, b json.RawMessage) int {
	n := 0
	for _, h := range Hunks(lines(a), lines(b)) {
		n += h.End - h.Start + len(h.New)
	}
	return n
}

// lines returns the texts of an entry, each in a line with the names that lead to it.
func lines(raw json.RawMessage) []string {
	var out []string
	visit(raw, "", func(path, text string) { out = append(out, path+"="+text) })
	return out
}

// textsOf returns all texts of an entry but those of its origin.
func textsOf(raw json.RawMessage) []string {
	var out []string
	visit(raw, "", func(path, text string) {
		if !strings.HasPrefix(path, `/"origin"`) {
			out = append(out, text)
		}
	})
	return out
}

func mentions(texts []string, name string) bool {
	return slices.ContainsFunc(texts, func(text string) bool {
		names, _ := config.Variables(text)
		return slices.Contains(names, name)
	})
}
