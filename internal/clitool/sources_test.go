package clitool

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/clihelp"
	"github.com/mcpctl/mcpctl/test/require"
)

// outline gives a command and those below it, one a line, with the names of the flags.
func outline(c *clihelp.Command) string {
	var b strings.Builder
	walk(c, func(c *clihelp.Command) {
		fmt.Fprintf(&b, "/%s", strings.Join(c.Path, " "))
		for _, f := range c.Flags {
			fmt.Fprintf(&b, " %s", f.Long)
			if f.Kind != clihelp.Bool {
				fmt.Fprintf(&b, "=%s", f.Kind)
			}
		}
		b.WriteString("\n")
	})
	return b.String()
}

const (
	cobraHelp = `Usage: spade [command]

Available Commands:
  dig   Dig a hole

Use "spade [command] --help" for more information about a command.
Use "spade options" for a list of global command-line options (applies to all commands).`
	digHelp  = "Usage: spade dig [flags]\n\nFlags:\n      --deep   Deep\n"
	fillHelp = "Usage: spade fill [flags]\n\nFlags:\n      --with string   What\n"
)

// TestSources: each place where commands are described is used where it should be.
func TestSources(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		script string            // the tool's answer to "$*"
		man    map[string]string // pages by name
		fish   string
		help   string
		depth  int
		want   string
	}{
		"cobra completes what its help leaves out": {
			script: `'--help') help "` + "$COBRA" + `";; 'dig --help') help "$DIG";; 'fill --help') help "$FILL";;
'__complete ') printf 'dig\tDig\nfill\tFill it\nhelp\tHelp\n:4\n';; '__complete -') printf -- '--user\tWho\n--user=\tWho\n--loud\tLoud\n:4\n';;
options) help 'The following options can be passed to any command:

    --quiet=false:
	Say less';;`,
			want: "/ --quiet --user=string --loud\n/dig --deep --quiet\n/fill --with=string --quiet\n",
		},
		"a leaf is not completed": {
			script: `'--help') help "$COBRA";; 'dig --help') help "$DIG";; '__complete dig '*) echo asked >>"$0.asked"; printf 'mole\n:4\n';;`,
			want:   "/\n/dig --deep\n",
		},
		"a tool that only looks like cobra": {
			script: `'--help') help "$COBRA";; 'dig --help') help "$DIG";; __complete*) printf 'done\n';;`,
			want:   "/\n/dig --deep\n",
		},
		"help in JSON, where the help says so": {
			script: `'--help') help 'Usage: spade CMD
  --help=json  the same for programs';;
'--help=json') help '{"commands":[{"name":"dig","flags":[{"name":"deep","type":"integer"}],"commands":[{"name":"hole","flags":[{"name":"round","type":"boolean"}],"commands":[{"name":"x","flags":[{"name":"y"}]}]}]}]}';;`,
			depth: 2,
			want:  "/\n/dig --deep=integer\n/dig hole --round\n/dig hole x\n",
		},
		"help in JSON, where the entry says so": {
			script: `'describe --json') help '{"commands":[{"name":"dig","summary":"Dig"},{"name":"fill","summary":"Fill"}]}';;
'dig describe --json') help '{"name":"dig","flags":[{"name":"deep","type":"boolean"},{"name":"wide","type":"boolean"}]}';;`,
			help: "describe --json",
			want: "/\n/dig --deep --wide\n/fill\n",
		},
		"a man page, where there is no help": {
			script: `*) echo 'spade: what?' >&2; exit 1;;`,
			man: map[string]string{
				"spade":     "SPADE(1)    Manual    SPADE(1)\n\nNAME\n       spade - dig holes\n\nSYNOPSIS\n       spade [--deep] [--at=<place>] <command>\n\nOPTIONS\n       --deep\n           Deep.\n\n       --at=<place>\n           Where.\n\nCOMMANDS\n       dig\n           Dig a hole.\n\n       fill\n           Fill it.\n",
				"spade-dig": "SPADE-DIG(1)    Manual    SPADE-DIG(1)\n\nNAME\n       spade-dig - dig\n\nSYNOPSIS\n       spade dig [--round] [--fast]\n\nOPTIONS\n       --round\n           Round.\n\n       --fast\n           Fast.\n",
			},
			want: "/ --deep --at=string\n/dig --round --fast\n/fill\n",
		},
		"the command list, where the help is its own": {
			script: `'--help') printf 'Usage:\n  list [options] [--] [<namespace>]\n\nOptions:\n  -v|vv|vvv, --verbose  More\n\nHelp:\n  The list command lists all commands:\n\n    spade list\n';;
list) printf 'Usage:\n  command [options] [arguments]\n\nAvailable commands:\n  dig   Dig it\n\n bed\n  bed water  Water it\n';;
'dig --help') help "$DIG";;`,
			want: "/ --verbose\n/dig --deep\n/bed\n",
		},
		"a longer help, which the help names": {
			script: `'--help') help 'Usage: spade [--deep]
  --long-help  all';;
--long-help) help 'Usage: spade [--deep] [--wide] [--long-help]';;`,
			want: "/ --deep --wide --long-help\n",
		},
		"a completion file, where there is nothing else": {
			script: `*) exit 1;;`,
			fish:   "complete -c spade -n __fish_use_subcommand -a dig -d 'Dig'\ncomplete -c spade -n '__fish_seen_subcommand_from dig' -l deep -d 'Deep'\n",
			want:   "/\n/dig --deep\n",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			prefix := t.TempDir()
			bin := filepath.Join(prefix, "bin")
			write := func(path, text string) {
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
				require.NoError(t, require.WriteProgram(path, []byte(text), 0o755))
			}
			tool := filepath.Join(bin, "spade")
			script := "#!/bin/sh\nhelp() { printf '%s\\n' \"$1\"; }\ncase \"$*\" in\n" + c.script + "\n*) echo unknown >&2; exit 2;;\nesac\n"
			write(tool, strings.NewReplacer("$COBRA", strings.ReplaceAll(cobraHelp, `"`, `\"`), "$DIG", digHelp, "$FILL", fillHelp).Replace(script))
			manual := "#!/bin/sh\ncase \"$1\" in\n"
			for page, text := range c.man {
				manual += "'" + page + "') printf '%s' '" + text + "';;\n"
			}
			write(filepath.Join(bin, "man"), manual+"*) exit 16;;\nesac\n")
			if c.fish != "" {
				write(filepath.Join(prefix, "share/fish/vendor_completions.d/spade.fish"), c.fish)
			}
			found, err := Discover(t.Context(), Options{
				Program: Program{Command: tool, Env: map[string]string{"PATH": bin + ":/usr/bin:/bin"}}, Help: c.help, Depth: c.depth,
			})
			require.NoError(t, err)
			if got := outline(&found.Root); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
			if text, err := os.ReadFile(tool + ".asked"); err == nil {
				t.Errorf("it was run: %s", text)
			}
		})
	}
}

