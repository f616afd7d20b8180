package clihelp

import (
	"slices"
	"strings"
)

// ParseFish returns what a completion file of the fish shell says of tool: the tool
// itself, with its subcommands nested, each with its flags.
func ParseFish(text []byte, tool string) Command {
	root := &fishCommand{}
	count := 0
	for _, l := range fishCommands(clean(text)) {
		words, _ := fishWords(l)
		if len(words) < 2 || words[0] != "complete" || count == maxItems {
			continue
		}
		if c := readFish(words[1:]); c.tool == tool {
			count++
			c.apply(root)
		}
	}
	return root.command(nil, 0)
}

// fishCommands returns the commands of a script, one a line. One goes on with the next
// line after a backslash, and inside of quotes.
func fishCommands(text string) []string {
	var out []string
	held := ""
	for l := range strings.SplitSeq(text, "\n") {
		l = held + strings.TrimSpace(l)
		held = ""
		rest, more := strings.CutSuffix(l, `\`)
		switch _, open := fishWords(l); {
		case len(l) > maxSummary:
		case more:
			held = rest + " "
			continue
		case open && strings.HasPrefix(l, "complete"):
			held = l + "\n"
			continue
		}
		out = append(out, l)
	}
	return out
}

// fishWords returns the words of a command without their quotes, up to a comment. It
// reports whether a quote is open at the end.
func fishWords(l string) (words []string, quoted bool) {
	var b strings.Builder
	var quote byte
	open := false
	flush := func() {
		if open {
			words = append(words, b.String())
		}
		b.Reset()
		open = false
	}
	for i := 0; i < len(l); i++ {
		c := l[i]
		switch {
		case c == '\\' && i+1 < len(l) && (quote == 0 || l[i+1] == quote || l[i+1] == '\\'):
			i++
			b.WriteByte(l[i])
			open = true
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			b.WriteByte(c)
		case c == '\'' || c == '"':
			quote, open = c, true
		case c == ' ':
			flush()
		case c == '#' && !open, c == ';':
			flush()
			return words, false
		default:
			b.WriteByte(c)
			open = true
		}
	}
	flush()
	return words, quote != 0
}

// fishLine is one complete command.
type fishLine struct {
	tool, condition, desc string
	args                  string
	flag                  Flag
	requires              bool
}

func readFish(words []string) fishLine {
	var c fishLine
	for i := 0; i < len(words); i++ {
		name, value, glued := strings.Cut(words[i], "=")
		if !strings.HasPrefix(name, "-") {
			if c.tool == "" {
				c.tool = name
			}
			continue
		}
		switch name {
		case "-r", "--require-parameter", "-x", "--exclusive":
			c.requires = true
			continue
		case "-f", "--no-files", "-F", "--force-files", "-e", "--erase", "-k", "--keep-order":
			continue
		case "-rf", "-fr", "-xf", "-fx", "-rF", "-xk", "-kx":
			c.requires = true
			continue
		}
		if !glued {
			if i++; i == len(words) {
				break
			}
			value = words[i]
		}
		c.option(strings.TrimLeft(name, "-"), value)
	}
	return c
}

// option notes an option of complete that has a value.
func (c *fishLine) option(name, value string) {
	dashed := func(dash string) string {
		if n := flagName().FindString(dash + value); n == dash+value {
			return n
		}
		return ""
	}
	switch name {
	case "c", "command":
		c.tool = value
	case "n", "condition":
		c.condition = value
	case "l", "long-option":
		c.flag.Long = dashed("--")
	case "o", "old-option":
		c.flag.Long = dashed("-")
	case "s", "short-option":
		c.flag.Short = dashed("-")
	case "d", "description":
		c.desc = value
	case "a", "arguments":
		c.args = value
	}
}

// values returns the words of -a with their descriptions, nil where they are computed.
func (c fishLine) values() (words, descs []string) {
	if strings.ContainsAny(c.args, "($") {
		return nil, nil
	}
	for part := range strings.SplitSeq(strings.ReplaceAll(c.args, `\t`, "\t"), "\n") {
		list, _ := fishWords(part)
		for _, w := range list {
			word, desc, _ := strings.Cut(w, "\t")
			if choiceWord().MatchString(word) && len(words) < maxValues {
				words, descs = append(words, word), append(descs, desc)
			}
		}
	}
	return words, descs
}

// apply adds what a line says to the commands that its condition names.
func (c fishLine) apply(root *fishCommand) {
	for _, path := range fishPaths(c.condition) {
		at := root
		for _, w := range path {
			at = at.child(w)
		}
		if c.flag.Long != "" || c.flag.Short != "" {
			at.flags.add(c.made())
			continue
		}
		if strings.Contains(c.condition, "using_command") && !strings.Contains(c.condition, "subcommand") {
			continue // values of an argument
		}
		words, descs := c.values()
		for i, w := range words {
			if !validName(w) {
				continue
			}
			s := at.child(w)
			if s.summary == "" {
				s.summary = descs[i]
			}
			if s.summary == "" && len(words) == 1 {
				s.summary = c.desc
			}
			s.listed = true
		}
	}
}

// made returns the flag that a line describes.
func (c fishLine) made() Flag {
	f := c.flag
	f.Kind = Bool
	words, _ := c.values()
	if c.requires || c.args != "" {
		f.Value, f.Kind, f.Enum = "value", String, bounded(words)
		if f.Optional = !c.requires; f.Optional {
			f.Join = "="
		}
	}
	enum := f.Enum
	f.describe(c.desc)
	if enum != nil {
		f.Enum = enum
	}
	return f
}

// fishPaths returns the commands that a condition is about: none of the tool's, or the
// ones behind "seen_subcommand_from" and the like.
func fishPaths(condition string) [][]string {
	paths := [][]string{nil}
	for part := range strings.SplitSeq(strings.ReplaceAll(condition, "; ", "\x00"), "\x00") {
		words := strings.Fields(strings.TrimPrefix(strings.TrimPrefix(part, "and "), "; and "))
		if len(words) < 2 || words[0] == "not" || strings.HasPrefix(words[0], "!") {
			continue
		}
		named := slices.DeleteFunc(words[1:], func(w string) bool { return !validName(w) })
		switch {
		case strings.Contains(words[0], "seen_subcommand_from"):
			var next [][]string
			for _, p := range paths {
				for _, w := range named {
					if len(next) < 100 && len(p) < maxDepth {
						next = append(next, append(slices.Clone(p), w))
					}
				}
			}
			if len(next) > 0 {
				paths = next
			}
		case strings.Contains(words[0], "using_"):
			if len(named) > 0 && len(named) < maxDepth {
				paths = [][]string{named}
			}
		}
	}
	return paths
}

// fishCommand is a command while its lines are read.
type fishCommand struct {
	name, summary string
	listed        bool
	flags         flagSet
	subs          []*fishCommand
}

// child returns the subcommand of a name.
func (c *fishCommand) child(name string) *fishCommand {
	for _, s := range c.subs {
		if s.name == name {
			return s
		}
	}
	s := &fishCommand{name: name}
	c.subs = append(c.subs, s)
	return s
}

func (c *fishCommand) command(path []string, depth int) Command {
	out := Command{Path: path, Summary: cut(c.summary, maxSummary), Flags: c.flags.list, Deprecated: outdated().MatchString(c.summary)}
	if depth == maxDepth {
		return out
	}
	for _, s := range c.subs {
		if s.listed || len(s.flags.list)+len(s.subs) > 0 {
			out.Sub = append(out.Sub, s.command(append(slices.Clone(path), s.name), depth+1))
		}
	}
	return out
}
