package clihelp

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/wait"
)

// program is what a program that many machines have is known to have. The tables were
// not made with this package: their names were taken from the help and the manual of the
// version they name, and looked over by hand.
type program struct {
	Tool    string
	Version struct {
		Run []string
		Is  string
	}
	Commands []struct {
		// Run prints the help of the command at Path.
		Run, Path, Subcommands []string
		// Flags has kinds by names: "-o --output".
		Flags map[string]string
		// Required are the positional arguments that have to be given.
		Required []string
	}
}

// score counts what is right of how much.
type score struct {
	commands                        int
	subs, subsFound, subsInvented   int
	flags, flagsFound, flagsInvent  int
	kinds, positionals, positionsOK int
}

func (s *score) add(o score) {
	s.commands += o.commands
	s.subs += o.subs
	s.subsFound += o.subsFound
	s.subsInvented += o.subsInvented
	s.flags += o.flags
	s.flagsFound += o.flagsFound
	s.flagsInvent += o.flagsInvent
	s.kinds += o.kinds
	s.positionals += o.positionals
	s.positionsOK += o.positionsOK
}

func percent(n, of int) float64 {
	if of == 0 {
		return 100
	}
	return 100 * float64(n) / float64(of)
}

func (s score) row(tool, version string) string {
	return fmt.Sprintf("| %s | %s | %d | %d of %d | %d of %d | %d | %d of %d | %d of %d |", tool, version, s.commands,
		s.subsFound, s.subs, s.flagsFound, s.flags, s.subsInvented+s.flagsInvent, s.kinds, s.flagsFound, s.positionsOK, s.positionals)
}

const head = `| program | version | commands | subcommands found | flags found | invented | types right | required arguments right |
|---|---|---|---|---|---|---|---|`

// runHelp returns what a command prints, within a megabyte.
func runHelp(t *testing.T, args []string) []byte {
	t.Helper()
	cmd := exec.CommandContext(wait.Context(t), args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "COLUMNS=100", "PAGER=cat", "GIT_PAGER=cat", "MANPAGER=cat", "TERM=dumb", "LC_ALL=C", "NO_COLOR=1")
	cmd.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run() // some print their help and fail
	if len(bytes.TrimSpace(stdout.Bytes())) == 0 {
		return stderr.Bytes()
	}
	return stdout.Bytes()
}

// TestReal compares what is found of the programs of this machine with the tables of
// testdata/truth. With -v it prints the table of test/reports/cli-corpus.md.
func TestReal(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the help of many programs")
	}
	all := scoreAll(t, "truth")
	for what, ok := range map[string]bool{
		"95 % of subcommands":        percent(all.subsFound, all.subs) >= 95,
		"90 % of flags":              percent(all.flagsFound, all.flags) >= 90,
		"90 % of kinds":              percent(all.kinds, all.flagsFound) >= 90,
		"90 % of required arguments": percent(all.positionsOK, all.positionals) >= 90,
		"nothing invented":           all.subsInvented+all.flagsInvent == 0,
	} {
		if !ok {
			t.Errorf("less than %s", what)
		}
	}
}

// TestHeldOut is TestReal with programs that nothing of this package was written for. Their
// tables were made with their own parsers and completion scripts. They are kept as a
// measure: what is not found of them is no reason to change the package.
func TestHeldOut(t *testing.T) {
	if os.Getenv("MCPCTL_NIGHTLY") == "" {
		t.Skip("needs programs that are installed for it: make cli-corpus")
	}
	all := scoreAll(t, "heldout")
	if percent(all.flagsFound, all.flags) < 90 || all.subsInvented+all.flagsInvent > 0 {
		t.Errorf("%d of %d flags, %d invented", all.flagsFound, all.flags, all.subsInvented+all.flagsInvent)
	}
}

