package scaffold

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// Options are a user's decisions. The zero value leaves all to the rules.
type Options struct {
	// Alias is the entry's name; "" derives one from the server's name (see
	// [Alias]). It is part of the names of placeholders.
	Alias string
	// Package selects a package: a type such as "oci", or its number in the
	// document, counted from 1. "" leaves it to the rules.
	Package string
	// Remote selects a remote by its number, counted from 1, or with [AnyRemote]
	// the best of them; 0 leaves it to the rules. Package and Remote exclude one
	// another.
	Remote int
	// Env, Args, Vars and Headers are values for inputs of the record, in the given
	// order. Their text is written to the entry as it is, so a ${VAR} in it is a
	// placeholder.
	Env, Args, Vars, Headers []Given
	// Force allows what is refused for being dangerous rather than broken.
	Force bool
	// Registry is the URL of the registry for the entry's origin; "" for a document
	// from elsewhere.
	Registry string
	// OfficialRegistry is set where packages are in their types' public places
	// whatever the record says (the public registry allows nothing else).
	OfficialRegistry bool
}

// AnyRemote selects a remote instead of a package.
const AnyRemote = -1

// Given is a value for one input.
type Given struct {
	Name  string
	Value string
	// Placeholder is set for a placeholder instead of a value: --env NAME.
	Placeholder bool
}

// Plan is the entry for a record, and what to know about it.
type Plan struct {
	// Alias is the entry's name. It is valid in form but may be taken.
	Alias string
	// Entry is one object for servers.json, its members in the usual order.
	Entry json.RawMessage
	// Type is the package's registryType, or "remote".
	Type string
	// Reference is what the entry runs or reaches, as exact as in the record: a
	// package with its version, an image, a URL.
	Reference string
	// Required are the placeholders in the entry, in the order of the record.
	Required []Requirement
	// Optional are the inputs that were left out.
	Optional []Option
	// Warnings are sentences for the user.
	Warnings []string
	// Alternatives are the other packages and remotes that could be chosen.
	Alternatives []Alternative
	// Runner is the program that has to be installed, "" for none.
	Runner string
	// Start is the command line, with its environment, that starts the server
	// of an entry that is only a URL; values as in an entry. Nil for others.
	Start    []string
	StartEnv []string
	// StartRequired are the placeholders in Start and StartEnv.
	StartRequired []Requirement
	// Install is a command line to run once before the first use, or nil.
	Install []string
	// Origin names the record.
	Origin config.Origin
}

// Kind is the kind of a record's input, and so the flag for its value.
type Kind string

// The kinds of inputs and their flags.
const (
	KindEnv    Kind = "env"
	KindArg    Kind = "arg"
	KindVar    Kind = "var"
	KindHeader Kind = "header"
)

// Requirement is a placeholder in the entry.
type Requirement struct {
	// Name is the environment variable that holds the value.
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Secret      bool     `json:"secret,omitempty"`
	Format      string   `json:"format,omitempty"`
	Choices     []string `json:"choices,omitempty"`
	// Example is the publisher's example of a value.
	Example string `json:"example,omitempty"`
	// Kind and Input name the record's input.
	Kind  Kind   `json:"kind"`
	Input string `json:"input"`
}

// Flag returns the flag that sets the value at once, such as "--env NAME=VALUE".
func (r Requirement) Flag() string { return "--" + string(r.Kind) + " " + r.Input + "=VALUE" }

// Option is an input that was left out of the entry.
type Option struct {
	// Name is the input's own name.
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Secret      bool     `json:"secret,omitempty"`
	Choices     []string `json:"choices,omitempty"`
	Example     string   `json:"example,omitempty"`
	Kind        Kind     `json:"kind"`
	Input       string   `json:"input"`
}

// Flag returns the flag that adds it.
func (o Option) Flag() string { return "--" + string(o.Kind) + " " + o.Input + "=VALUE" }

// Alternative is something that was not chosen but could be.
type Alternative struct {
	// Type is a registryType or "remote".
	Type      string `json:"type"`
	Reference string `json:"reference"`
	// Flag chooses it.
	Flag string `json:"flag"`
}

// New returns the plan for a record. Errors: [*RefusedError] for a record that
// cannot or must not be added, [*UsageError] for options that do not fit it.
func New(server registry.Server, o Options) (*Plan, error) {
	b := &builder{inputs: inputs{
		draft: draft{srv: &server, o: o, alias: cmp.Or(o.Alias, Alias(server.Name)), plan: &Plan{Warnings: slices.Clone(server.Faults)}},
		vars:  map[string]variable{}, envVars: map[string]string{}, outer: map[string]bool{}, taken: map[givenKey]bool{}, argVals: map[string]value{},
	}}
	b.plan.Alias = b.alias
	b.plan.Origin = config.Origin{Registry: o.Registry, Name: server.Name, Version: server.Version}
	c, err := b.choose()
	if err != nil {
		return nil, err
	}
	b.plan.Type = c.kind
	switch {
	case b.refuseNUL(c):
	case c.remote != nil:
		b.buildRemote(c.remote)
	default:
		b.buildPackage(c.pkg)
	}
	b.checkGiven()
	if len(b.refusals) > 0 {
		return nil, &RefusedError{Name: server.Name, Version: server.Version, Reasons: b.refusals, Force: b.forceable && !o.Force}
	}
	if len(b.usage) > 0 {
		return nil, &UsageError{Reason: strings.Join(b.usage, "; "), Remedy: "mcpctl info " + server.Name + " lists the inputs"}
	}
	b.plan.Entry, err = b.entry()
	if err != nil {
		return nil, err
	}
	b.plan.Required = used(b.needs, b.texts())
	if b.plan.Start != nil {
		b.plan.StartRequired = used(b.needs, slices.Concat(b.plan.Start, b.plan.StartEnv))
	}
	return b.plan, nil
}