// TestWholeDescriptionIsSound: what was described at once is looked at as everything
// else.
func TestWholeDescriptionIsSound(t *testing.T) {
	t.Parallel()
	c := soundTree(clihelp.Command{Sub: []clihelp.Command{
		{Path: []string{"dig"}, Flags: []clihelp.Flag{{Long: "--deep;rm", Short: "-d"}, {Long: "--ok"}}, Sub: []clihelp.Command{{Path: []string{"dig", "-x"}}, {Path: []string{"dig", "hole"}, Flags: []clihelp.Flag{{Long: "--y"}}}}},
		{Path: []string{"--force"}},
	}}, 1)
	if len(c.Sub) != 1 || len(c.Sub[0].Sub) != 1 || len(c.Sub[0].Sub[0].Flags) != 0 {
		t.Fatalf("got %+v", c)
	}
	if !slices.Equal(namesOf(c.Sub[0].Flags[0]), []string{"-d"}) {
		t.Errorf("got %v", namesOf(c.Sub[0].Flags[0]))
	}
}

// TestUndescribed: what is known of commands without their own help, and of those that
// were not reached.
func TestUndescribed(t *testing.T) {
	t.Parallel()
	const (
		listed   = "Usage: x [OPTION]... COMMAND\n\nCommands:\n  start UNIT...   Start\n  show [UNIT...]  Show\n  reload          Reload\n\nOptions:\n      --force   Force\n      --host=HOST   Where\n"
		unlisted = "Usage: x [options] command\n\nMost used commands:\n  show - show details\n  remove - remove it\n"
		letters  = "Usage: x <command> [<switches>...] <archive> [<files>...]\n\n<Commands>\n  l : List contents\n  t : Test it\n\n<Switches>\n  -o{Directory} : set Output directory\n  -y : assume Yes\n"
		objects  = "Usage: x [ OPTIONS ] OBJECT { COMMAND | help }\nwhere  OBJECT := { link | route }\n       OPTIONS := { -V[ersion] | -s[tatistics] }\n"
		topics   = "Run x --help=topic for help on a topic. The usage is there.\n"
	)
	deep := func(sub string) string { return "Usage: spade [COMMAND]\n\nCommands:\n  " + sub + "  One\n" }
	for name, tt := range map[string]struct {
		script string
		only   string // "" for what reads
		want   string // the tools with their arguments
		call   string
		argv   string
	}{
		"the list has the arguments":              {`*) help "` + listed + `";;`, "*", "start(unit, force, host) show(unit, force, host) reload(force, host)", `start {"unit":["a","b"],"force":true}`, "--force start a b"},
		"flags of the whole tool are not guessed": {`*) help "` + listed + `";;`, "", "show(unit)", `show {"unit":["-x"]}`, `error: the value "-x" begins with a dash, and show could take it for a flag`},
		"the list has none":                       {`*) help "` + unlisted + `";;`, "", "show(args)", `show {"args":["jq"]}`, "show jq"},
		"words that could be a command":           {`*) help "` + unlisted + `";;`, "", "show(args)", `show {"args":["remove"]}`, `error: args: the value "remove" could be a command; name show in cliOnly if it is none`},
		"the same where a rule exposes it":        {`*) help "` + unlisted + `";;`, "show", "show(args)", `show {"args":["remove"]}`, "show remove"},
		"arguments behind the place of a command": {`*) help "` + letters + `";;`, "*", "l(archive, files, o, y) t(archive, files, o, y)", `t {"archive":"a.7z","o":"out","files":["f"]}`, "-oout t a.7z f"},
		"a grammar in capitals":                   {`'link help') printf 'Usage: x link show [ DEVICE ]\n       x link set DEVICE up\n';; --help|help) help "` + objects + `";; link*) echo "Command \"--help\" is unknown, try \"x link help\"." >&2; exit 1;;`, "link", "link_show(device) link_set(device, up)", `link_show {"device":"lo"}`, "link show lo"},
		"too many words":                          {`--help) help "` + deep("a") + deep("f") + `";; 'a --help') help "` + deep("b") + `";; 'a b --help') help "` + deep("c") + `";; 'a b c --help') help "` + deep("e") + `";; *) echo 'Usage: spade f [flags]';;`, "*", "f()", `f {}`, "f"},
		"no usage at all":                         {`*) help "` + topics + `";;`, "*", "spade(args)", `spade {"args":["in.pdf"]}`, "in.pdf"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := filepath.Join(t.TempDir(), "spade")
			require.NoError(t, require.WriteProgram(program, []byte("#!/bin/sh\nhelp() { printf '%s\\n' \"$1\"; }\ncase \"$*\" in\n"+tt.script+"\nesac\n"), 0o755))
			tr, err := Open(t.Context(), Options{Program: Program{Command: program}, Exposure: Exposure{Only: split(tt.only)}})
			require.NoError(t, err)
			var got []string
			for _, x := range tr.tools {
				var params []string
				for _, p := range x.params {
					params = append(params, p.name)
				}
				got = append(got, x.name+"("+strings.Join(params, ", ")+")")
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("got %s, want %s", strings.Join(got, " "), tt.want)
			}
			name, arguments, _ := strings.Cut(tt.call, " ")
			i := slices.IndexFunc(tr.tools, func(x *tool) bool { return x.name == name })
			if i < 0 {
				t.Fatal("no such tool")
			}
			words, err := tr.tools[i].argv([]byte(arguments))
			argv := strings.Join(words, " ")
			if err != nil {
				argv = "error: " + err.Error()
			}
			if argv != tt.argv {
				t.Errorf("got %s, want %s", argv, tt.argv)
			}
		})
	}
}
