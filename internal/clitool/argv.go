package clitool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/clihelp"
	"github.com/mcpctl/mcpctl/internal/lazy"
)

// maxCount bounds how often a switch can be given.
const maxCount = 9

// argv returns the words behind the program and its own arguments that a call runs. An
// error says which argument is refused, and why.
func (t *tool) argv(arguments json.RawMessage) ([]string, error) {
	given, err := members(arguments)
	if err != nil {
		return nil, err
	}
	if t.chooses() {
		delete(given, dirArg)
	}
	flags, values, missing := []string{}, slices.Clone(t.values), ""
	var behind []string // the values behind a word --
	for _, p := range t.params {
		value, ok := given[p.name]
		delete(given, p.name)
		if !ok || value == nil {
			if p.arg != nil && p.arg.Required || p.flag != nil && p.flag.Required {
				return nil, fmt.Errorf("%s is missing", p.name)
			}
			if p.arg != nil && missing == "" { // a required one behind it takes its place
				missing = p.name
			}
			continue
		}
		if p.flag != nil {
			words, err := flagWords(p.flag, value)
			if err == nil && p.flag.Kind == clihelp.String {
				err = t.unsplit(words)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p.name, err)
			}
			flags = append(flags, words...)
			continue
		}
		words, err := t.argWords(p.arg, value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		if missing != "" && len(words) > 0 && !p.arg.Required && !p.arg.Behind {
			return nil, fmt.Errorf("%s needs %s before it", p.name, missing)
		}
		if p.arg.Behind {
			behind = append(behind, words...)
			continue
		}
		values = append(values, words...)
	}
	free, err := t.freeWords(given)
	if err != nil {
		return nil, err
	}
	for name := range given {
		return nil, fmt.Errorf("%s is not an argument of %s", name, t.name)
	}
	values, err = t.guard(values, behind, free)
	if err != nil {
		return nil, err
	}
	if t.FlagsFirst {
		return slices.Concat(flags, t.Path, values, free), nil
	}
	return slices.Concat(t.Path, flags, values, free), nil
}

// members returns the arguments; numbers keep their text.
func members(arguments json.RawMessage) (map[string]any, error) {
	given := map[string]any{}
	if len(arguments) == 0 {
		return given, nil
	}
	d := json.NewDecoder(bytes.NewReader(arguments))
	d.UseNumber()
	if err := d.Decode(&given); err != nil {
		return nil, errors.New("the arguments are no JSON object")
	}
	return given, nil
}

// guard keeps positional values from being read as flags: behind a word --, where the
// tool has that, and else by refusing those that begin with a dash. A tool that has values
// of its own behind that word would take the others for these.
func (t *tool) guard(values, behind, free []string) ([]string, error) {
	i := slices.IndexFunc(values, dashed)
	switch {
	case len(behind) > 0 && len(free) > 0:
		return nil, fmt.Errorf("%s cannot be used with a value after --", freeArgs)
	case i < 0 && len(behind) > 0:
		return slices.Concat(values, []string{"--"}, behind), nil
	case i < 0:
		return values, nil
	case !t.endsFlags || slices.ContainsFunc(t.Args, func(a clihelp.Arg) bool { return a.Behind }):
		return nil, fmt.Errorf("the value %q begins with a dash, and %s could take it for a flag", values[i], t.name)
	case len(free) > 0:
		return nil, fmt.Errorf("the value %q begins with a dash: %s cannot be used with it", values[i], freeArgs)
	}
	return append([]string{"--"}, values...), nil
}

// dashed reports whether a program could take a word for a flag. A single dash is a
// value: standard input.
func dashed(word string) bool { return strings.HasPrefix(word, "-") && word != "-" }

