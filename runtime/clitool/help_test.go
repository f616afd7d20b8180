package clitool

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/clihelp"
)

// TestManPage: of a man page the line with the name says what the command is.
func TestManPage(t *testing.T) {
	t.Parallel()
	page := "TOOL-LIST(1)          Tool Manual          TOOL-LIST(1)\n\nNAME\n       tool-list - Print what there is\n\nSYNOPSIS\n       tool list [--all] <place>\n\nDESCRIPTION\n       A long story.\n\nOPTIONS\n       --all\n           Print everything.\n"
	c := readHelp([]byte(page), []string{"list"})
	if c.Summary != "Print what there is" || strings.Contains(c.Text, "story") || !slices.ContainsFunc(c.Flags, func(f clihelp.Flag) bool { return f.Long == "--all" }) {
		t.Errorf("got %+v", c)
	}
}

// TestFurtherSpellings: a rule about a flag holds for each of its spellings.
func TestFurtherSpellings(t *testing.T) {
	t.Parallel()
	f := clihelp.Flag{Long: "--quiet", Short: "-q", Negated: "--no-quiet", Aliases: []string{"--silent"}}
	for _, name := range []string{"--quiet", "-q", "--no-quiet", "--silent"} {
		if !named(f, []string{name}) {
			t.Errorf("%s is none of %v", name, namesOf(f))
		}
	}
}
