package clitool

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/clihelp"
	"github.com/mcpctl/mcpctl/test/require"
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

// TestRead: what calls run of a help, and what is refused because the tool would read it
// as something else.
func TestRead(t *testing.T) {
	t.Parallel()
	const (
		git  = "usage: x [<options>] [[--] <path>...]\n\n    --no-decorate, --decorate[=short|full]  names\n    -<number>, -n <number>, --max-count=<number>\n"
		clap = "Usage: x [OPTIONS] [PLACE] [-- <WORDS>...]\n\nOptions:\n  -c[=<C>]\n  -z [<Z>]\n  -g[<G>]\n      --color[=<WHEN>]\n" +
			"      --depth [<DEPTH>]\n      --pair <FIRST> <SECOND>\n      --many <MANY>...\n  -v, --verbose...\n  -h, --help   Print help\n"
		click = "Usage: x [OPTIONS] [NAME]\n\nOptions:\n  --pair TEXT...\n  --point <TEXT INTEGER RANGE>...\n  --user TEXT\n  --limit INTEGER\n  --help  Show this message and exit.\n"
	)
	for _, tt := range []struct{ help, args, want string }{
		{clap, `{"c":"a"}`, "-c=a"}, // -ca is -c -a
		{clap, `{"c":true}`, "-c"},
		{clap, `{"g":"a"}`, "-ga"},
		{git, `{"decorate":false,"path":["p"]}`, "--no-decorate p"},
		{git, `{"decorate":"short","n":3}`, "error: n is not an argument of x"},
		{git, `{"decorate":"short","max-count":3}`, "--decorate=short --max-count=3"},
		{clap, `{"g":"a","c":""}`, "error: c: the value is empty"},
		{clap, `{"z":"a"}`, "-z a"},
		{clap, `{"z":true}`, "error: z: want a text"}, // it would take the next word
		{clap, `{"z":"-a"}`, `error: z: the value "-a" begins with a dash, and could be taken for a flag`},
		{clap, `{"color":true,"place":"p"}`, "--color p"},
		{clap, `{"depth":true,"place":"p"}`, "error: depth: want a text"},
		{clap, `{"depth":"3","place":"p"}`, "--depth=3 p"},
		{clap, `{"pair":["a","b"],"place":"p"}`, "--pair a b p"},
		{clap, `{"pair":["a"]}`, "error: pair: want 2 values"},
		{clap, `{"pair":["a","-b"]}`, `error: pair: the value "-b" begins with a dash, and could be taken for a flag`},
		{clap, `{"pair":"ab"}`, "error: pair: want a list"},
		{clap, `{"many":["-a","b"]}`, "--many=-a --many=b"},
		{clap, `{"verbose":2}`, "--verbose --verbose"},
		{clap, `{"verbose":["-a"]}`, "error: verbose: want a number"},
		{clap, `{"words":["-a","b"]}`, "-- -a b"},
		{clap, `{"place":"p","words":["-a"]}`, "p -- -a"},
		{clap, `{"place":"-p"}`, `error: the value "-p" begins with a dash, and x could take it for a flag`},
		{click, `{"pair":["a","b"]}`, "error: pair is not an argument of x"}, // nobody knows how many
		{click, `{"point":["a","b"],"name":"-n"}`, "--point a b -- -n"},
		{click, `{"user":"--limit=1"}`, `error: user: the value "--limit=1" begins with a dash, and could be taken for a flag`},
		{click, `{"limit":-1}`, "--limit=-1"},
	} {
		c := sound(clihelp.Parse([]byte(tt.help), nil))
		b := &builder{program: &Program{Command: "x"}, found: &Found{Root: c, EndsFlags: true, SplitsValues: strings.Contains(tt.help, clickMark)}}
		tools, err := b.tools([]selected{{Command: &c, whole: true}})
		require.NoError(t, err)
		words, err := tools[0].argv([]byte(tt.args))
		got := strings.Join(words, " ")
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.args, got, tt.want)
		}
	}
}

// TestClickGroup: a group of click takes its own arguments before the subcommand, so that
// its subcommands cannot be called without them.
func TestClickGroup(t *testing.T) {
	t.Parallel()
	for _, usage := range []string{"[PLACE] COMMAND [ARGS]...", "[PLACE] [COMMAND] [ARGS]..."} {
		c := sound(readHelp([]byte("Usage: x "+usage+"\n\nOptions:\n  --help  "+clickMark+"\n\nCommands:\n  drop  Empty it\n  wipe  For good\n"), nil))
		if len(c.Sub) > 0 || len(c.Args) != 1 {
			t.Errorf("%s: got %+v", usage, c)
		}
	}
}

// TestGroups: subcommands that cannot be called as they stand are no tools, and words of the
// caller's are not taken where they could be the next command.
func TestGroups(t *testing.T) {
	t.Parallel()
	const list = "\n\nCommands:\n  drop  Empty it\n  wipe  For good\n"
	for _, tt := range []struct {
		usage string
		want  string // the commands; one in brackets takes the caller's own words
	}{
		{"Usage: x [OPTIONS] COMMAND [ARGS]...", "[drop] [wipe]"},
		{"Usage: x [OPTIONS] PLACE COMMAND [ARGS]...", "x"},
		{"Usage: x [OPTIONS] [PLACE] COMMAND [ARGS]...", "x"},
		{"Usage: x [OPTIONS] <PLACE> <COMMAND>", "x"},
		{"Usage: x [OPTIONS] [PLACE] [COMMAND]", "[x] [drop] [wipe]"},
		{"usage: x [-h] place {drop,wipe} ...", "x"},
		{"Usage: x [OPTIONS] COMMAND1 [ARGS]... [COMMAND2 [ARGS]...]...", "drop wipe"},
	} {
		c := sound(clihelp.Parse([]byte(tt.usage+list), nil))
		b := &builder{program: &Program{Command: "x"}, found: &Found{Root: c}, exposed: Exposure{Only: []string{"*"}, FreeArgs: true}}
		commands, err := selectCommands("x", &c, b.exposed)
		require.NoError(t, err)
		tools, err := b.tools(commands)
		require.NoError(t, err)
		var got []string
		for _, x := range tools {
			name := x.name
			if x.free {
				name = "[" + name + "]"
			}
			got = append(got, name)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: got %s, want %s", tt.usage, got, tt.want)
		}
	}
}