// flagWords returns the words of a flag with its value.
func flagWords(f *clihelp.Flag, value any) ([]string, error) {
	if f.Kind == clihelp.Bool && !f.Repeated {
		return switchWords(f, value)
	}
	if f.Kind == clihelp.Bool {
		n, ok := value.(json.Number)
		if !ok {
			return nil, errors.New("want a number")
		}
		return countWords(f, n)
	}
	if f.Words > 1 {
		return severalWords(f, value)
	}
	if on, ok := value.(bool); ok && leftOut(f) {
		if !on {
			return slices.DeleteFunc([]string{f.Negated}, func(n string) bool { return n == "" }), nil
		}
		return []string{nameOf(f)}, nil
	}
	list, err := listOf(value, f.Repeated)
	if err != nil {
		return nil, err
	}
	var words []string
	for _, v := range list {
		text, err := valueText(f.Kind, f.Enum, v)
		if err != nil {
			return nil, err
		}
		one, err := withValue(f, text)
		if err != nil {
			return nil, err
		}
		words = append(words, one...)
	}
	return words, nil
}

// unsplit refuses words of a flag that the tool could take for two flags.
func (t *tool) unsplit(words []string) error {
	for _, w := range words {
		if _, value, joined := strings.Cut(w, "="); t.splits && joined && dashed(w) && dashed(value) {
			return asFlag(value)
		}
	}
	return nil
}

// leftOut reports whether a flag can stand without its value. Where the value would be the
// next word, whatever stands there could be taken for it.
func leftOut(f *clihelp.Flag) bool { return f.Optional && f.Join != " " }

// severalWords returns a flag with a value of several words, which must be as many as it
// takes: it would take more from behind them.
func severalWords(f *clihelp.Flag, value any) ([]string, error) {
	list, err := listOf(value, true)
	if err != nil {
		return nil, err
	}
	if len(list) != f.Words {
		return nil, fmt.Errorf("want %d values", f.Words)
	}
	words := []string{nameOf(f)}
	for _, v := range list {
		text, err := valueText(f.Kind, nil, v)
		if err != nil {
			return nil, err
		}
		if dashed(text) {
			return nil, asFlag(text)
		}
		words = append(words, text)
	}
	return words, nil
}

func asFlag(text string) error {
	return fmt.Errorf("the value %q begins with a dash, and could be taken for a flag", text)
}

func nameOf(f *clihelp.Flag) string {
	if f.Long != "" {
		return f.Long
	}
	return f.Short
}

// switchWords returns the words of a switch. One that is off as it stands needs none.
func switchWords(f *clihelp.Flag, value any) ([]string, error) {
	on, ok := value.(bool)
	switch {
	case !ok:
		return nil, errors.New("want true or false")
	case on:
		return []string{nameOf(f)}, nil
	case f.Negated != "":
		return []string{f.Negated}, nil
	case f.Default == "true" && f.Long != "":
		return []string{f.Long + "=false"}, nil
	}
	return nil, nil
}

// countWords returns a switch several times.
func countWords(f *clihelp.Flag, n json.Number) ([]string, error) {
	count, err := n.Int64()
	if err != nil || count < 0 || count > maxCount {
		return nil, fmt.Errorf("want a number from 0 to %d", maxCount)
	}
	return slices.Repeat([]string{nameOf(f)}, int(count)), nil
}

// withValue joins a flag and a value so that the value cannot become a flag. A long flag
// takes it in the same word. One with a single dash takes it in the next, which must
// not look like a flag; so does a short one, unless its value can be left out.
func withValue(f *clihelp.Flag, text string) ([]string, error) {
	switch {
	case strings.HasPrefix(f.Long, "--"):
		return []string{f.Long + "=" + text}, nil
	case (leftOut(f) || f.Glued) && text == "":
		return nil, errors.New("the value is empty")
	case f.Glued:
		return []string{nameOf(f) + text}, nil
	case leftOut(f):
		return []string{nameOf(f) + f.Join + text}, nil
	case dashed(text):
		return nil, asFlag(text)
	}
	return []string{nameOf(f), text}, nil
}

var integerRE = lazy.Regexp(`^(-?[0-9]+)(\.0+)?$`)

