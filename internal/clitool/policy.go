package clitool

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/clihelp"
	"github.com/mcpctl/mcpctl/internal/plain"
)

// Exposure is what of a tool callers can reach.
type Exposure struct {
	// Only are rules for what is exposed: words of a subcommand, which stand for all
	// below it, and flags, which then are the only ones: "get", "config view",
	// "apply --dry-run". Words behind a command without subcommands are its first
	// values, as in "get pods". "*" is everything; nil are the commands that read.
	Only []string
	// Deny are rules for what is not exposed, whatever Only says. Flags without words
	// are those of all commands.
	Deny []string
	// FreeArgs lets callers add words of their own.
	FreeArgs bool
}

// RuleError is a rule of an entry that fits no command of the tool.
type RuleError struct {
	// Key is the member of the entry, Rule its text.
	Key, Rule string
	// Why says what is wrong, Remedy what mends it.
	Why, Remedy string
}

// Error names the rule.
func (e *RuleError) Error() string { return fmt.Sprintf("%s %q: %s", e.Key, e.Rule, e.Why) }

// Hint returns the mend.
func (e *RuleError) Hint() string { return e.Remedy }

// ExitKind makes it an error of the configuration.
func (e *RuleError) ExitKind() string { return "config" }

// rule is one line of cliOnly or cliDeny, found in the tool.
type rule struct {
	path   []string // of the command
	values []string // what stands behind it
	flags  []string // one name of each
}

// covers reports whether a rule is about a command: its own, or one above it.
func (r rule) covers(path []string) bool {
	return len(r.path) <= len(path) && slices.Equal(r.path, path[:len(r.path)])
}

// selected is a command that is exposed, with the flags that are.
type selected struct {
	*clihelp.Command
	values []string // that a rule fixes
	// denied are names of flags that a rule keeps back; whole reports that no rule
	// chooses among the flags.
	denied []string
	whole  bool
	// guessed reports that it is exposed because it seems to read.
	guessed bool
}

// selectCommands returns the commands that are exposed, in the order of the help.
func selectCommands(tool string, root *clihelp.Command, e Exposure) ([]selected, error) {
	only, err := rules("cliOnly", root, e.Only, e.FreeArgs)
	if err != nil {
		return nil, err
	}
	deny, err := rules("cliDeny", root, e.Deny, e.FreeArgs)
	if err != nil {
		return nil, err
	}
	everything := slices.Contains(e.Only, "*")
	var out []selected
	walk(root, func(c *clihelp.Command) {
		denied, gone := deniedOf(deny, c)
		if gone || !callable(c) {
			return
		}
		base := selected{Command: c, denied: denied, whole: len(denied) == 0}
		switch {
		case everything:
			out = append(out, base.with(c.Flags))
		case e.Only == nil:
			if reads(tool, c) {
				base.whole, base.guessed = false, true
				out = append(out, base.with(slices.DeleteFunc(slices.Clone(c.Flags), func(f clihelp.Flag) bool { return c.FlagsFirst || acts(f) })))
			}
		default:
			out = append(out, base.byRules(only)...)
		}
	})
	return out, nil
}

// Choice is a command that can be exposed.
type Choice struct {
	// Words are the rule that exposes it; "*" for a tool without subcommands.
	Words, Summary string
	// Exposed reports whether it is.
	Exposed bool
}

// Choices returns the commands of a tool that can be exposed, in the order of the help.
// A rule that fits none is a [*RuleError].
func Choices(tool string, f *Found, e Exposure) ([]Choice, error) {
	commands, err := selectCommands(tool, &f.Root, e)
	if err != nil {
		return nil, err
	}
	return choices(&f.Root, commands), nil
}

// choices returns the commands below root that can be exposed; commands are those that are.
func choices(root *clihelp.Command, commands []selected) (out []Choice) {
	exposed := map[string]bool{}
	for _, c := range commands {
		exposed[strings.Join(c.Path, " ")] = true
	}
	walk(root, func(c *clihelp.Command) {
		if words := strings.Join(c.Path, " "); callable(c) {
			out = append(out, Choice{cmp.Or(words, "*"), c.Summary, exposed[words]})
		}
	})
	return out
}

// walk visits a command and all below it.
func walk(c *clihelp.Command, visit func(*clihelp.Command)) {
	visit(c)
	for i := range c.Sub {
		walk(&c.Sub[i], visit)
	}
}

// callable reports whether a command does something itself: a command with subcommands
// does where its help names its own values. What is below a command that was not read is
// not known.
func callable(c *clihelp.Command) bool {
	if c.Unread {
		return false
	}
	own := slices.ContainsFunc(c.Args, func(a clihelp.Arg) bool {
		return !slices.Contains(strings.Fields("command subcommand commands args arg arguments options flags cmd"), strings.ToLower(a.Name))
	})
	return len(c.Sub) == 0 || own
}

