package clihelp

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// truth is what a command has, written by hand. A subcommand stands with its aliases;
// "deprecated" is said after the name. The key of a flag is all of its names, short,
// long, further and negated ones; its value is what render returns. An argument stands
// as [NAME...], without brackets if it is required.
type truth struct {
	Path        []string
	Summary     string
	Aliases     []string
	Subcommands []string
	Flags       map[string]string
	Args        []string
}

func readTruth(t *testing.T, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// render returns what a flag is, in words.
func (f Flag) render() string {
	words := []string{string(f.Kind)}
	say := func(yes bool, word string) {
		if yes {
			words = append(words, word)
		}
	}
	say(f.Optional, "optional")
	say(f.Enum != nil, "{"+strings.Join(f.Enum, ",")+"}")
	say(f.Default != "", "="+f.Default)
	say(f.Repeated, "repeated")
	say(f.Required, "required")
	say(f.Deprecated, "deprecated")
	return strings.Join(words, " ")
}

func (f Flag) key() string {
	names := append(append([]string{f.Short, f.Long}, f.Aliases...), f.Negated)
	return strings.Join(slices.DeleteFunc(names, func(s string) bool { return s == "" }), " ")
}

func (a Arg) render() string {
	s := a.Name
	if a.Repeated {
		s += "..."
	}
	if !a.Required {
		s = "[" + s + "]"
	}
	if a.Enum != nil {
		s += " {" + strings.Join(a.Enum, ",") + "}"
	}
	return s
}

// asTruth returns a command in the form of a truth.
func (c Command) asTruth() truth {
	out := truth{Path: c.Path, Summary: c.Summary, Aliases: c.Aliases, Flags: map[string]string{}}
	for _, s := range c.Sub {
		words := append([]string{s.Path[len(s.Path)-1]}, s.Aliases...)
		if s.Deprecated {
			words = append(words, "deprecated")
		}
		out.Subcommands = append(out.Subcommands, strings.Join(words, " "))
	}
	for _, f := range c.Flags {
		out.Flags[f.key()] = f.render()
	}
	for _, a := range c.Args {
		out.Args = append(out.Args, a.render())
	}
	return out
}
