package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
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
//   - a word that names a server and a tool, such as SERVER.TOOL, becomes both;
//   - a first word that people know from other programs becomes the command that it
//     stands for, unless it is a configured server;
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
		names, err := a.namesFor(root, words)
		if err != nil {
			return nil, err
		}
		if out, ok := spelled(words, first, names); ok {
			return a.dispatch(root, out)
		}
		if o, ok := otherWordOf(words[first]); ok && !slices.Contains(names, words[first]) {
			return a.dispatchOther(root, o, words, first)
		}
		if err := a.wantServer(root, words, words[first]); err != nil {
			return nil, err
		}
		a.guardEarly(words[first])
	}
	if cmd != nil && fixed == 2 && (cmd.Name() == "call" || cmd.Name() == "describe") {
		if at := sets.First(words[first:]); at >= 0 {
			names, err := a.namesFor(root, words)
			if err != nil {
				return nil, err
			}
			if out, ok := spelled(words, first+at, names); ok {
				return a.dispatch(root, out)
			}
		}
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
	// servers are those of the configuration, once they are read.
	servers []string
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

// dispatchOther rewrites a word of another program. Where no command is the same, it is an error
// that says what to do.
func (a *app) dispatchOther(root *cobra.Command, o otherWord, words []string, at int) ([]string, error) {
	if o.means == "" {
		return nil, usagef("unknown command or server %s", o.word).withHint("%s", o.hint)
	}
	out, err := o.meant(words, at)
	if err != nil {
		return nil, err
	}
	return a.dispatch(root, out)
}

// namesFor returns the servers of the configuration that a command line names, which is read
// once: it may be a pipe.
func (a *app) namesFor(root *cobra.Command, words []string) ([]string, error) {
	if a.given.servers != nil {
		return a.given.servers, nil
	}
	path, named := lineFlags{root.PersistentFlags()}.Value(words, "config")
	names, err := a.serverNames(path, named)
	if err == nil {
		a.given.servers = append([]string{}, names...)
	}
	return names, err
}

// wantServer returns an error unless the word is a configured server. words are the
// whole command line, which may name the configuration.
func (a *app) wantServer(root *cobra.Command, words []string, word string) error {
	_, named := lineFlags{root.PersistentFlags()}.Value(words, "config")
	names, err := a.namesFor(root, words)
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
	return unknownName("unknown command or server", word, append(names, commandNames(newRoot(a))...), "mcpctl --help and mcpctl list")
}
