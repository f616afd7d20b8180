// Package clihelp reads what command-line tools say of themselves: help texts of many
// styles, and better sources where there are any. It runs nothing.
//
// Parse reads a help text. One reader goes over its lines; small recognisers say what a
// line is: an option (option.go), a command (listing.go), a form of usage (usage.go), or
// prose. What a description says of its flag is read by describe.go. Nothing asks which
// library made the text.
//
// ParseMan, ParseComplete, ParseFish and ParseJSON read other sources, and Merge joins
// what two sources say.
package clihelp

// Command is one command of a tool, or the tool itself.
type Command struct {
	// Path are its words after the tool's name, empty for the tool itself.
	Path []string
	// Summary is one line, Text the whole description.
	Summary, Text string
	// Aliases are other last words of Path.
	Aliases []string
	// Deprecated reports that the tool says so.
	Deprecated bool
	// ArgsFirst reports that its own arguments stand in front of the subcommand, and
	// Chained that one subcommand can follow another.
	ArgsFirst, Chained bool
	// FlagsFirst reports that Flags are those of the whole tool, and stand in front of the
	// words of Path.
	FlagsFirst bool
	// Unsure reports that the usage says nothing of the arguments, or nothing that could
	// be read: Args is one that takes any words.
	Unsure bool
	// Unread reports that its own help was not read: it may have subcommands and flags.
	Unread bool
	Flags  []Flag
	Args   []Arg
	// Sub are its subcommands as its help lists them: Path and Summary alone, until their
	// own help is read.
	Sub []Command
}

// Kind is the JSON type of a value.
type Kind string

// Kinds of values.
const (
	Bool    Kind = "boolean" // of a flag: a switch that takes no value
	String  Kind = "string"
	Integer Kind = "integer"
	Number  Kind = "number"
)

// Flag is an option of a command.
type Flag struct {
	// Long is with its dashes, such as --output or -output; "" for none. Short is as
	// -o; "" for none. Aliases are further spellings, with their dashes.
	Long, Short string
	Aliases     []string
	// Value is the name of the value, "" for a switch.
	Value string
	// Kind is "" where the source names the flag alone, and nobody knows whether it
	// takes a value: ParseComplete does that.
	Kind Kind
	// Enum are the values that are allowed, nil for any. Default is as the help has it, ""
	// for none.
	Enum    []string
	Default string
	// Repeated reports that it may be given several times, Required that it must be given.
	Repeated, Required bool
	// Optional reports that the value may be left out, and Join what stands in front of
	// it then: "=" in --flag[=x], "" in -f[x], " " in --flag [x].
	Optional bool
	Join     string
	// Words is how many words the value has where these are several, as in
	// --flag <x> <y>. It is -1 where the help does not say how many.
	Words int
	// Glued reports that the value stands in the word of the name, as in -o{DIR}.
	Glued bool
	// Negated is the other form of a switch, such as --no-color; "" for none.
	Negated    string
	Summary    string
	Deprecated bool
}

// Arg is a positional argument.
type Arg struct {
	Name               string
	Required, Repeated bool
	// Behind reports that it stands behind a word --, as in "exec POD -- COMMAND".
	Behind  bool
	Enum    []string
	Summary string
}

// AnyArgs are the arguments of a command of which nobody knows what it takes.
func AnyArgs() []Arg {
	return []Arg{{Name: "args", Repeated: true, Summary: "what the command works on; its help does not say more, or could not be read"}}
}
