package clitool

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/clihelp"
	"github.com/mcpctl/mcpctl/internal/lazy"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// Members of _meta that tools of this package have.
const (
	// MetaGuessed reports that annotations are guessed from names.
	MetaGuessed = "dev.mcpctl/guessed"
	// MetaCommand are the words that a call of the tool begins with.
	MetaCommand = "dev.mcpctl/command"
	// MetaDryRun in a call asks for the words that it would run, in place of running
	// them.
	MetaDryRun = "dev.mcpctl/dryRun"
	// metaNotExposed in a list of tools are the commands that are not exposed.
	metaNotExposed = "dev.mcpctl/notExposed"
	// MetaExitCode in a result is the code that the program has ended with.
	MetaExitCode = "dev.mcpctl/exitCode"
)

// freeArgs is the argument that holds words of the caller's own.
const freeArgs = "args"

// tool is one tool as it is listed and called.
type tool struct {
	selected
	name      string
	params    []param
	free      bool
	places    *places // nil: none to choose
	endsFlags bool
	splits    bool            // as Found.SplitsValues
	raw       json.RawMessage // the entry of tools/list
}

// param is one member of the arguments: a flag, a positional value, or what the entry's
// own schema has besides, which is a flag of that name.
type param struct {
	name string
	flag *clihelp.Flag
	arg  *clihelp.Arg
}

// builder makes tools of commands.
type builder struct {
	program *Program
	found   *Found
	exposed Exposure
	changes []config.ToolOverride
	places  *places
	names   map[string]bool
}

