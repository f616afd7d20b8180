package clihelp

import (
	"slices"
	"strings"
)

// ParseComplete returns what the hidden __complete command of a cobra program printed
// for the command at path: its subcommands, and its flags where the word to complete
// was "-". Such words may also be values of an argument, so Merge believes them only
// where the help lists subcommands. The kind of the flags is not known.
func ParseComplete(text []byte, path []string) Command {
	p := parser{cmd: Command{Path: slices.Clone(path)}}
	var last Flag
	for l := range strings.SplitSeq(clean(text), "\n") {
		if strings.HasPrefix(l, ":") {
			break // the directive ends the list
		}
		word, desc, _ := strings.Cut(l, "\t")
		if strings.HasPrefix(word, "_activeHelp_") {
			continue
		}
		name, n := readSpelling(strings.TrimSuffix(word, "="))
		switch {
		case validName(word):
			p.sub(item{name: word, summary: desc})
		case n == 0 || name.name != strings.TrimSuffix(word, "="):
		default:
			f := newFlag([]spelling{name})
			f.Kind, f.Summary = "", cut(desc, maxSummary)
			if strings.HasSuffix(word, "=") {
				f.Value, f.Kind = "value", String
			}
			// The short spelling follows the long one, with the same description.
			if f.Short != "" && last.Long != "" && last.Short == "" && last.Summary == f.Summary {
				f.Long = last.Long
			}
			p.flags.add(f)
			last = f
		}
	}
	p.cmd.Flags = p.flags.list
	return p.cmd
}

// Merge returns base with what more says besides: summaries, flags that base lacks, and
// subcommands if base has any or neither flags nor arguments.
func Merge(base, more Command) Command {
	p := parser{cmd: base}
	p.cmd.Sub = slices.Clone(base.Sub)
	for _, f := range base.Flags {
		f.Aliases = slices.Clone(f.Aliases)
		p.flags.add(f)
	}
	for _, f := range more.Flags {
		p.flags.add(f)
	}
	p.cmd.Flags = p.flags.list
	if len(base.Sub) > 0 || len(base.Flags)+len(base.Args) == 0 {
		for _, s := range more.Sub {
			p.sub(item{name: s.Path[len(s.Path)-1], summary: s.Summary, aliases: s.Aliases})
		}
	}
	for i := range p.cmd.Sub {
		s := &p.cmd.Sub[i]
		at := slices.IndexFunc(more.Sub, func(m Command) bool { return slices.Equal(m.Path, s.Path) })
		if at >= 0 && s.Summary == "" {
			s.Summary = more.Sub[at].Summary
		}
	}
	if p.cmd.Summary == "" {
		p.cmd.Summary = more.Summary
	}
	if p.cmd.Text == "" {
		p.cmd.Text = more.Text
	}
	return p.cmd
}
