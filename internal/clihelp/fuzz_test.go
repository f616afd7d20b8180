package clihelp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// seed adds the files of testdata that match a pattern.
func seed(f *testing.F, pattern string) {
	f.Helper()
	files, err := filepath.Glob("testdata/" + pattern)
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds at %s: %v", pattern, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, "list")
	}
}

// checkBounds fails where a command is larger than the bounds say, or holds a name that
// no command line could have.
func checkBounds(t *testing.T, c Command, depth int) {
	t.Helper()
	if len(c.Flags) > maxItems || len(c.Sub) > maxItems || len(c.Args) > maxItems || depth > maxDepth+1 {
		t.Fatalf("%d flags, %d subcommands, %d arguments, depth %d", len(c.Flags), len(c.Sub), len(c.Args), depth)
	}
	if len(c.Text) > maxText || len(c.Summary) > maxSummary {
		t.Fatalf("%d bytes of text, %d of summary", len(c.Text), len(c.Summary))
	}
	for _, f := range c.Flags {
		names := f.names()
		if len(names) == 0 || len(f.Enum) > maxValues || len(f.Summary) > maxSummary+1 {
			t.Fatalf("flag %+v", f)
		}
		for _, n := range names {
			if n[0] != '-' || strings.Trim(n, "-") == "" || strings.ContainsAny(n, " \t\n=") {
				t.Fatalf("a flag named %q", n)
			}
		}
	}
	for _, s := range c.Sub {
		if name := s.Path[len(s.Path)-1]; name[0] == '-' || strings.ContainsAny(name, " \t\n=/") {
			t.Fatalf("a subcommand named %q", name)
		}
		checkBounds(t, s, depth+1)
	}
}

// fuzz runs a parser over random texts: it neither panics nor hangs, and what it
// returns is bounded.
func fuzz(f *testing.F, parse func(text []byte, word string) Command) {
	f.Fuzz(func(t *testing.T, text []byte, word string) {
		start := time.Now()
		c := parse(text, word)
		if took := time.Since(start); took > 10*time.Second {
			t.Fatalf("%d bytes took %s", len(text), took)
		}
		checkBounds(t, c, 0)
	})
}

func FuzzParse(f *testing.F) {
	seed(f, "help/*.txt")
	fuzz(f, func(text []byte, word string) Command { return Parse(text, []string{word}) })
}

func FuzzMan(f *testing.F) {
	seed(f, "man/*.txt")
	fuzz(f, func(text []byte, word string) Command { return ParseMan(text, []string{word}) })
}

func FuzzFish(f *testing.F) {
	seed(f, "fish/*.fish")
	fuzz(f, func(text []byte, _ string) Command { return ParseFish(text, "orchard") })
}

func FuzzComplete(f *testing.F) {
	seed(f, "complete/*.txt")
	fuzz(f, func(text []byte, word string) Command {
		c := ParseComplete(text, []string{word})
		return Merge(Parse(text, []string{word}), c)
	})
}

func FuzzJSON(f *testing.F) {
	seed(f, "json/*.txt")
	fuzz(f, func(text []byte, _ string) Command {
		c, _ := ParseJSON(text, nil)
		return c
	})
}

// TestLarge reads large texts of the kinds that would take a careless parser the square
// of their size. make cli-corpus reads them in the largest size there is.
func TestLarge(t *testing.T) {
	size, limit := maxInput/128, 20*time.Second // of a loaded machine, under the race detector
	if os.Getenv("MCPCTL_NIGHTLY") != "" {
		size, limit = maxInput, 10*time.Second
	}
	for name, unit := range map[string]string{
		"options":              "  -x, --long-%d=VALUE   a description [default: 5] (one of: a, b)\n",
		"brackets":             "[",
		"nested":               "usage: x [[[[(((a|b",
		"usage":                "usage: x [-a <b>] [c...] | d\n",
		"words":                "Commands:\n  a  b\n  c  d\n",
		"quotes":               "complete -c orchard -a 'x\n",
		"backslashes":          "complete -c orchard \\\n",
		"commas":               "a, b, ",
		"escapes":              "\x1b[",
		"blank":                "  -a\n\n\n\n",
		"commas after options": "  --a,\n",
		"dashes":               "-a -b -c ",
		"pipes":                "usage: x (-a | -b | ",
	} {
		text := []byte(strings.Repeat(unit, size/len(unit)+1))
		for parser, parse := range map[string]func(){
			"Parse":     func() { checkBounds(t, Parse(text, nil), 0) },
			"ParseMan":  func() { checkBounds(t, ParseMan(append([]byte("X(1)\nSYNOPSIS\n"), text...), nil), 0) },
			"ParseFish": func() { checkBounds(t, ParseFish(text, "orchard"), 0) },
		} {
			start := time.Now()
			parse()
			if took := time.Since(start); took > limit {
				t.Errorf("%s of %s took %s", parser, name, took)
			}
		}
	}
}
