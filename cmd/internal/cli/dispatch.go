package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// dispatch rewrites the words for cobra:
//
//   - mcpctl SERVER and mcpctl SERVER TOOL become tools and call, if the first
//     word is a configured server and not a command;
//   - the words of a call go behind a "--", so that one like --name=value that
//     is not a flag of mcpctl stays an argument;
//   - a first word that is neither command nor server is an error that names
//     the nearest of both.
//
// Flags keep working before, between and after the words.
func (a *app) dispatch(root *cobra.Command, words []string) ([]string, error) {
	flags := func(cmd *cobra.Command) flagSets {
		sets := flagSets{root.PersistentFlags()}
		if cmd != nil {
			sets = append(sets, cmd.Flags())
		}
		return sets
	}
	first := flags(nil).firstWord(words)
	if first < 0 {
		return words, nil
	}
	verb := words[first]
	if verb == cobra.ShellCompRequestCmd || verb == cobra.ShellCompNoDescRequestCmd {
		return completeShort(root, words, first+1), nil
	}
	if builtin(verb) {
		return words, nil
	}
	cmd := subcommand(root, verb)
	head, tail := slices.Clone(words[:first]), words[first+1:]
	if cmd == nil {
		if err := a.wantServer(root, words, verb); err != nil {
			return nil, err
		}
		tail = words[first:]
		verb = "tools"
		if _, after := flags(subcommand(root, "call")).split(tail, 2); len(after) > 1 {
			verb = "call"
		}
		cmd = subcommand(root, verb)
		if cmd == nil {
			return words, nil
		}
	}
	if verb != "call" && verb != "prompt" {
		return append(append(head, verb), tail...), nil
	}
	fixed := 2 // SERVER and TOOL
	if flags(cmd).given(words, "url") {
		fixed = 1
	}
	options, after := flags(cmd).split(tail, fixed)
	out := append(append(head, verb), options...)
	return append(append(out, "--"), after...), nil
}

// completeShort expands the short form mcpctl SERVER in words to complete, which
// begin at from. The last word is not finished, so it is not a server yet.
func completeShort(root *cobra.Command, words []string, from int) []string {
	if from >= len(words) {
		return words
	}
	i := flagSets{root.PersistentFlags()}.firstWord(words[from : len(words)-1])
	if i < 0 || builtin(words[from+i]) || subcommand(root, words[from+i]) != nil {
		return words
	}
	return slices.Insert(slices.Clone(words), from+i, "call")
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
	flags := flagSets{root.PersistentFlags()}
	commands := commandNames(root)
	if flags.given(words, "url") {
		e := unknownName("unknown command", word, commands, "")
		if e.Remedy == "" {
			e.Remedy = "with --url a tool is called by: mcpctl --url URL call " + shellWord(word)
		}
		return e
	}
	path := a.settings.ConfigPath
	if v, ok := flags.value(words, "config"); ok {
		path = v
	}
	names, err := a.serverNames(path)
	if err != nil {
		return err
	}
	if slices.Contains(names, word) {
		return nil
	}
	return unknownName("unknown command or server", word, append(names, commands...), "mcpctl --help and mcpctl list")
}

// flagSets are the flags that words may hold.
type flagSets []*pflag.FlagSet

// find returns the flag that look finds in one of the sets, nil for none.
func (s flagSets) find(look func(set *pflag.FlagSet, name string) *pflag.Flag, name string) *pflag.Flag {
	for _, set := range s {
		if f := look(set, name); f != nil {
			return f
		}
	}
	return nil
}

// flag reports whether a word with a dash is a known flag, and whether the next word
// is its value.
func (s flagSets) flag(w string) (known, takesNext bool) {
	if name, long := strings.CutPrefix(w, "--"); long {
		name, _, hasValue := strings.Cut(name, "=")
		if name == "help" {
			return true, false
		}
		f := s.find((*pflag.FlagSet).Lookup, name)
		return f != nil, f != nil && !hasValue && f.NoOptDefVal == ""
	}
	for i := 1; i < len(w); i++ {
		if w[i] == 'h' && s.find((*pflag.FlagSet).ShorthandLookup, "h") == nil {
			continue
		}
		f := s.find((*pflag.FlagSet).ShorthandLookup, w[i:i+1])
		if f == nil {
			return false, false
		}
		if f.NoOptDefVal == "" {
			return true, i+1 == len(w) // the rest of the word is the value
		}
	}
	return true, false
}

// split separates flags from words. After the first fixed words, an unknown word
// with a dash is an argument if it has a "=" or is a negative number.
func (s flagSets) split(words []string, fixed int) (flags, after []string) {
	for i := 0; i < len(words); i++ {
		w := words[i]
		if w == "--" {
			return flags, append(after, words[i+1:]...)
		}
		if len(w) < 2 || w[0] != '-' {
			after = append(after, w)
			continue
		}
		known, takesNext := s.flag(w)
		if !known && len(after) >= fixed && (strings.Contains(w, "=") || w[1] >= '0' && w[1] <= '9') {
			after = append(after, w)
			continue
		}
		flags = append(flags, w)
		if takesNext && i+1 < len(words) {
			i++
			flags = append(flags, words[i])
		}
	}
	return flags, after
}

// firstWord returns the index of the first word that is not a flag, or -1.
func (s flagSets) firstWord(words []string) int {
	for i := 0; i < len(words); i++ {
		w := words[i]
		if w == "--" {
			return -1
		}
		if len(w) < 2 || w[0] != '-' {
			return i
		}
		if _, takesNext := s.flag(w); takesNext {
			i++
		}
	}
	return -1
}

// given reports whether a flag is among the words.
func (s flagSets) given(words []string, name string) bool {
	_, ok := s.value(words, name)
	return ok
}

// value returns the last value of a flag among the words.
func (s flagSets) value(words []string, name string) (value string, ok bool) {
	flags, _ := s.split(words, len(words))
	for i, w := range flags {
		if v, found := strings.CutPrefix(w, "--"+name+"="); found {
			value, ok = v, true
		} else if w == "--"+name && i+1 < len(flags) {
			value, ok = flags[i+1], true
		}
	}
	return value, ok
}