// draft is an unfinished plan: what it is made from, and the objections to it.
type draft struct {
	srv   *registry.Server
	o     Options
	alias string
	plan  *Plan

	refusals  []string
	forceable bool // every refusal so far is one that --force allows
	usage     []string
}

// inputs finds the values of a record's inputs.
type inputs struct {
	draft
	vars    map[string]variable // variables of the chosen package or remote, merged by name
	envVars map[string]string   // variable name to placeholder name, where it is not the usual one
	envIn   []registry.KeyValueInput
	outer   map[string]bool // variables that every template may use: those of a remote
	taken   map[givenKey]bool
	needs   []Requirement
	argVals map[string]value // argument name or hint to its value
}

// builder writes the entry.
type builder struct {
	inputs
	pkg     *registry.Package // the chosen one, nil for a remote
	command string
	args    []string
	env     []pair
	url     string
	kind    string // the entry's type, "" for the usual one
	headers []pair
}

type pair struct{ name, text string }

func (b *draft) warn(s string) {
	if !slices.Contains(b.plan.Warnings, s) {
		b.plan.Warnings = append(b.plan.Warnings, s)
	}
}

// refuseNUL refuses a record with a NUL character, which no argument, variable
// or header can hold and which marks the user's text here (see [userPart]).
func (b *draft) refuseNUL(c *candidate) bool {
	text, err := json.Marshal([]any{c.pkg, c.remote})
	if err != nil || bytes.Contains(bytes.ReplaceAll(text, []byte(`\\`), nil), []byte(`\u0000`)) {
		b.refuse("it holds a NUL character")
		return true
	}
	return false
}

// refuse adds a reason that nothing overrides.
func (b *draft) refuse(reason string) {
	b.forceable = false
	b.note(reason)
}

// note adds a reason for a refusal, each once.
func (b *draft) note(reason string) {
	if !slices.Contains(b.refusals, reason) {
		b.refusals = append(b.refusals, reason)
	}
}

// danger adds a reason that --force overrides.
func (b *draft) danger(reason string) {
	if b.o.Force {
		b.warn(reason + "; allowed by --force")
		return
	}
	if len(b.refusals) == 0 {
		b.forceable = true
	}
	b.note(reason)
}

// texts returns all texts of the entry that may hold placeholders.
func (b *builder) texts() []string {
	out := append(slices.Clone(b.args), b.command, b.url)
	for _, p := range slices.Concat(b.env, b.headers) {
		out = append(out, p.text)
	}
	return out
}

// used returns the requirements with a placeholder in one of the texts, one for
// each name, with what is known of it merged.
func used(all []Requirement, texts []string) []Requirement {
	var out []Requirement
	for _, r := range all {
		at := slices.IndexFunc(out, func(o Requirement) bool { return o.Name == r.Name })
		switch {
		case at >= 0:
			out[at].Secret = out[at].Secret || r.Secret
			out[at].Description = cmp.Or(out[at].Description, r.Description)
		case slices.ContainsFunc(texts, func(s string) bool { return mentions(s, r.Name) }):
			out = append(out, r)
		}
	}
	return out
}

func mentions(text, name string) bool {
	names, _ := config.Variables(text)
	return slices.Contains(names, name)
}

// entry writes the JSON object.
func (b *builder) entry() (json.RawMessage, error) {
	var o objectWriter
	if b.url != "" {
		if b.kind != "" {
			o.add("type", b.kind)
		}
		o.add("url", b.url)
		if len(b.headers) > 0 {
			o.add("headers", pairs(b.headers))
		}
	} else {
		o.add("command", b.command)
		if len(b.args) > 0 {
			o.add("args", b.args)
		}
		if len(b.env) > 0 {
			o.add("env", pairs(b.env))
		}
	}
	if b.o.Registry != "" {
		o.add("origin", b.plan.Origin)
	}
	return o.done()
}

// pairs is a JSON object that keeps its order.
type pairs []pair

// MarshalJSON writes the pairs as members.
func (p pairs) MarshalJSON() ([]byte, error) {
	var o objectWriter
	for _, kv := range p {
		o.add(kv.name, kv.text)
	}
	return o.done()
}

// objectWriter writes an object member by member; < > & stay readable.
type objectWriter struct {
	buf bytes.Buffer
	err error
}

func (o *objectWriter) add(name string, v any) {
	if o.buf.Len() == 0 {
		o.buf.WriteByte('{')
	} else {
		o.buf.WriteByte(',')
	}
	o.write(name)
	o.buf.WriteByte(':')
	o.write(v)
}

func (o *objectWriter) write(v any) {
	enc := json.NewEncoder(&o.buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil && o.err == nil {
		o.err = err
	}
	o.buf.Truncate(o.buf.Len() - 1) // the encoder's newline
}

func (o *objectWriter) done() (json.RawMessage, error) {
	if o.buf.Len() == 0 {
		o.buf.WriteByte('{')
	}
	o.buf.WriteByte('}')
	return json.RawMessage(o.buf.Bytes()), o.err
}
