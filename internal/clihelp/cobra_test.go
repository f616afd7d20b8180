package clihelp

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestCobra compares the help of cobra programs with what their hidden __complete
// command says, three levels deep. What a help does not name at all is left out: kubectl
// keeps the flags of all commands for "kubectl options". Programs that are not installed
// are built from their modules, the newest that this Go builds, which takes minutes: the
// nightly run alone does it.
func TestCobra(t *testing.T) {
	if os.Getenv("MCPCTL_NIGHTLY") == "" {
		t.Skip("builds large programs: make cli-corpus")
	}
	rows := []string{"| program | version | commands | subcommands found | flags found | subcommands invented |\n|---|---|---|---|---|---|"}
	for _, p := range []struct{ name, module, version string }{
		{"docker", "", "--version"},
		{"kubectl", "", "version --client"},
		{"helm", "helm.sh/helm/v3/cmd/helm@v3.22.0", "version --short"},
		{"gh", "github.com/cli/cli/v2/cmd/gh@latest", "--version"},
		{"hugo", "github.com/gohugoio/hugo@v0.165.0", "version"},
	} {
		t.Run(p.name, func(t *testing.T) {
			c := cobra{program: install(t, p.name, p.module)}
			version := number3.FindString(string(runHelp(t, append([]string{c.program}, strings.Fields(p.version)...))))
			if version == "" {
				_, version, _ = strings.Cut(p.module, "@v") // a build from the module may not know it
			}
			c.walk(t, nil, 0)
			s := c.score
			rows = append(rows, fmt.Sprintf("| %s | %s | %d | %d of %d | %d of %d | %d |", p.name, version, s.commands, s.subsFound, s.subs, s.flagsFound, s.flags, s.subsInvented))
			if percent(s.subsFound, s.subs) < 95 || percent(s.flagsFound, s.flags) < 90 {
				t.Errorf("%d of %d subcommands, %d of %d flags", s.subsFound, s.subs, s.flagsFound, s.flags)
			}
		})
	}
	report(t, "cobra", strings.Join(rows, "\n"))
}

// number3 is a version as programs print it.
var number3 = regexp.MustCompile(`\d+\.\d+\.\d+`)

// install returns the program of a name: the one of this machine, or one that is built.
func install(t *testing.T, name, module string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	if module == "" {
		t.Skipf("%s is not installed here", name)
	}
	bin := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", "install", module)
	cmd.Env = append(os.Environ(), "GOBIN="+bin, "GOFLAGS=-mod=mod")
	cmd.Dir = bin
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("%s does not build: %v\n%.2000s", module, err, out)
	}
	return filepath.Join(bin, name)
}

// cobra is a program while its commands are compared.
type cobra struct {
	program string
	score   score
}

func (c *cobra) walk(t *testing.T, path []string, depth int) {
	t.Helper()
	text := runHelp(t, slices.Concat([]string{c.program}, path, []string{"--help"}))
	got := Parse(text, path)
	complete := func(word string) Command {
		return ParseComplete(runHelp(t, slices.Concat([]string{c.program, "__complete"}, path, []string{word})), path)
	}
	c.score.commands++
	name := func(s Command) string { return s.Path[len(s.Path)-1] }

	// What a command without subcommands completes are values, which no help lists.
	if words := complete("").Sub; len(got.Sub) > 0 {
		for _, want := range words {
			if !bytes.Contains(text, []byte(" "+name(want)+" ")) {
				continue
			}
			c.score.subs++
			if slices.ContainsFunc(got.Sub, func(s Command) bool { return name(s) == name(want) }) {
				c.score.subsFound++
			} else {
				t.Logf("%s: no subcommand %s", path, name(want))
			}
		}
		for _, s := range got.Sub {
			if !slices.ContainsFunc(words, func(w Command) bool { return name(w) == name(s) }) {
				c.score.subsInvented++
				t.Logf("%s: invented subcommand %s", path, name(s))
			}
		}
	}
	for _, want := range complete("--").Flags {
		if !bytes.Contains(text, []byte(" "+want.Long)) {
			continue
		}
		c.score.flags++
		if slices.ContainsFunc(got.Flags, func(f Flag) bool { return slices.Contains(f.names(), want.Long) }) {
			c.score.flagsFound++
		} else {
			t.Logf("%s: no flag %s", path, want.Long)
		}
	}
	if depth < 2 {
		for _, s := range got.Sub {
			c.walk(t, s.Path, depth+1)
		}
	}
}
