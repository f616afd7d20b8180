package clitool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpctl/mcpctl/runtime/clihelp"
	"github.com/mcpctl/mcpctl/test/kit"
	"github.com/mcpctl/mcpctl/test/require"
)

// understood is what the tool's own parser has made of words.
type understood struct {
	path  string
	args  []string
	flags map[string]string // those that were given
}

// parse has kit's own parser read words.
func parse(words []string) (understood, error) {
	u := understood{flags: map[string]string{}}
	ran := false
	root := kit.New(func(cmd *cobra.Command, args []string) error {
		ran, u.path, u.args = true, cmd.CommandPath(), args
		cmd.Flags().Visit(func(f *pflag.Flag) { u.flags[f.Name] = f.Value.String() })
		return nil
	})
	root.SetArgs(words)
	root.SetOut(io.Discard)
	root.SetErr(io.Discard)
	err := root.Execute()
	if err == nil && !ran {
		err = fmt.Errorf("no command was run: %q", words)
	}
	return u, err
}

// nasty are values that try to be something else.
func nasty() []string {
	return []string{
		"", "-", "--", "---", "-f", "--force", "--force=true", "--for", "-xf", "-fx", "=", "=x", "-o=json", "-ojson", "--output", "--output=x", "--help", "-h",
		"delete", "rm", "drop", "wipe", "config", "help", "a b", "a\nb", "\t--force", " --force", "@file", "$(id)", "`id`", "'", "\"", "\\", "--no-cache",
		"é", "\u2014force", "\u2212f", "-1", "-0.5", "x,--force", "--trace", "--trace=true", "apply", "--\x00", "*", "~", ";", "&&", "|",
	}
}

// TestMeaning: whatever a caller gives, the tool's own parser reads the command of the
// tool, no flag but those that were given, and the values as they are. MCPCTL_TEST_ARGV
// sets how many objects are tried; a proof takes 100,000.
func TestMeaning(t *testing.T) {
	t.Parallel()
	cases := 5000
	if n, err := strconv.Atoi(os.Getenv("MCPCTL_TEST_ARGV")); err == nil {
		cases = n
	}
	o := kitOptions(t, Exposure{})
	var all []*tool
	for _, e := range []Exposure{{Only: []string{"*"}}, {Only: []string{"*"}, Deny: []string{"--force", "--trace", "--output"}, FreeArgs: true}, {Only: []string{"get pods", "store"}}} {
		o.Exposure = e
		all = append(all, open(t, o).tools...)
	}
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	ran := 0
	for range cases {
		x := all[r.IntN(len(all))]
		args := randomArgs(r, x)
		words, err := x.argv(quote(args))
		if err != nil {
			continue // refused
		}
		u, err := parse(words)
		if err != nil && !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "--limit=") }) && args[freeArgs] == nil {
			t.Fatalf("seed %d: %s %s: the tool does not understand %q: %v", seed, x.name, quote(args), words, err)
		}
		if err != nil {
			continue // such as a number that is too large
		}
		ran++
		if why := differs(x, args, u); why != "" {
			t.Fatalf("seed %d: %s %s: %q: %s", seed, x.name, quote(args), words, why)
		}
	}
	if ran < cases/5 {
		t.Errorf("seed %d: %d of %d were run: too few to tell", seed, ran, cases)
	}
}

// randomArgs returns arguments of a tool, as a rule of the right types.
func randomArgs(r *rand.Rand, x *tool) map[string]any {
	values := nasty()
	text := func() string {
		if r.IntN(3) == 0 {
			return fmt.Sprintf("v%d", r.IntN(100))
		}
		return values[r.IntN(len(values))]
	}
	args := map[string]any{}
	for _, p := range x.params {
		if r.IntN(2) == 0 && (p.arg == nil || !p.arg.Required) {
			continue
		}
		list := []any{}
		for range 1 + r.IntN(3) {
			list = append(list, text())
		}
		switch {
		case p.arg != nil && p.arg.Repeated, p.flag != nil && p.flag.Repeated:
			args[p.name] = list
		case p.arg != nil, p.flag.Kind == "string":
			args[p.name] = text()
		case p.flag.Kind == "boolean":
			args[p.name] = r.IntN(2) == 0
		default:
			args[p.name] = json.Number(strconv.Itoa(r.IntN(200) - 100))
		}
	}
	if x.free && r.IntN(2) == 0 {
		args[freeArgs] = []any{text(), text()}
	}
	return args
}

// differs returns how what was understood differs from what was given.
func differs(x *tool, args map[string]any, u understood) string {
	if want := strings.Join(append([]string{"kit"}, x.Path...), " "); u.path != want {
		return "the command is " + u.path
	}
	if args[freeArgs] != nil { // words that may be values or flags, but none that is kept back
		for name := range u.flags {
			if slices.Contains([]string{"force", "trace", "output"}, name) {
				return "it has the flag " + name
			}
		}
		return ""
	}
	values := slices.Clone(x.values)
	given := map[string]any{}
	for _, p := range x.params {
		value, ok := args[p.name]
		switch {
		case !ok:
		case p.flag != nil:
			given[strings.TrimLeft(p.flag.Long, "-")] = value
		default:
			list, many := value.([]any)
			if !many {
				list = []any{value}
			}
			for _, v := range list {
				values = append(values, v.(string))
			}
		}
	}
	if !slices.Equal(values, u.args) {
		return fmt.Sprintf("the values are %q, want %q", u.args, values)
	}
	for name, got := range u.flags {
		value, ok := given[name]
		if text, isText := value.(string); !ok || isText && text != got {
			return fmt.Sprintf("the flag %s is %q, was given %v", name, got, value)
		}
	}
	return ""
}

// FuzzArgv: no object makes words that another command or flag of the tool is read from.
func FuzzArgv(f *testing.F) {
	for _, v := range nasty() {
		f.Add(v, v)
	}
	root := kitTree(f)
	commands, err := selectCommands("kit", &root.Root, Exposure{Only: []string{"*"}})
	require.NoError(f, err)
	b := &builder{program: &Program{Command: "kit"}, found: &root}
	tools, err := b.tools(commands)
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, a, c string) {
		for _, x := range tools {
			args := map[string]any{}
			for _, p := range x.params {
				switch {
				case p.arg != nil && p.arg.Repeated:
					args[p.name] = []any{a, c}
				case p.arg != nil:
					args[p.name] = a
				case p.flag.Kind == "string" && !p.flag.Repeated:
					args[p.name] = c
				}
			}
			text := quote(args) // which replaces what is no UTF-8
			if !bytes.Contains(text, []byte(`\ufffd`)) {
				if words, err := x.argv(text); err == nil {
					if u, err := parse(words); err == nil {
						if why := differs(x, args, u); why != "" {
							t.Fatalf("%s %s: %q: %s", x.name, text, words, why)
						}
					}
				}
			}
		}
	})
}

// kitTree returns the commands of kit from its help, without a process.
func kitTree(t testing.TB) Found {
	t.Helper()
	help := func(words ...string) []byte {
		var out bytes.Buffer
		root := kit.New(func(*cobra.Command, []string) error { return nil })
		root.SetArgs(append(words, "--help"))
		root.SetOut(&out)
		require.NoError(t, root.Execute())
		return out.Bytes()
	}
	return Found{Root: tree(help, nil), EndsFlags: true}
}

func tree(help func(words ...string) []byte, path []string) clihelp.Command {
	c := sound(clihelp.Parse(help(path...), path))
	for i := range c.Sub {
		c.Sub[i] = merged(c.Sub[i], tree(help, c.Sub[i].Path))
	}
	return c
}
