package clitool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/mcpctl/mcpctl/internal/clihelp"
	"github.com/mcpctl/mcpctl/internal/lazy"
	"github.com/mcpctl/mcpctl/runtime"
)

// Bounds of a discovery.
const (
	probesAtOnce = 10
	probeTime    = 5 * time.Second // a probe that takes longer counts as one without help
	probeSize    = 1 << 20         // the same for one that prints more
	probesMost   = 1000            // commands behind that are not looked at
	defaultDepth = 3
	probeColumns = "200" // so that few lines are wrapped
)

// Found is what the help of a tool says.
type Found struct {
	// Root is the tool itself, with its subcommands below it.
	Root clihelp.Command
	// EndsFlags reports that a word -- ends the flags.
	EndsFlags bool
	// SplitsValues reports that the tool may take --flag=-x for --flag and -x: click does,
	// where the value can be left out, which its help does not say.
	SplitsValues bool
}

// discovery is one walk through the help of a tool.
type discovery struct {
	program *Program
	help    []string // the words that make it print its help, nil to try
	depth   int
	best    atomic.Int32 // the form that the tool itself has answered to
	probes  atomic.Int32
	ends    atomic.Bool
	splits  atomic.Bool

	// These are of the tool itself, and set before its subcommands are looked at.
	globals []clihelp.Flag // of every command, where the help of each leaves them out
	root    []byte         // its help
	whole   bool           // its description has all that is below it
	manual  bool           // it has a man page and no help
}

// discover reads the help of a tool and of its subcommands.
func (d *discovery) discover(ctx context.Context) (Found, error) {
	root, text, err := d.read(ctx, nil)
	if err != nil {
		return Found{}, err
	}
	if d.whole {
		root = soundTree(root, d.depth)
	} else if err := d.descend(ctx, &root, text); err != nil {
		return Found{}, err
	}
	if len(root.Sub)+len(root.Flags)+len(root.Args) == 0 {
		root.Args, root.Unsure = clihelp.AnyArgs(), true
	}
	return Found{Root: root, EndsFlags: d.ends.Load(), SplitsValues: d.splits.Load()}, nil
}

// descend reads the help of what is below the tool itself, whose help is text.
func (d *discovery) descend(ctx context.Context, root *clihelp.Command, text []byte) error {
	d.root = text
	level := []*clihelp.Command{root}
	texts := map[*clihelp.Command][]byte{root: text}
	for range d.depth {
		var err error
		if level, texts, err = d.below(ctx, level, texts); err != nil {
			return err
		}
	}
	for _, c := range level {
		for i := range c.Sub {
			c.Sub[i].Unread = true
		}
	}
	return nil
}

// below reads the help of the subcommands of some commands, and returns these.
func (d *discovery) below(ctx context.Context, parents []*clihelp.Command, texts map[*clihelp.Command][]byte) ([]*clihelp.Command, map[*clihelp.Command][]byte, error) {
	var mu sync.Mutex // guards level and own
	var level []*clihelp.Command
	own := map[*clihelp.Command][]byte{}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(probesAtOnce)
	for _, parent := range parents {
		complete := slices.ContainsFunc(parent.Sub, func(s clihelp.Command) bool { return len(s.Args) > 0 })
		for i := range parent.Sub {
			listed := &parent.Sub[i]
			if d.probes.Load() >= probesMost {
				listed.Unread = true
				continue
			}
			group.Go(func() error {
				c, text, err := d.read(ctx, listed.Path)
				if ctx.Err() != nil {
					return ctx.Err()
				}
				same := text != nil && bytes.Equal(text, texts[parent])
				if err != nil || same || text != nil && bytes.Equal(text, d.root) {
					undescribed(listed, parent, same, complete)
					return nil
				}
				*listed = merged(*listed, c)
				mu.Lock()
				defer mu.Unlock()
				level, own[listed] = append(level, listed), text
				return nil
			})
		}
	}
	err := group.Wait()
	for _, parent := range parents {
		if slices.ContainsFunc(parent.Sub, func(s clihelp.Command) bool { return s.FlagsFirst }) && !parent.ArgsFirst {
			parent.Args = nil // they are those of its subcommands
		}
	}
	return level, own, err
}