// scoreAll compares programs with the tables of a folder, and reports the scores. Where a
// program has another version than its table, only what its help names is asked for, and
// nothing counts as invented.
func scoreAll(t *testing.T, folder string) score {
	t.Helper()
	files, err := filepath.Glob("testdata/" + folder + "/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no tables: %v", err)
	}
	var mu sync.Mutex // guards all and rows
	var all score
	var rows []string
	t.Run("programs", func(t *testing.T) {
		for _, file := range files {
			var p program
			readTruth(t, file, &p)
			t.Run(p.Tool, func(t *testing.T) {
				t.Parallel()
				if _, err := exec.LookPath(p.Commands[0].Run[0]); err != nil {
					t.Skipf("%s is not installed here", p.Tool)
				}
				version := "another"
				if bytes.Contains(runHelp(t, p.Version.Run), []byte(p.Version.Is)) {
					version = p.Version.Is
				}
				got := p.score(t, version == p.Version.Is)
				mu.Lock()
				defer mu.Unlock()
				all.add(got)
				rows = append(rows, got.row(p.Tool, version))
			})
		}
	})
	slices.Sort(rows)
	report(t, folder, strings.Join(slices.Concat([]string{head}, rows, []string{all.row("all", "")}), "\n"))
	return all
}

// score compares a program with its table.
func (p program) score(t *testing.T, same bool) score {
	var all score
	begun := time.Now()
	for i, want := range p.Commands {
		if time.Since(begun) > time.Second && os.Getenv("MCPCTL_NIGHTLY") == "" {
			t.Logf("%s is slow here: %d commands are left to make cli-corpus", p.Tool, len(p.Commands)-i)
			break
		}
		if _, err := exec.LookPath(want.Run[0]); err != nil {
			t.Logf("%s is not installed here", want.Run[0])
			continue
		}
		text := runHelp(t, want.Run)
		got := Parse(text, want.Path)
		here := func(name string) bool { return same || bytes.Contains(text, []byte(name)) }
		s := score{commands: 1, positionals: 1}
		say := func(format string, args ...any) { t.Logf("%s: "+format, append([]any{want.Run}, args...)...) }

		for _, name := range want.Subcommands {
			if !here(name) {
				continue
			}
			s.subs++
			if slices.ContainsFunc(got.Sub, func(c Command) bool { return c.Path[len(c.Path)-1] == name }) {
				s.subsFound++
			} else {
				say("no subcommand %s", name)
			}
		}
		for _, c := range got.Sub {
			if name := c.Path[len(c.Path)-1]; same && !slices.Contains(want.Subcommands, name) {
				s.subsInvented++
				say("invented subcommand %s", name)
			}
		}

		known := map[string]bool{}
		for _, key := range slices.Sorted(maps.Keys(want.Flags)) {
			names := strings.Fields(strings.ReplaceAll(key, "[no-]", ""))
			for _, n := range names {
				known[n] = true
			}
			if !slices.ContainsFunc(names, here) {
				continue
			}
			s.flags++
			i := slices.IndexFunc(got.Flags, func(f Flag) bool {
				return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(f.names(), n) })
			})
			switch {
			case i < 0:
				say("no flag %s", key)
			case string(got.Flags[i].Kind) != want.Flags[key]:
				s.flagsFound++
				say("flag %s is %s, not %s", key, got.Flags[i].render(), want.Flags[key])
			default:
				s.flagsFound++
				s.kinds++
			}
		}
		for _, f := range got.Flags {
			if same && !slices.ContainsFunc(f.names(), func(n string) bool { return known[n] }) {
				s.flagsInvent++
				say("invented flag %s", f.key())
			}
		}

		var required []string
		for _, a := range got.Args {
			if a.Required {
				required = append(required, a.Name)
			}
		}
		if slices.EqualFunc(required, want.Required, sameName) {
			s.positionsOK++
		} else {
			say("required arguments %q, not %q", required, want.Required)
		}
		all.add(s)
	}
	return all
}
