package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/args"
)

// dispatch rewrites the words for cobra:
//
//   - the command behind "--" is taken off, where it takes the place of a server;
//   - mcpctl SERVER and mcpctl SERVER TOOL become tools and call, if the first word is
//     a configured server and not a command; with --url or a command behind "--" the
//     first word is the tool;
//   - a first word that is a URL is the value of --url;
//   - a call with --help behind the tool becomes describe;
//   - the words of a call go behind a "--", so that one like --name=value that
//     is not a flag of mcpctl stays an argument;
//   - a first word that is neither command nor server is an error that names
//     the nearest of both.
//
// Flags keep working before, between and after the words.
func (a *app) dispatch(root *cobra.Command, words []string) ([]string, error) {
	global := lineFlags{root.PersistentFlags()}
	first, cmd := global.First(words), (*cobra.Command)(nil)
	if first >= 0 {
		verb := words[first]
		if isURL(verb) && !global.Given(words, "url") {
			return a.dispatch(root, slices.Replace(slices.Clone(words), first, first+1, "--url", verb))
		}
		if verb == cobra.ShellCompRequestCmd || verb == cobra.ShellCompNoDescRequestCmd {
			return completeShort(root, words, first+1), nil
		}
		if builtin(verb) {
			return words, nil
		}
		cmd = subcommand(root, verb)
	}
	call := subcommand(root, "call")
	own := cmd
	if own == nil {
		own = call
	}
	if own == nil || cmd != nil && cmd.Annotations[anyServer] == "" {
		return words, nil
	}
	sets := lineFlags{root.PersistentFlags(), own.Flags()}
	words, err := a.adhoc.cut(sets, words)
	if err != nil {
		return nil, err
	}
	// The place of the server: a word, unless it is given in another way.
	fixed := 2
	if a.adhoc.command != nil || sets.Given(words, "url") {
		fixed = 1
	}
	switch {
	case cmd != nil:
		first++
	case first < 0 && (fixed == 2 || sets.Has(words, "--help", "-h", "--version")):
		return words, nil
	case first < 0:
		return append(words, "tools"), nil
	case fixed == 2:
		if err := a.wantServer(root, words, words[first]); err != nil {
			return nil, err
		}
		a.guardEarly(words[first])
	}
	head, tail := slices.Clone(words[:first]), words[first:]
	if cmd == nil {
		cmd = subcommand(root, "tools")
		if _, after := sets.Split(tail, fixed); len(after) >= fixed {
			cmd = call
		}
		head = append(head, cmd.Name())
	}
	if cmd.Name() != "call" && cmd.Name() != "prompt" {
		return append(head, tail...), nil
	}
	options, after := sets.Split(tail, fixed)
	if cmd == call && fixed == 2 && len(after) > 0 && strings.Contains(after[0], "(") {
		return nil, a.wantServer(root, words, after[0])
	}
	a.given.flags = sets.Behind(tail, fixed)
	if _, dash := sets.Pieces(tail); dash >= 0 {
		a.given.literal = len(tail) - dash - 1
	}
	if cmd == call && slices.ContainsFunc(a.given.flags, isHelp) {
		describe := lineFlags{root.PersistentFlags(), subcommand(root, "describe").Flags()}
		out := append(describe.Only(head), "describe")
		out = append(out, slices.DeleteFunc(describe.Only(options), isHelp)...)
		return append(append(out, "--"), after[:fixed]...), nil
	}
	return append(append(append(head, options...), "--"), after...), nil
}

func isURL(word string) bool {
	return strings.HasPrefix(word, "https://") || strings.HasPrefix(word, "http://")
}

func isHelp(word string) bool { return word == "--help" || word == "-h" }

// givenWords is what dispatch knows of the words of a call, and cobra does not pass on.
type givenWords struct {
	// flags are mcpctl's own flags behind the tool's name.
	flags []string
	// literal is how many words were behind "--".
	literal int
}

// completeShort expands the short form mcpctl SERVER in words to complete, which
// begin at from. The last word is not finished, so it is not a server yet.
func completeShort(root *cobra.Command, words []string, from int) []string {
	if from >= len(words) {
		return words
	}
	i := lineFlags{root.PersistentFlags()}.First(words[from : len(words)-1])
	if i < 0 || builtin(words[from+i]) {
		return words
	}
	words = slices.Clone(words)
	if subcommand(root, words[from+i]) == nil {
		words = slices.Insert(words, from+i, "call")
	}
	cmd := subcommand(root, words[from+i])
	if cmd.Name() != "call" && cmd.Name() != "prompt" {
		return words
	}
	// A --name that is the tool's would be an error to cobra.
	begin, last := from+i+1, len(words)-1
	sets := lineFlags{root.PersistentFlags(), cmd.Flags()}
	options, after := sets.Split(words[begin:last], 2)
	after = slices.DeleteFunc(after, func(w string) bool { return strings.HasPrefix(w, "-") })
	return slices.Concat(words[:begin], options, after, words[last:])
}

// builtin reports whether a word is one of the commands that cobra adds itself.
func builtin(word string) bool {
	switch word {
	case "help", "completion", cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd:
		return true
	}
	return false
}

func subcommand(root *cobra.Command, word string) *cobra.Command {
	for _, c := range root.Commands() {
		if c.Name() == word || c.HasAlias(word) {
			return c
		}
	}
	return nil
}

// commandNames returns the names of a command's visible subcommands.
func commandNames(parent *cobra.Command) []string {
	var names []string
	for _, c := range parent.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// wantServer returns an error unless the word is a configured server. words are the
// whole command line, which may name the configuration.
func (a *app) wantServer(root *cobra.Command, words []string, word string) error {
	flags := lineFlags{root.PersistentFlags()}
	path, named := flags.Value(words, "config")
	names, err := a.serverNames(path, named)
	if err != nil {
		return err
	}
	if slices.Contains(names, word) {
		return nil
	}
	if named {
		if err := missing(a.file.set); err != nil {
			return err
		}
	}
	e := unknownName("unknown command or server", word, append(names, commandNames(newRoot(a))...), "mcpctl --help and mcpctl list")
	if form := dottedForm(word, names); form != nil {
		e.Remedy = "write mcpctl " + shellLine(form)
	}
	switch word { // as other gateways have it
	case "acl":
		e.Remedy = "mcpctl policy says who may do what"
	case "logs":
		e.Remedy = "mcpctl audit shows what was done"
	}
	return e
}

// dottedForm returns the words for SERVER.TOOL, or SERVER.TOOL(name: value), as other
// programs have it; nil for another word.
func dottedForm(word string, servers []string) []string {
	name, rest, _ := strings.Cut(word, "(")
	for _, server := range servers {
		tool, ok := strings.CutPrefix(name, server+".")
		if !ok || tool == "" {
			continue
		}
		if called, words, ok := args.CallForm(tool + "(" + rest); ok {
			return append([]string{server, called}, words...)
		}
		return []string{server, tool}
	}
	return nil
}