// undescribed notes of a command without its own help what the help of its parent
// says of it: the arguments in the list of commands, which is complete where it has those
// of any, or else those behind the place of a command in the usage. Where it answers with
// the help of its parent, the two have one parser and the same flags.
func undescribed(c, parent *clihelp.Command, same, complete bool) {
	if same {
		c.Flags, c.FlagsFirst = parent.Flags, true
	}
	switch {
	case complete, parent.Chained: // what stands behind one could be the next command
	case same && len(parent.Args) > 0 && !parent.ArgsFirst:
		c.Args = parent.Args
	default:
		c.Args, c.Unsure = clihelp.AnyArgs(), true
	}
}

// merged returns what a command's own help says, with what the list of its parent says
// in addition.
func merged(listed, own clihelp.Command) clihelp.Command {
	if listed.Summary != "" { // one line, where a manual page begins with its title
		own.Summary = listed.Summary
	}
	own.Deprecated = own.Deprecated || listed.Deprecated
	for _, a := range listed.Aliases {
		if !slices.Contains(own.Aliases, a) {
			own.Aliases = append(own.Aliases, a)
		}
	}
	return own
}

var (
	wordRE  = lazy.Regexp(`^[A-Za-z0-9_][\w.:+@/-]*$`)
	longRE  = lazy.Regexp(`^--?[A-Za-z0-9][\w.:+-]*$`)
	shortRE = lazy.Regexp(`^-[A-Za-z0-9?#@]$`)
)

// helpers returns the commands that only help. Libraries add them to tools with subcommands.
func helpers() []string { return []string{"help", "completion"} }

// sound returns a command without what could not be passed to the program as what it
// seems to be, and without the commands and flags that only help.
func sound(c clihelp.Command) clihelp.Command {
	if c.ArgsFirst { // a subcommand in their place would be taken for a value
		c.Sub = nil
	}
	c.Sub = slices.DeleteFunc(c.Sub, func(s clihelp.Command) bool {
		if len(s.Path) != len(c.Path)+1 {
			return true
		}
		word := s.Path[len(s.Path)-1]
		return !wordRE().MatchString(word) || slices.Contains(helpers(), word)
	})
	seen := map[string]bool{}
	c.Sub = slices.DeleteFunc(c.Sub, func(s clihelp.Command) bool {
		word := s.Path[len(s.Path)-1]
		defer func() { seen[word] = true }()
		return seen[word]
	})
	flags := c.Flags
	c.Flags = nil
	for _, f := range flags {
		if !longRE().MatchString(f.Long) {
			f.Long = ""
		}
		if !shortRE().MatchString(f.Short) {
			f.Short = ""
		}
		if !longRE().MatchString(f.Negated) {
			f.Negated = ""
		}
		if f.Words < 0 { // too few would take the words behind them
			continue
		}
		if key := f.Long + " " + f.Short; key != " " && f.Long != "--help" && f.Long != "-help" && !seen[key] {
			seen[key] = true
			c.Flags = append(c.Flags, f)
		}
	}
	return c
}

// forms are the words that may make a command print its help. The word help comes last:
// to a program that does not know it, it is a value.
func (d *discovery) forms(path []string) [][]string {
	if d.help != nil {
		return [][]string{slices.Concat(path, d.help)}
	}
	all := [][]string{slices.Concat(path, []string{"--help"}), slices.Concat(path, []string{"-h"}), slices.Concat([]string{"help"}, path)}
	best := int(d.best.Load())
	return append([][]string{all[best]}, slices.Delete(slices.Clone(all), best, best+1)...)
}

