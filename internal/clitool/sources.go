package clitool

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcpctl/mcpctl/internal/clihelp"
	"github.com/mcpctl/mcpctl/internal/lazy"
)

// Marks of help texts.
var (
	// cobraMark ends the help of a group of commands made with cobra.
	cobraMark = lazy.Regexp("(?m)^ *Use [\"`]\\S+ .*(\\[command\\]|<command>).*--help[\"`] (for|to get) more information")
	// optionsMark says where kubectl and its like have the flags of all commands.
	optionsMark = lazy.Regexp(`Use "\S+ options" for a list of global`)
	// listMark is in the help of Symfony's and cleo's programs, which is that of their command
	// list.
	listMark = lazy.Regexp(`(?m)^\s*The list command lists all commands:`)
	// longMark is the word for a longer help.
	longMark = lazy.Regexp(`--(?:long-help|help-all|full-help)\b`)
	// jsonMark is a form of help that is made for programs.
	jsonMark = lazy.Regexp(`--help[=-]json\b|--json-help\b`)
	// completeEnd is the last line of what __complete prints.
	completeEnd = lazy.Regexp(`(?m)^:\d+$`)
)

// read returns what is known of a command, and its help where it has printed one. The
// help of this very program is believed first; man pages and completion files may be of
// another version.
func (d *discovery) read(ctx context.Context, path []string) (clihelp.Command, []byte, error) {
	text, err := d.probe(ctx, path)
	switch {
	case err != nil && ctx.Err() == nil && (len(path) == 0 || d.manual):
		if c, ok := d.elsewhere(ctx, path); ok {
			return sound(c), nil, nil
		}
		return clihelp.Command{}, nil, err
	case err != nil:
		return clihelp.Command{}, nil, err
	}
	c := readHelp(text, path)
	if len(path) == 0 {
		c = d.readRoot(ctx, text, c)
	}
	if cobraMark().Match(text) {
		c = clihelp.Merge(c, d.complete(ctx, path))
	}
	if len(path) > 0 && len(d.globals) > 0 {
		c = clihelp.Merge(c, clihelp.Command{Flags: d.globals})
	}
	return sound(c), text, nil
}

// readRoot looks at what the tool's own help c says of further help.
func (d *discovery) readRoot(ctx context.Context, text []byte, c clihelp.Command) clihelp.Command {
	if words := jsonMark().Find(text); words != nil && d.help == nil {
		if j, ok := clihelp.ParseJSON(printed(ctx, d.program, string(words)), nil); ok {
			c = j
		}
	}
	if listMark().Match(text) && d.help == nil {
		if l := readHelp(printed(ctx, d.program, "list"), nil); len(l.Sub) > 0 {
			c.Sub, c.Args, c.Unsure = l.Sub, nil, false
		}
	}
	if words := longMark().Find(text); words != nil && d.help == nil {
		if l := readHelp(printed(ctx, d.program, string(words)), nil); len(l.Flags) > len(c.Flags) {
			c = l
		}
	}
	if optionsMark().Match(text) {
		d.globals = readHelp(printed(ctx, d.program, "options"), nil).Flags
		c = clihelp.Merge(c, clihelp.Command{Flags: d.globals})
	}
	d.whole = described(c.Sub)
	return c
}

// described reports whether commands are more than the names in a list.
func described(list []clihelp.Command) bool {
	for _, c := range list {
		if len(c.Flags)+len(c.Sub) > 0 {
			return true
		}
	}
	return false
}

// complete returns what a group of commands made with cobra completes: its commands and
// its flags. What has no subcommands is not asked, since it may look for values in the
// network.
func (d *discovery) complete(ctx context.Context, path []string) clihelp.Command {
	var out clihelp.Command
	for _, word := range []string{"", "-"} {
		text := printed(ctx, d.program, append(append([]string{"__complete"}, path...), word)...)
		if !completeEnd().Match(text) {
			return clihelp.Command{}
		}
		c := clihelp.ParseComplete(text, path)
		out.Sub = append(out.Sub, c.Sub...)
		out.Flags = append(out.Flags, c.Flags...)
	}
	for i := range out.Flags {
		if f := &out.Flags[i]; f.Kind == "" { // cobra marks those that need a value
			f.Kind = clihelp.Bool
		}
	}
	return out
}

// elsewhere returns what the man page of a command that prints no help says, or for the
// tool itself the completion file of the fish shell that was installed with it.
func (d *discovery) elsewhere(ctx context.Context, path []string) (clihelp.Command, bool) {
	name := d.program.base()
	if len(d.program.Args) > 0 || !wordRE().MatchString(name) {
		return clihelp.Command{}, false
	}
	man := *d.program
	man.Command, man.Dir = "man", ""
	page := strings.Join(append([]string{name}, path...), "-")
	if text := printed(ctx, &man, page); isHelp(text, path) {
		if len(path) == 0 {
			d.manual = true
		}
		return readHelp(text, path), true
	}
	if len(path) > 0 {
		return clihelp.Command{}, false
	}
	file, err := d.program.check()
	if err != nil {
		return clihelp.Command{}, false
	}
	prefix := filepath.Dir(filepath.Dir(file))
	text, err := os.ReadFile(filepath.Join(prefix, "share", "fish", "vendor_completions.d", name+".fish"))
	if err != nil || len(text) > probeSize {
		return clihelp.Command{}, false
	}
	c := clihelp.ParseFish(text, name)
	d.whole = described(c.Sub)
	return c, len(c.Flags)+len(c.Sub) > 0
}

// printed returns what a run prints, nil where it fails.
func printed(ctx context.Context, p *Program, words ...string) []byte {
	o, err := runProbe(ctx, p, words)
	if err != nil || o.flooded || o.code != 0 {
		return nil
	}
	return bytes.TrimSpace(o.stdout)
}

// soundTree returns a command that was described with all that is below it, down to
// commands of depth words more.
func soundTree(c clihelp.Command, depth int) clihelp.Command {
	c = sound(c)
	for i := range c.Sub {
		if depth > 0 {
			c.Sub[i] = soundTree(c.Sub[i], depth-1)
		} else {
			c.Sub[i] = clihelp.Command{Path: c.Sub[i].Path, Summary: c.Sub[i].Summary, Aliases: c.Sub[i].Aliases, Unread: true}
		}
	}
	return c
}