// valueText returns a value as one word.
func valueText(kind clihelp.Kind, enum []string, value any) (string, error) {
	text := ""
	switch v := value.(type) {
	case string:
		if kind == clihelp.Integer || kind == clihelp.Number {
			return "", errors.New("want a number")
		}
		text = v
	case json.Number:
		text = v.String()
		m := integerRE().FindStringSubmatch(text)
		switch {
		case kind == clihelp.String:
			return "", errors.New("want a text")
		case kind == clihelp.Integer && m == nil:
			return "", errors.New("want a whole number")
		case kind == clihelp.Integer:
			text = m[1]
		}
	default:
		return "", fmt.Errorf("want a %s", map[bool]string{true: "text", false: "number"}[kind == clihelp.String])
	}
	if strings.ContainsRune(text, 0) {
		return "", errors.New("it contains a NUL character")
	}
	if len(enum) > 0 && !slices.Contains(enum, text) {
		return "", fmt.Errorf("want one of %s", strings.Join(enum, ", "))
	}
	return text, nil
}

// listOf returns the values that an argument has: several where it is repeated.
func listOf(value any, repeated bool) ([]any, error) {
	if !repeated {
		return []any{value}, nil
	}
	all, ok := value.([]any)
	if !ok {
		return nil, errors.New("want a list")
	}
	return all, nil
}

// argWords returns the words of a positional argument.
func (t *tool) argWords(a *clihelp.Arg, value any) ([]string, error) {
	list, err := listOf(value, a.Repeated)
	if err != nil {
		return nil, err
	}
	var words []string
	for _, v := range list {
		text, err := valueText(clihelp.String, a.Enum, v)
		if err == nil {
			err = t.noCommand(text)
		}
		if err == nil && t.Unsure && t.guessed && len(words) == 0 && acting(text) {
			err = fmt.Errorf("the value %q could be a command; name %s in cliOnly if it is none", text, strings.Join(t.Path, " "))
		}
		if err != nil {
			return nil, err
		}
		words = append(words, text)
	}
	if a.Required && len(words) == 0 {
		return nil, errors.New("want at least one")
	}
	return words, nil
}

// noCommand refuses a value that the tool could take for a subcommand, also by an alias,
// a beginning or another letter case.
func (t *tool) noCommand(word string) error {
	names := subNames(t.Command)
	if len(names) > 0 {
		names = append(names, helpers()...)
	}
	for _, name := range names {
		if word != "" && strings.HasPrefix(strings.ToLower(name), strings.ToLower(word)) {
			return fmt.Errorf("the value %q could be taken for the command %s", word, name)
		}
	}
	return nil
}

// freeWords takes the caller's own words out of the arguments.
func (t *tool) freeWords(given map[string]any) ([]string, error) {
	value, ok := given[freeArgs]
	if !ok || !t.free {
		return nil, nil
	}
	delete(given, freeArgs)
	list, ok := value.([]any)
	if !ok && value != nil {
		return nil, fmt.Errorf("%s: want a list of texts", freeArgs)
	}
	var words []string
	for _, v := range list {
		word, err := valueText(clihelp.String, nil, v)
		if err == nil {
			err = t.freeWord(word)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", freeArgs, err)
		}
		words = append(words, word)
	}
	return words, nil
}

// freeWord refuses a word of the caller's that reaches what the rules of the entry keep
// back. Where they do, a flag has to be one of those that are exposed, in full: a program
// may know a flag by a beginning of its name, several short flags in one word, and a file
// with arguments.
func (t *tool) freeWord(word string) error {
	if err := t.noCommand(word); err != nil {
		return err
	}
	if t.whole || !dashed(word) && !strings.HasPrefix(word, "@") {
		return nil
	}
	if err := t.unsplit([]string{word}); err != nil {
		return err
	}
	name, _, _ := strings.Cut(word, "=")
	if word == "--" || slices.ContainsFunc(t.Flags, func(f clihelp.Flag) bool { return named(f, []string{name}) }) {
		return nil
	}
	return fmt.Errorf("%q is none of the flags that are exposed", word)
}