// probe returns the help of a command.
func (d *discovery) probe(ctx context.Context, path []string) ([]byte, error) {
	d.probes.Add(1)
	var last error
	forms := d.forms(path)
	for i := 0; i < len(forms); i++ {
		words := forms[i]
		o, err := runProbe(ctx, d.program, words)
		if _, failed := errors.AsType[*runtime.ConnectError](err); failed {
			return nil, err
		}
		if err != nil { // it hangs, as it would with other words
			last = fmt.Errorf("%s does not end within %s", strings.Join(append([]string{d.program.base()}, words...), " "), probeTime)
			break
		}
		for _, text := range [][]byte{o.stdout, o.raw} {
			if !isHelp(text, path) {
				continue
			}
			if len(path) == 0 && d.help == nil {
				d.best.Store(int32(i))
			}
			if d.help == nil && o.code != 0 && words[len(words)-1] != "-h" && bytes.Contains(text, []byte(strings.Join(slices.Concat([]string{d.program.base()}, path, []string{"-h"}), " "))) {
				if longer := printed(ctx, d.program, append(slices.Clone(path), "-h")...); len(longer) > len(text) {
					text = longer // 'Use "dig -h" for a complete list of options'
				}
			}
			if endsFlags(text) {
				d.ends.Store(true)
			}
			if bytes.Contains(text, []byte(clickMark)) {
				d.splits.Store(true)
			}
			return text, nil
		}
		if own := slices.Concat(path, []string{"help"}); d.help == nil && len(path) > 0 && i == 0 && strings.Contains(o.stderr, strings.Join(own, " ")) {
			forms = slices.Insert(forms, 1, own) // "try 'ip address help'"
		}
		last = errors.New("it prints no help")
		if line := stderrLine(o.stderr); line != "" {
			last = errors.New("instead of help it prints: " + line)
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, &runtime.ConnectError{
		Target: d.program.base(), Err: last, Remedy: `"cliHelp" in the entry are the words that make it print its help`,
	}
}

// runProbe runs a program for what it says of itself.
func runProbe(ctx context.Context, p *Program, words []string) (outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	env := map[string]string{"COLUMNS": probeColumns, "MANWIDTH": probeColumns}
	return p.run(ctx, run{words: words, env: env, most: probeSize, help: true})
}

// isHelp reports whether a text is a help, as opposed to an error or a result.
func isHelp(text []byte, path []string) bool {
	if bytes.Contains(bytes.ToLower(text), []byte("usage")) {
		return true
	}
	c := readHelp(text, path)
	return len(c.Flags) > 1 || len(c.Sub) > 1
}

// manTitle is the first line of a man page, which some tools print as their help.
var manTitle = lazy.Regexp(`^\s*\S+\(\d\w*\)\s.*\S+\(\d\w*\)\s*(\n|$)`)

// readHelp reads a help, which may be one in JSON. Of a man page it takes the line that
// says what the command is, not the whole of its description.
func readHelp(text []byte, path []string) clihelp.Command {
	if c, ok := clihelp.ParseJSON(text, path); ok {
		return c
	}
	c := clihelp.Parse(text, path)
	if bytes.Contains(text, []byte(clickMark)) && len(c.Args) > 0 && len(c.Sub) > 0 {
		c.ArgsFirst = true // click takes its own arguments first, also in "[PLACE] [COMMAND]"
	}
	if manTitle().Match(text) {
		c.Summary = clihelp.ParseMan(text, path).Summary
		c.Text = c.Summary
	}
	return c
}

// endMarks are what the help of those parsers has for which a word -- ends the flags:
// cobra, click, argparse, clap, commander, and whoever says so.
var endMarks = lazy.Regexp(`(?m)\[flags\]$|help for \S+$|Show this message and exit\.|show this help message and exit|^ +-h, --help +Print help|display help for command|\[--\]`)

// clickMark is what the help of every command of click has.
const clickMark = "Show this message and exit."

func endsFlags(text []byte) bool { return endMarks().Match(text) }

func stderrLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// lookPath returns the file of a command, relative to dir where it has a separator.
func lookPath(command, dir string) (string, error) {
	if dir != "" && strings.ContainsAny(command, `/\`) && !filepath.IsAbs(command) {
		command = filepath.Join(dir, command)
	}
	return exec.LookPath(command)
}
