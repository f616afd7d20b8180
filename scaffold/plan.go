package scaffold

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/plain"
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
	Env, Args, Vars, Headers []InputValue
	// Force allows what is refused for being dangerous rather than broken.
	Force bool
	// Registry is the URL of the registry for the entry's origin; "" for a document
	// from elsewhere.
	Registry string
	// Bundle reads the manifest of a bundle (mcpb) that a package names. Nil refuses bundles:
	// what one runs is known only from within.
	Bundle func(registry.Package) (*Bundle, error)
	// OfficialRegistry is set where packages are in their types' public places
	// whatever the record says (the public registry allows nothing else).
	OfficialRegistry bool
}

// Bundle is what the manifest of a bundle says to run.
type Bundle struct {
	// Command is the program. The arguments and variables of Package are its own.
	Command string
	Package registry.Package
	// Dir is the folder of the unpacked bundle, in which the program is started.
	Dir string
	// Elsewhere says why it does not run on this machine, "" if it does.
	Elsewhere string
}

// AnyRemote selects a remote instead of a package.
const AnyRemote = -1

// InputValue is a value for one input.
type InputValue struct {
	Name  string
	Value string
	// Placeholder is set for a placeholder instead of a value: --env NAME.
	Placeholder bool
}

// Text returns the value as it stands in an entry.
func (g InputValue) Text() string {
	if g.Placeholder {
		return "${" + g.Name + "}"
	}
	return g.Value
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
	// Findings are the warnings with their rules, but for those about what the registry
	// sent in a wrong form.
	Findings []Finding
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
		vars:  map[string]variable{}, envVars: map[string]string{}, outer: map[string]bool{}, taken: map[givenKey]bool{}, argVals: map[string]value{}, holes: map[string]inputID{},
	}}
	b.plan.Alias = b.alias
	b.plan.Origin = config.Origin{Registry: o.Registry, Name: server.Name, Version: server.Version}
	if reason := tooMany(&server); reason != "" {
		return nil, &RefusedError{Name: server.Name, Version: server.Version, Reasons: []string{reason}, Findings: []Finding{{Rule: RuleTooMany, Text: reason, Refused: true}}}
	}
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
		return nil, &RefusedError{Name: server.Name, Version: server.Version, Reasons: b.refusals, Findings: b.plan.Findings, Force: b.forceable && !o.Force}
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

// Bounds of a record, far above any that is published.
const (
	maxChoices = 100  // packages and remotes
	maxInputs  = 5000 // in all of them
)

// tooMany returns why a record is out of these bounds, "" if it is not.
func tooMany(s *registry.Server) string {
	n := 0
	remote := func(r *registry.Remote) { n += variables(r.Headers) + variables(r.Variables) }
	for i := range s.Packages {
		p := &s.Packages[i]
		n += variables(p.EnvironmentVariables)
		for _, a := range slices.Concat(p.RuntimeArguments, p.PackageArguments) {
			n += 1 + variables(a.Variables)
		}
		remote(&p.Transport)
	}
	for i := range s.Remotes {
		remote(&s.Remotes[i])
	}
	switch choices := len(s.Packages) + len(s.Remotes); {
	case choices > maxChoices:
		return fmt.Sprintf("it has %d packages and remotes, more than %d", choices, maxChoices)
	case n > maxInputs:
		return fmt.Sprintf("it has %d inputs, more than %d", n, maxInputs)
	}
	return ""
}

// variables counts inputs and their variables.
func variables(list []registry.KeyValueInput) int {
	n := len(list)
	for _, in := range list {
		n += len(in.Variables)
	}
	return n
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
	argVals map[string]value   // argument name or hint to its value
	holes   map[string]inputID // placeholder name to the input that has it
}

// builder writes the entry.
type builder struct {
	inputs
	pkg     *registry.Package // the chosen one, nil for a remote
	ownCode bool              // it is a bundle, whose variables are for its own code
	command string
	args    []string
	env     pairs
	cwd     string
	url     string
	kind    string // the entry's type, "" for the usual one
	headers pairs
}

type pair struct{ name, text string }

func (b *draft) warn(r Rule, s string) {
	if !slices.Contains(b.plan.Warnings, s) {
		b.plan.Warnings = append(b.plan.Warnings, s)
		b.plan.Findings = append(b.plan.Findings, Finding{Rule: r, Text: s})
	}
}

// refuseNUL refuses a record with a NUL character, which no argument, variable
// or header can hold and which marks the user's text here (see [userPart]).
func (b *draft) refuseNUL(c *candidate) bool {
	text, err := json.Marshal([]any{c.pkg, c.remote})
	if err != nil || bytes.Contains(bytes.ReplaceAll(text, []byte(`\\`), nil), []byte(`\u0000`)) {
		b.refuse(RuleNUL, "it holds a NUL character")
		return true
	}
	return false
}

// refuse adds a reason that nothing overrides.
func (b *draft) refuse(r Rule, reason string) {
	b.forceable = false
	b.add(Finding{Rule: r, Text: reason, Refused: true})
}

// add adds a reason for a refusal, each once.
func (b *draft) add(f Finding) {
	if !slices.Contains(b.refusals, f.Text) {
		b.refusals = append(b.refusals, f.Text)
		b.plan.Findings = append(b.plan.Findings, f)
	}
}

// danger adds a reason that --force overrides.
func (b *draft) danger(r Rule, reason string) {
	if b.o.Force {
		b.warn(r, reason+"; allowed by --force")
		return
	}
	if len(b.refusals) == 0 {
		b.forceable = true
	}
	b.add(Finding{Rule: r, Text: reason, Refused: true, Force: true})
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

// entry returns the JSON object.
func (b *builder) entry() (json.RawMessage, error) {
	e := struct {
		Type    string         `json:"type,omitempty"`
		URL     string         `json:"url,omitempty"`
		Headers pairs          `json:"headers,omitempty"`
		Command string         `json:"command,omitempty"`
		Args    []string       `json:"args,omitempty"`
		Env     pairs          `json:"env,omitempty"`
		Cwd     string         `json:"cwd,omitempty"`
		Origin  *config.Origin `json:"origin,omitempty"`
	}{Type: b.kind, URL: b.url, Headers: b.headers, Command: b.command, Args: b.args, Env: b.env, Cwd: b.cwd}
	if b.o.Registry != "" {
		e.Origin = &b.plan.Origin
	}
	return plain.JSON(e)
}

// pairs is a JSON object that keeps its order.
type pairs []pair

// MarshalJSON returns the pairs as members.
func (p pairs) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, kv := range p {
		if i > 0 {
			out = append(out, ',')
		}
		name, err := plain.JSON(kv.name)
		if err != nil {
			return nil, err
		}
		text, err := plain.JSON(kv.text)
		if err != nil {
			return nil, err
		}
		out = slices.Concat(out, name, []byte{':'}, text)
	}
	return append(out, '}'), nil
}
