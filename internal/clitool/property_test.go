package clitool

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpctl/mcpctl/internal/clihelp"
	"github.com/mcpctl/mcpctl/test/kit"
	"github.com/mcpctl/mcpctl/test/require"
)

var (
	clickPython = flag.String("click", "python3", "a Python that has click, for the sample in test/kit/click")
	clapSample  = flag.String("clap", "", "the program built of test/kit/clap")
	objects     = flag.Int("objects", 0, "random objects for each sample: 0 is what takes a few seconds, a proof takes 100000")
)

// understood is what a tool's own parser has made of words: its command with those
// above it, the values of positional arguments, and those of the flags that were given, by
// their names without dashes. Of a switch the value is true, false or how often it was given.
type understood struct {
	Path  string
	Args  []string
	Flags map[string][]string
	Error string
}

// parse has the parser of package kit read words.
func parse(words []string) understood {
	u := understood{Flags: map[string][]string{}, Error: "no command was run"}
	root := kit.New(func(cmd *cobra.Command, args []string) error {
		u.Path, u.Args, u.Error = cmd.CommandPath(), args, ""
		cmd.Flags().Visit(func(f *pflag.Flag) {
			u.Flags[f.Name] = []string{f.Value.String()}
			if list, ok := f.Value.(pflag.SliceValue); ok {
				u.Flags[f.Name] = list.GetSlice()
			}
		})
		return nil
	})
	root.SetArgs(words)
	root.SetOut(io.Discard)
	root.SetErr(io.Discard)
	if err := root.Execute(); err != nil {
		u.Error = err.Error()
	}
	return u
}

// nasty are values that try to be something else.
func nasty() []string {
	return []string{
		"", "-", "--", "---", "-f", "--force", "--force=true", "--for", "-xf", "-fx", "=", "=x", "-o=json", "-ojson", "--output", "--output=x", "--help", "-h",
		"delete", "rm", "pods", "drop", "wipe", "config", "help", "a b", "a\nb", "\t--force", " --force", "@file", "$(id)", "`id`", "'", "\"", "\\", "--no-cache",
		"a", "all", "la", "vv", "=f", "é", "\u2014force", "\u2212f", "-1", "-0.5", "x,--force", "--trace", "--trace=true", "apply", "--\x00", "*", "~", ";", "&&", "|",
	}
}

// TestMeaning: whatever a caller gives, the tool's own parser reads the command of the
// tool, no flag but those that were given, and the values as they are.
func TestMeaning(t *testing.T) {
	t.Parallel()
	checkMeaning(t, 5000, kitOptions(t, Exposure{}), parse)
}

// TestMeaningClick is TestMeaning with the sample of test/kit/click.
func TestMeaningClick(t *testing.T) {
	t.Parallel()
	python, script := *clickPython, sampleFile(t, "click", "kit.py")
	if out, err := exec.CommandContext(t.Context(), python, "-c", "import click").CombinedOutput(); err != nil {
		t.Skipf("%s has no click (%v %.100s): make cli-property", python, err, out)
	}
	checkMeaning(t, 2000, sampleOptions(t, python, script), loop(t, python, script))
}

// TestMeaningClap is TestMeaning with the sample of test/kit/clap, which takes long to build.
func TestMeaningClap(t *testing.T) {
	t.Parallel()
	program := *clapSample
	if _, err := os.Stat(program); err != nil {
		t.Skip("the sample is not built: make cli-property")
	}
	checkMeaning(t, 5000, sampleOptions(t, program), loop(t, program))
}

func sampleFile(t *testing.T, path ...string) string {
	t.Helper()
	file, err := filepath.Abs(filepath.Join(append([]string{"../../test/kit"}, path...)...))
	require.NoError(t, err)
	return file
}

func sampleOptions(t *testing.T, program string, args ...string) Options {
	t.Helper()
	return Options{Program: Program{Command: program, Args: args}, Name: "kit", Depth: 3, Cache: t.TempDir()}
}

// loop starts a sample that reads many command lines.
func loop(t *testing.T, program string, args ...string) func([]string) understood {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = append(os.Environ(), "KIT_LOOP=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
	})
	answers := json.NewDecoder(out)
	return func(words []string) understood {
		var u understood
		_, err := in.Write(append(quote(words), '\n'))
		require.NoError(t, err)
		require.NoError(t, answers.Decode(&u))
		return u
	}
}

