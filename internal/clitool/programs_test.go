package clitool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/clihelp"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// known is what a program is known to have: its flags were found by asking the program
// itself, and its arguments were read by hand in its help and its manual.
type known struct {
	Tool    string
	Version struct {
		Run []string
		Is  string
	}
	// Slow programs take seconds for each help: they are left to the nightly run.
	Slow     bool
	Commands []struct {
		Path        []string
		Subcommands []string
		// Flags has what a spelling takes: "switch", "value", or "" where the program did
		// not say.
		Flags map[string]string
		// Required are the arguments that have to be given. Operands reports that there
		// are arguments.
		Required []string
		Operands bool
	}
}

// found counts what of a program is right.
type found struct {
	flags, flagsFound, kinds, kindsRight int
	subs, subsFound                      int
	required, invented                   int
	commands, operands                   int
}

func (f *found) add(o found) {
	f.flags += o.flags
	f.flagsFound += o.flagsFound
	f.kinds += o.kinds
	f.kindsRight += o.kindsRight
	f.subs += o.subs
	f.subsFound += o.subsFound
	f.required += o.required
	f.invented += o.invented
	f.commands += o.commands
	f.operands += o.operands
}

func (f found) row(tool, version string) string {
	return fmt.Sprintf("| %s | %s | %d of %d | %d of %d | %d of %d | %d | %d | %d of %d |", tool, version,
		f.subsFound, f.subs, f.flagsFound, f.flags, f.kindsRight, f.kinds, f.required, f.invented, f.operands, f.commands)
}

const programsHead = `| program | version | subcommands found | flags found | kinds right | required arguments missing | required arguments invented | commands with their operands |
|---|---|---|---|---|---|---|---|`

// TestPrograms compares the tools that are made of real programs with the tables of
// testdata/programs, for the programs that this machine has in the version of the table.
// With -v it prints the table of test/reports/cli-corpus.md.
func TestPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the help of many programs")
	}
	files, err := filepath.Glob("testdata/programs/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no tables: %v", err)
	}
	var mu sync.Mutex // guards all, rows and programs
	var all found
	var rows []string
	programs := 0
	t.Run("each", func(t *testing.T) {
		for _, file := range files {
			var p known
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			d := json.NewDecoder(bytes.NewReader(text))
			d.DisallowUnknownFields()
			require.NoError(t, d.Decode(&p))
			t.Run(p.Tool, func(t *testing.T) {
				t.Parallel()
				if !p.installed(t) {
					t.Skipf("%s %s is not installed here", p.Tool, p.Version.Is)
				}
				if p.Slow && os.Getenv("MCPCTL_NIGHTLY") == "" {
					t.Skip("slow: make cli-corpus")
				}
				got := p.score(t)
				mu.Lock()
				defer mu.Unlock()
				all.add(got)
				rows = append(rows, got.row(p.Tool, p.Version.Is))
				programs++
			})
		}
	})
	slices.Sort(rows)
	report(t, strings.Join(slices.Concat([]string{programsHead}, rows, []string{all.row("all", "")}), "\n"))
	if programs == 0 {
		t.Skip("none of the programs is installed here")
	}
	if 100*all.flagsFound < 98*all.flags || 100*all.kindsRight < 98*all.kinds || all.subsFound < all.subs {
		t.Error("less than 98 % of the flags or kinds, or a subcommand is missing")
	}
	if all.invented > 0 || all.required > 0 || all.operands < all.commands {
		t.Error("a required argument is invented or missing, or a command cannot be given what it works on")
	}
}

// installed reports that the program is here in the version of its table.
func (p known) installed(t *testing.T) bool {
	t.Helper()
	if _, err := exec.LookPath(p.Tool); err != nil {
		return false
	}
	cmd := exec.CommandContext(wait.Context(t), p.Version.Run[0], p.Version.Run[1:]...)
	cmd.Env = append(os.Environ(), "TERM=dumb")
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	t.Logf("%s: %v", p.Version.Run, err) // some fail, and print it
	return bytes.Contains(out, []byte(p.Version.Is))
}

func (p known) score(t *testing.T) found {
	t.Helper()
	depth := 1
	for _, c := range p.Commands {
		depth = max(depth, len(c.Path))
	}
	env := map[string]string{}
	for _, name := range []string{"LD_LIBRARY_PATH", "LC_ALL"} { // of programs that were unpacked, not installed
		if v := os.Getenv(name); v != "" {
			env[name] = v
		}
	}
	tree, err := Discover(t.Context(), Options{Program: Program{Command: p.Tool, Env: env}, Depth: depth})
	require.NoError(t, err)
	var all found
	for _, want := range p.Commands {
		var c *clihelp.Command
		walk(&tree.Root, func(x *clihelp.Command) {
			if slices.Equal(x.Path, want.Path) {
				c = x
			}
		})
		if c == nil {
			t.Errorf("no command %q", want.Path)
			continue
		}
		say := func(format string, args ...any) {
			t.Logf("%s: "+format, append([]any{strings.Join(append([]string{p.Tool}, want.Path...), " ")}, args...)...)
		}
		s := found{commands: 1, operands: 1}
		names := subNames(c)
		for _, name := range want.Subcommands {
			s.subs++
			if slices.Contains(names, name) {
				s.subsFound++
			} else {
				say("no subcommand %s", name)
			}
		}
		for name, kind := range want.Flags {
			s.flags++
			i := slices.IndexFunc(c.Flags, func(f clihelp.Flag) bool { return named(f, []string{name}) })
			if i < 0 {
				say("no flag %s", name)
				continue
			}
			s.flagsFound++
			if kind == "" {
				continue
			}
			s.kinds++
			if f := c.Flags[i]; (kind == "switch") == (f.Kind == clihelp.Bool) || f.Optional {
				s.kindsRight++
			} else {
				say("flag %s is %s, not a %s", name, f.Kind, kind)
			}
		}
		var required []string
		for _, a := range c.Args {
			if a.Required {
				required = append(required, a.Name)
			}
		}
		for _, name := range required {
			if !slices.Contains(want.Required, name) {
				s.invented++
				say("invented the required argument %s", name)
			}
		}
		for _, name := range want.Required {
			if !slices.Contains(required, name) {
				s.required++
				say("%s is not required", name)
			}
		}
		if want.Operands != (len(c.Args) > 0) && callable(c) {
			s.operands = 0
			say("its arguments are %v", c.Args)
		}
		all.add(s)
	}
	return all
}