// with returns the command with some of its flags, without those that are denied.
func (s selected) with(flags []clihelp.Flag) selected {
	c := *s.Command
	c.Flags = slices.DeleteFunc(slices.Clone(flags), func(f clihelp.Flag) bool { return named(f, s.denied) })
	s.Command = &c
	return s
}

// byRules returns the command as the rules expose it: as a whole, and once for each
// rule that fixes values.
func (s selected) byRules(only []rule) []selected {
	var out []selected
	var flags []string
	found, all := false, false
	for _, r := range only {
		if !r.covers(s.Path) {
			continue
		}
		if len(r.values) > 0 {
			one := s
			one.values = r.values
			out = append(out, one.choose(r.flags))
			continue
		}
		found, all, flags = true, all || len(r.flags) == 0, append(flags, r.flags...)
	}
	if !found {
		return out
	}
	if all {
		flags = nil
	}
	return append([]selected{s.choose(flags)}, out...)
}

// choose returns the command with the flags of these names, nil for all.
func (s selected) choose(names []string) selected {
	if names == nil {
		return s.with(s.Flags)
	}
	s.whole = false
	return s.with(slices.DeleteFunc(slices.Clone(s.Flags), func(f clihelp.Flag) bool { return !named(f, names) }))
}

// named reports whether a flag has one of some names.
func named(f clihelp.Flag, names []string) bool {
	return slices.ContainsFunc(namesOf(f), func(n string) bool { return slices.Contains(names, n) })
}

func namesOf(f clihelp.Flag) []string {
	return slices.DeleteFunc(append([]string{f.Long, f.Short, f.Negated}, f.Aliases...), func(n string) bool { return n == "" })
}

// deniedOf returns the flags of a command that are denied, and whether all of it is.
func deniedOf(deny []rule, c *clihelp.Command) (flags []string, gone bool) {
	for _, r := range deny {
		if r.covers(c.Path) {
			gone = gone || len(r.flags) == 0
			flags = append(flags, r.flags...)
		}
	}
	for _, f := range c.Flags {
		if named(f, flags) {
			flags = append(flags, namesOf(f)...)
		}
	}
	return flags, gone
}

// rules finds the commands of the rules of one member.
func rules(key string, root *clihelp.Command, texts []string, hidden bool) ([]rule, error) {
	var out []rule
	for _, text := range texts {
		if text == "*" && key == "cliOnly" {
			continue
		}
		r, err := findRule(root, text, hidden)
		if err == nil && len(r.values) > 0 && key == "cliDeny" {
			err = &RuleError{
				Why:    fmt.Sprintf("%s is not a subcommand, and mcpctl does not know what a value means here", strings.Join(r.values, " ")),
				Remedy: "deny the whole command, or name in cliOnly the values that are allowed",
			}
		}
		if why, ok := errors.AsType[*RuleError](err); ok {
			why.Key, why.Rule = key, text
			return nil, why
		}
		out = append(out, r)
	}
	return out, nil
}

// findRule takes a rule apart. Hidden allows flags that the help does not name.
func findRule(root *clihelp.Command, text string, hidden bool) (rule, error) {
	words := strings.Fields(text)
	at := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "-") })
	var flags []string
	if at >= 0 {
		words, flags = words[:at], words[at:]
	}
	if len(words) == 0 && len(flags) == 0 {
		return rule{}, &RuleError{Why: "it is empty", Remedy: "remove it"}
	}
	c, rest := root, words
	for len(rest) > 0 {
		i := slices.IndexFunc(c.Sub, func(s clihelp.Command) bool {
			return s.Path[len(s.Path)-1] == rest[0] || slices.Contains(s.Aliases, rest[0])
		})
		if i < 0 {
			break
		}
		c, rest = &c.Sub[i], rest[1:]
	}
	if len(rest) > 0 && (len(c.Sub) > 0 || len(c.Args) == 0) {
		return rule{}, &RuleError{Why: "there is no such command", Remedy: suggestion(rest[0], subNames(c))}
	}
	if c.Unread {
		return rule{}, &RuleError{Why: "its help was not read", Remedy: fmt.Sprintf("set cliDepth to %d or more", len(c.Path))}
	}
	r := rule{path: c.Path, values: rest}
	for _, f := range flags {
		if known := allFlags(c); !hidden && !slices.Contains(known, f) {
			return rule{}, &RuleError{Why: "there is no flag " + f, Remedy: suggestion(f, known)}
		}
		r.flags = append(r.flags, f)
	}
	return r, nil
}

func subNames(c *clihelp.Command) []string {
	var out []string
	for _, s := range c.Sub {
		out = append(append(out, s.Path[len(s.Path)-1]), s.Aliases...)
	}
	return out
}

// allFlags returns the names of the flags of a command and of those below.
func allFlags(c *clihelp.Command) []string {
	var out []string
	walk(c, func(c *clihelp.Command) {
		for _, f := range c.Flags {
			out = append(out, namesOf(f)...)
		}
	})
	return out
}

func suggestion(word string, known []string) string {
	return plain.NearestHint(word, known, "remove it, or raise cliDepth where it has more words than that")
}