// checkMeaning tries random objects with the tools of a sample.
func checkMeaning(t *testing.T, few int, o Options, parse func([]string) understood) {
	t.Helper()
	cases := cmp.Or(*objects, few)
	var all []*tool
	for _, e := range []Exposure{{Only: []string{"*"}}, {Only: []string{"*"}, Deny: []string{"--force", "--trace", "--output"}, FreeArgs: true}, {Only: []string{"get pods", "store"}}} {
		o.Exposure = e
		all = append(all, open(t, o).tools...)
	}
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	ran := map[*tool]int{}
	for range cases {
		x := all[r.IntN(len(all))]
		args := randomArgs(r, x)
		words, err := x.argv(quote(args))
		if err != nil {
			continue // refused
		}
		u := parse(words)
		switch {
		case u.Error == "":
			ran[x]++
			if why := differs(x, args, u); why != "" {
				t.Fatalf("seed %d: %s %s: %q: %s", seed, x.name, quote(args), words, why)
			}
		case strings.Contains(u.Error, "invalid value"): // of a number, which clap's help does not call one
		case args[freeArgs] == nil && x.name != "span": // whose help does not say that it takes two
			t.Fatalf("seed %d: %s %s: the tool does not understand %q: %s", seed, x.name, quote(args), words, u.Error)
		}
	}
	total := 0
	for _, x := range all {
		total += ran[x]
		if ran[x] == 0 && cases >= 20000 {
			t.Errorf("seed %d: no object of %s was run", seed, x.name)
		}
	}
	if total < cases/5 {
		t.Errorf("seed %d: %d of %d were run: too few to tell", seed, total, cases)
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
		switch f := p.flag; {
		case f == nil && p.arg.Repeated, f != nil && f.Repeated && f.Kind == clihelp.String:
			args[p.name] = list
		case f != nil && f.Words > 1:
			args[p.name] = []any{text(), text()}
		case f != nil && f.Kind == clihelp.Bool && f.Repeated:
			args[p.name] = json.Number(strconv.Itoa(1 + r.IntN(3)))
		case f != nil && (f.Kind == clihelp.Bool || f.Optional && r.IntN(3) == 0):
			args[p.name] = r.IntN(2) == 0
		case f != nil && f.Enum != nil && r.IntN(4) > 0:
			args[p.name] = f.Enum[r.IntN(len(f.Enum))]
		case f == nil, f.Kind == clihelp.String:
			args[p.name] = text()
		default:
			args[p.name] = json.Number(strconv.Itoa(r.IntN(200) - 100))
		}
		if p.flag != nil && r.IntN(20) == 0 {
			args[p.name] = []any{list, text(), true, json.Number("2")}[r.IntN(4)] // of another type
		}
	}
	if x.free && r.IntN(2) == 0 {
		args[freeArgs] = []any{text(), text()}
	}
	return args
}

// differs returns how what was understood differs from what was given.
func differs(x *tool, args map[string]any, u understood) string {
	if want := strings.Join(append([]string{"kit"}, x.Path...), " "); u.Path != want {
		return "the command is " + u.Path
	}
	if args[freeArgs] != nil { // words that may be values or flags, but none that is kept back
		for name := range u.Flags {
			if slices.Contains([]string{"force", "trace", "output"}, name) {
				return "it has the flag " + name
			}
		}
		return ""
	}
	values, flags := slices.Clone(x.values), map[string][]string{}
	for _, p := range x.params {
		value, ok := args[p.name]
		switch {
		case !ok:
		case p.arg != nil:
			values = append(values, asTexts(value)...)
		case value == false && !saysNo(p.flag):
		case value == true && p.flag.Kind != clihelp.Bool: // its value is left out
			flags[plainName(p.flag)] = nil
		default:
			flags[plainName(p.flag)] = asTexts(value)
		}
	}
	if !slices.Equal(values, u.Args) {
		return fmt.Sprintf("the values are %q, want %q", u.Args, values)
	}
	for name, want := range flags {
		if got, ok := u.Flags[name]; slices.Equal(want, []string{"true"}) && slices.Equal(got, []string{"1"}) {
			continue // a switch that counts, of which the help does not say that
		} else if !ok || want != nil && !slices.Equal(want, got) {
			return fmt.Sprintf("the flag %s is %q, was given %q", name, got, want)
		}
	}
	for name, got := range u.Flags {
		if _, ok := flags[name]; !ok {
			return fmt.Sprintf("the flag %s is %q, was not given", name, got)
		}
	}
	return ""
}

func plainName(f *clihelp.Flag) string { return strings.TrimLeft(nameOf(f), "-") }

// saysNo reports that a switch that is off is said.
func saysNo(f *clihelp.Flag) bool { return f.Negated != "" || f.Default == "true" }

// asTexts returns the values of an argument as samples print them.
func asTexts(value any) []string {
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	var out []string
	for _, v := range list {
		out = append(out, fmt.Sprint(v))
	}
	return out
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
					if u := parse(words); u.Error == "" {
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