// tools returns the tools that callers see. A change of a command that the help does not
// have makes a tool, too.
func (b *builder) tools(commands []selected) ([]*tool, error) {
	b.names = map[string]bool{}
	var out []*tool
	used := make([]bool, len(b.changes))
	for _, c := range commands {
		words := strings.Join(slices.Concat(c.Path, c.values), " ")
		i := slices.IndexFunc(b.changes, func(o config.ToolOverride) bool { return strings.Join(strings.Fields(o.Command), " ") == words })
		var change config.ToolOverride
		if i >= 0 {
			used[i], change = true, b.changes[i]
		}
		t, err := b.tool(c, change)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	for i, o := range b.changes {
		if used[i] {
			continue
		}
		words := strings.Fields(o.Command)
		if b.known(words) || slices.ContainsFunc(words, func(w string) bool { return !wordRE().MatchString(w) }) || o.InputSchema == nil {
			continue // it is not exposed, or says too little
		}
		t, err := b.tool(selected{Command: &clihelp.Command{Path: words}, whole: true}, o)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// known reports whether the help has a command, or denies it: a change of the entry
// exposes nothing that its rules do not.
func (b *builder) known(words []string) bool {
	found := false
	walk(&b.found.Root, func(c *clihelp.Command) { found = found || slices.Equal(c.Path, words) })
	deny, err := rules("cliDeny", &b.found.Root, b.exposed.Deny, true)
	_, gone := deniedOf(deny, &clihelp.Command{Path: words})
	return found || err != nil || gone
}

// unfit and unfitParam are what names of tools and of their arguments cannot have.
var (
	unfit      = lazy.Regexp(`[^a-z0-9]+`)
	unfitParam = lazy.Regexp(`[^A-Za-z0-9_.-]+`)
)

// toolName returns a name that no other tool has: the command's words, joined by
// underscores.
func (b *builder) toolName(c selected, wanted string) string {
	words := slices.Concat(c.Path, c.values)
	if len(words) == 0 {
		words = []string{b.program.base()}
	}
	name := strings.Trim(unfit().ReplaceAllString(strings.ToLower(strings.Join(words, "_")), "_"), "_")
	if wanted != "" {
		name = wanted
	}
	return claim(name, b.names)
}

// claim takes a name, with a number where it is taken.
func claim(name string, taken map[string]bool) string {
	own := name
	for i := 2; taken[own]; i++ {
		own = fmt.Sprintf("%s_%d", name, i)
	}
	taken[own] = true
	return own
}

func (b *builder) tool(c selected, change config.ToolOverride) (*tool, error) {
	t := &tool{selected: c, name: b.toolName(c, change.Name), free: b.exposed.FreeArgs && !c.ArgsFirst && !b.chained(c.Path), places: b.places, endsFlags: b.found.EndsFlags, splits: b.found.SplitsValues}
	if c.Unsure && (t.free || b.chained(c.Path)) { // the same words, or the next command
		known := *c.Command
		known.Args, known.Unsure = nil, false
		t.Command = &known
	}
	t.addParams()
	schema := t.schema()
	if change.InputSchema != nil {
		schema = change.InputSchema
		if err := t.addOwn(schema); err != nil {
			return nil, err
		}
	}
	var entry object
	entry.add("name", t.name)
	if change.Title != "" {
		entry.add("title", change.Title)
	}
	if text := description(c.Command, change.Description); text != "" {
		entry.add("description", text)
	}
	entry.add("inputSchema", schema)
	var meta object
	switch guess := guessed(b.program.base(), c.Command); {
	case change.Annotations != nil:
		entry.add("annotations", change.Annotations)
	case guess != "":
		entry.add("annotations", json.RawMessage(guess))
		meta.add(MetaGuessed, true)
	}
	meta.add(MetaCommand, append([]string{b.program.base()}, slices.Concat(c.Path, c.values)...))
	entry.add("_meta", meta.raw())
	t.raw = entry.raw()
	return t, nil
}

// chained reports whether words behind a command could be the next command.
func (b *builder) chained(path []string) bool {
	found := false
	walk(&b.found.Root, func(c *clihelp.Command) {
		found = found || c.Chained && len(c.Path) < len(path) && slices.Equal(c.Path, path[:len(c.Path)])
	})
	return found
}

// guessed returns the annotations of a command, "" for none.
func guessed(tool string, c *clihelp.Command) string {
	switch {
	case reads(tool, c) && !slices.ContainsFunc(c.Flags, acts):
		return `{"readOnlyHint":true}`
	case destroys(c):
		return `{"readOnlyHint":false,"destructiveHint":true}`
	}
	return ""
}

// textSize bounds a description: help texts have pages of examples.
const textSize = 4000

func description(c *clihelp.Command, own string) string {
	text := strings.TrimSpace(c.Text)
	if text == "" {
		text = c.Summary
	}
	if len(text) > textSize {
		text = strings.ToValidUTF8(text[:textSize], "") + " …"
	}
	if own != "" {
		text = own
	}
	if c.Deprecated {
		text = strings.TrimSpace("Deprecated. " + text)
	}
	return text
}

// chooses reports whether a call may choose where it runs.
func (t *tool) chooses() bool { return t.places != nil && t.places.choice() }

// addParams adds the flags and values, each by a name that no other has.
func (t *tool) addParams() {
	taken := map[string]bool{freeArgs: t.free, dirArg: t.chooses()}
	unique := func(prefix, text string) string {
		name := strings.Trim(unfitParam().ReplaceAllString(text, "_"), "_-.")
		if name == "" || taken[name] {
			name = prefix + name
		}
		return claim(name, taken)
	}
	for i := range t.Flags {
		f := &t.Flags[i]
		name := f.Long
		if name == "" {
			name = f.Short
		}
		t.params = append(t.params, param{name: unique("flag_", strings.TrimLeft(name, "-")), flag: f})
	}
	args := t.Args
	for range t.values { // they stand in the place of the first
		if len(args) > 0 && !args[0].Repeated {
			args = args[1:]
		}
	}
	var values []param
	for i := range args {
		values = append(values, param{name: unique("arg_", strings.ToLower(args[i].Name)), arg: &args[i]})
	}
	t.params = append(values, t.params...)
}

// addOwn adds what the entry's own schema has besides: flags of that name.
func (t *tool) addOwn(schema json.RawMessage) error {
	var s struct {
		Properties map[string]struct{ Type any }
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		return &RuleError{Key: "tools", Rule: t.name, Why: "its inputSchema: " + err.Error(), Remedy: "correct it"}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		if name == freeArgs && t.free || name == dirArg && t.chooses() || slices.ContainsFunc(t.params, func(p param) bool { return p.name == name }) {
			continue
		}
		f := clihelp.Flag{Long: "--" + strings.ReplaceAll(name, "_", "-"), Value: name, Kind: clihelp.String}
		switch p.Type {
		case "boolean":
			f.Kind, f.Value = clihelp.Bool, ""
		case "integer":
			f.Kind = clihelp.Integer
		case "number":
			f.Kind = clihelp.Number
		case "array":
			f.Repeated = true
		}
		if !longRE().MatchString(f.Long) {
			return &RuleError{Key: "tools", Rule: t.name, Why: fmt.Sprintf("%q cannot be the name of a flag", name), Remedy: "correct its inputSchema"}
		}
		if named(f, t.denied) {
			continue
		}
		t.params = append(t.params, param{name: name, flag: &f})
	}
	slices.SortStableFunc(t.params, func(a, b param) int { return order(a) - order(b) })
	return nil
}

func order(p param) int {
	if p.arg != nil {
		return 0
	}
	return 1
}

// schema returns the JSON Schema of the arguments.
func (t *tool) schema() json.RawMessage {
	var properties object
	required := []string{}
	for _, p := range t.params {
		properties.add(p.name, p.schema())
		if p.arg != nil && p.arg.Required || p.flag != nil && p.flag.Required {
			required = append(required, p.name)
		}
	}
	if t.free {
		var o object
		o.add("type", "array")
		o.add("items", json.RawMessage(`{"type":"string"}`))
		o.add("description", "More words for the command line, as they are.")
		properties.add(freeArgs, o.raw())
	}
	if t.chooses() {
		properties.add(dirArg, t.places.schema())
	}
	var s object
	s.add("type", "object")
	s.add("properties", properties.raw())
	if len(required) > 0 {
		s.add("required", required)
	}
	s.add("additionalProperties", false)
	return s.raw()
}

func (p param) schema() json.RawMessage {
	if p.arg != nil {
		return valueSchema(clihelp.String, p.arg.Enum, p.arg.Repeated, p.arg.Required, false, p.arg.Summary, "")
	}
	f := p.flag
	var extra string
	if f.Deprecated {
		extra = "deprecated"
	}
	if f.Words > 1 {
		return wordsSchema(f, extra)
	}
	return valueSchema(f.Kind, f.Enum, f.Repeated, f.Required, leftOut(f), f.Summary, f.Default, extra)
}

// wordsSchema returns the schema of a value of several words.
func wordsSchema(f *clihelp.Flag, mark string) json.RawMessage {
	var one, all object
	one.add("type", f.Kind)
	all.add("type", "array")
	all.add("items", one.raw())
	all.add("minItems", f.Words)
	all.add("maxItems", f.Words)
	if f.Summary != "" {
		all.add("description", f.Summary)
	}
	if mark != "" {
		all.add(mark, true)
	}
	return all.raw()
}

// valueSchema returns the schema of one value, or of a list of them.
func valueSchema(kind clihelp.Kind, enum []string, repeated, required, optional bool, text, def string, marks ...string) json.RawMessage {
	var one object
	switch {
	case kind == clihelp.Bool && repeated: // given several times: -vvv
		one.add("type", "integer")
		one.add("minimum", 0)
		one.add("maximum", maxCount)
		repeated = false
	case optional && kind != clihelp.Bool:
		one.add("type", []clihelp.Kind{kind, clihelp.Bool})
	default:
		one.add("type", kind)
	}
	if len(enum) > 0 && kind == clihelp.String && !optional {
		one.add("enum", enum)
	}
	all := one
	if repeated {
		all = object{}
		all.add("type", "array")
		all.add("items", one.raw())
		if required {
			all.add("minItems", 1)
		}
	}
	if text != "" {
		all.add("description", text)
	}
	if value, ok := defaultOf(kind, enum, def); ok && !repeated && !optional {
		all.add("default", value)
	}
	for _, m := range marks {
		if m != "" {
			all.add(m, true)
		}
	}
	return all.raw()
}

var numberRE = lazy.Regexp(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`)

// defaultOf returns a default in the type of its flag.
func defaultOf(kind clihelp.Kind, enum []string, text string) (json.RawMessage, bool) {
	switch {
	case text == "" || len(enum) > 0 && !slices.Contains(enum, text):
		return nil, false
	case kind == clihelp.Bool:
		return json.RawMessage(text), text == "true" || text == "false"
	case kind == clihelp.Integer:
		return json.RawMessage(text), numberRE().MatchString(text) && !strings.Contains(text, ".")
	case kind == clihelp.Number:
		return json.RawMessage(text), numberRE().MatchString(text)
	}
	return quote(text), true
}

// object is a JSON object in the order of its members.
type object struct{ text []byte }

func (o *object) add(name string, value any) {
	if len(o.text) > 0 {
		o.text = append(o.text, ',')
	}
	o.text = append(append(append(o.text, quote(name)...), ':'), quote(value)...)
}

func (o *object) raw() json.RawMessage {
	return slices.Concat([]byte{'{'}, o.text, []byte{'}'})
}

// quote returns the JSON of a value that has one.
func quote(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic("clitool: no JSON form: " + err.Error())
	}
	return text
}
