package clihelp

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

func read(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestParseMan(t *testing.T) {
	var want truth
	readTruth(t, "testdata/man/page.json", &want)
	compare(t, ParseMan(read(t, "testdata/man/page.txt"), nil), want)
}

func TestParseComplete(t *testing.T) {
	var want truth
	readTruth(t, "testdata/complete/words.json", &want)
	compare(t, ParseComplete(read(t, "testdata/complete/words.txt"), nil), want)
}

// tree returns a command and what is below it, a line each.
func tree(c Command) string {
	var b strings.Builder
	var walk func(Command)
	walk = func(c Command) {
		fmt.Fprintf(&b, "%s: %s", strings.Join(c.Path, " "), c.Summary)
		if c.Deprecated {
			b.WriteString(" (deprecated)")
		}
		if c.Aliases != nil {
			fmt.Fprintf(&b, " aliases %s", c.Aliases)
		}
		b.WriteByte('\n')
		for _, f := range c.Flags {
			fmt.Fprintf(&b, "  %s %s\n", f.key(), f.render())
		}
		for _, a := range c.Args {
			fmt.Fprintf(&b, "  %s\n", a.render())
		}
		for _, s := range c.Sub {
			walk(s)
		}
	}
	walk(c)
	return strings.TrimSuffix(b.String(), "\n")
}

func TestParseFish(t *testing.T) {
	got := tree(ParseFish(read(t, "testdata/fish/orchard.fish"), "orchard"))
	want := `: 
  -v --verbose boolean
graft: Graft a twig
  -f --file string
  --angle string =5
list: List the orchard's trees
  -f --file string
  --output string {json,yaml,table}
  -wide boolean
  --tree string
list help: 
  --paint string {red,blue}
prune: Deprecated: use trim (deprecated)`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestParseJSON(t *testing.T) {
	for file, want := range map[string]string{
		"oclif": `: 
tree: Trees
tree graft: Graft a twig onto a tree aliases [graft]
  -a --angle string {5,10} =5
  --at string repeated required
  --dry --no-dry boolean
  tree
  [twig]`,
		"click": `: Weave and sell cloth.
  -v --verbose boolean =false
  --width integer required
  --edge string {plain,fringe}
  pattern...
weave: Weave a cloth. (deprecated)`,
	} {
		c, ok := ParseJSON(read(t, "testdata/json/"+file+".txt"), nil)
		if got := tree(c); !ok || got != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", file, ok, got, want)
		}
	}
	for _, none := range []string{"", "{", "[]", "{}", `"usage: x"`, `{"commands":"x"}`, "Usage: x [--json]"} {
		if c, ok := ParseJSON([]byte(none), nil); ok {
			t.Errorf("%q is a description: %+v", none, c)
		}
	}
}

func TestMerge(t *testing.T) {
	help := Parse([]byte("Usage: x [OPTIONS] COMMAND\n\nCommands:\n  get\n  put  Put it\n\nOptions:\n  -o, --out FILE  File\n"), nil)
	more := ParseComplete([]byte("get\tGet it\nset\tSet it\n--out\tout\n--in\tin\n:4\n"), nil)
	if got, want := tree(Merge(help, more)), ": \n  -o --out string\n  --in \nget: Get it\nput: Put it\nset: Set it"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// What a command without subcommands completes are values of its argument.
	leaf := Parse([]byte("Usage: x get NAME\n"), []string{"get"})
	if got := Merge(leaf, more); len(got.Sub) != 0 || !slices.ContainsFunc(got.Flags, func(f Flag) bool { return f.Long == "--in" && f.Kind == "" }) {
		t.Errorf("values became subcommands: %+v", got)
	}
}
