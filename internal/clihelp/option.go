package clihelp

import (
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/lazy"
)

// flagName matches one spelling of a flag at the beginning of a text.
var flagName = lazy.Regexp(`^(?:--\[no-?\]-?|--\(no-\)|--?)(?:[A-Za-z0-9][A-Za-z0-9_.+-]*|[?#:@^%!.])`)

// separator matches what stands between two spellings of one flag.
var separator = lazy.Regexp(`^(?:, *| ?\| ?| ?/ ?| or | | +\.{4,} +)-`)

// apart matches the rest of a line whose other spelling stands in a column of its own;
// longApart is for a spelling with a value in front of it.
var (
	apart     = lazy.Regexp(`^ {2,}-(?:-[a-z]|[A-Za-z]  )`)
	longApart = lazy.Regexp(`^ {2,}--[a-z][\w-]*(?:[=\[,]|$)`)
)

// standIn matches a name that stands for many: --no-OPTION.
var standIn = lazy.Regexp(`^--[a-z-]+-[A-Z]{3,}$`)

// slashed matches a spelling of Windows behind those of others: -h,/?
var slashed = lazy.Regexp(`^,/(?:\?|\w+)(?: |$)`)

// spoken matches how a spelling is read aloud: -1 ("one"), --single-transaction.
var spoken = lazy.Regexp(`^ \("\w+"\)`)

// inColumn matches a value that stands in a column of its own.
var inColumn = lazy.Regexp(`^ {2,}([A-Z][A-Z_]{2,})  +[^ ]`)

// spelling is one name of a flag with its value as written.
type spelling struct {
	name, value string
	glued       bool // no space between name and value
	negative    bool // after a slash: the other form of a switch
}

// readOption reads a line that lists a flag: its spellings, and the description that
// stands on the same line at column at of text; at is -1 where there is none.
func readOption(text string) (names []spelling, desc string, at int) {
	rest, negative := text, false
	for len(names) < 8 {
		s, n := readSpelling(rest)
		if n == 0 {
			break
		}
		s.negative = negative
		names = append(names, s)
		rest = rest[n:]
		if s.name == "" {
			return nil, "", -1
		}
		rest = rest[len(spoken().FindString(rest)):]
		rest = rest[len(strings.TrimRight(slashed().FindString(rest), " ")):]
		sep := separator().FindString(rest)
		if sep == "" && (len(names) == 1 && s.value == "" && apart().MatchString(rest) || len(s.name) == 2 && longApart().MatchString(rest)) {
			sep = rest[:strings.IndexByte(rest, '-')+1] // "-h   --help"
		}
		if sep == "" || flagName().FindString(rest[len(sep)-1:]) == "" {
			break
		}
		negative = negative || strings.Contains(sep, "/")
		rest = rest[len(sep)-1:]
	}
	if len(names) == 0 {
		return nil, "", -1
	}
	last := &names[len(names)-1]
	if m := inColumn().FindStringSubmatch(rest); m != nil && last.value == "" {
		last.value = m[1]
		rest = rest[strings.Index(rest, m[1])+len(m[1]):]
	}
	trimmed := strings.TrimLeft(rest, " ")
	if trimmed != "" && trimmed == rest && rest[0] != ':' {
		return nil, "", -1 // a word that goes on, such as "-foo)"
	}
	desc = strings.TrimLeft(strings.TrimLeft(trimmed, ":,"), " ")
	desc = strings.TrimPrefix(desc, "- ")
	if desc == "" {
		return names, "", -1
	}
	return names, desc, len(text) - len(trimmed)
}

// readSpelling reads one spelling and returns how many bytes it has, 0 for none.
func readSpelling(s string) (spelling, int) {
	name := flagName().FindString(s)
	if name == "" || name == "-NUM" || name == "-." && !strings.HasPrefix(s, "-., --") || name == "-#" && !strings.Contains(s, " --") {
		return spelling{}, 0
	}
	if trimmed := strings.TrimRight(name, ".+-"); strings.HasPrefix(s[len(name):], " ") || len(s) == len(name) {
		name = trimmed
	}
	n := len(name)
	rest := s[n:]
	if standIn().MatchString(name) || strings.HasSuffix(name, "-") && strings.HasPrefix(rest, "<") {
		return spelling{}, 0
	}
	for _, count := range []string{"...", "|vv|vvv"} { // a switch that counts
		if strings.HasPrefix(rest, count) {
			return spelling{name: name, value: "..."}, n + len(count)
		}
	}
	if rest == "=" || strings.HasPrefix(rest, "=, -") { // --set=, --variable=NAME=VALUE
		return spelling{name: name}, n + 1
	}
	if strings.HasPrefix(rest, "# ") { // -T#
		return spelling{name: name, value: "<#>", glued: true}, n + 1
	}
	if glued := gluedValue(rest); glued != "" {
		return spelling{name: name, value: strings.TrimSuffix(glued, ":"), glued: true}, n + len(glued)
	}
	if strings.HasPrefix(rest, " ") && !strings.HasPrefix(rest, "  ") {
		if value := spacedValue(rest[1:]); value != "" {
			return spelling{name: name, value: strings.TrimSuffix(value, ":")}, n + 1 + len(value)
		}
	}
	return spelling{name: name}, n
}

// gluedValue returns the value that follows a name at once: "=X", "[=X]", "[X]", "<x>".
func gluedValue(s string) string {
	if s == "" || !strings.ContainsRune("=[<({", rune(s[0])) {
		return ""
	}
	return word(s)
}

// word returns the beginning of s up to a space, a comma or a bar outside of brackets
// and quotes.
func word(s string) string {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '[', '(', '{', '<':
			n := closing(s[i:])
			if n < 0 {
				return s[:i]
			}
			i += n
		case '\'', '"':
			if n := strings.IndexByte(s[i+1:], c); n >= 0 && i > 0 && s[i-1] == '=' {
				i += n + 1
			}
		case ',':
			if i+1 == len(s) || s[i+1] == ' ' {
				return s[:i]
			}
		case ' ', ']', ')', '}':
			return s[:i]
		case '|':
			if i+1 < len(s) && s[i+1] == '-' {
				return s[:i]
			}
		}
	}
	return s
}

// spacedValue returns the value that follows a name after one space: brackets, or words
// that end where a column does. Prose is no value.
func spacedValue(s string) string {
	n := 0
	for n < len(s) && strings.ContainsRune("<[{(", rune(s[n])) {
		w := word(s[n:])
		if w == "" || s[n] == '(' && !strings.Contains(w, "|") || strings.HasPrefix(w, "[default") {
			break
		}
		n += len(w)
		if !strings.HasPrefix(s[n:], " ") || n+1 == len(s) || !strings.ContainsRune("<[", rune(s[n+1])) {
			return s[:n]
		}
		n++
	}
	if n > 0 {
		return strings.TrimRight(s[:n], " ")
	}
	if s != "" && s[0] == '\'' {
		if end := strings.IndexByte(s[1:], '\''); end > 0 && (end+2 == len(s) || strings.HasPrefix(s[end+2:], "  ")) {
			return s[:end+2]
		}
	}
	first := word(s)
	if first == "" || first[0] == '(' || strings.IndexByte("-:/|", first[0]) >= 0 && (first[0] != '/' || first == "/") {
		return ""
	}
	if strings.HasPrefix(s[len(first):], ", -") {
		return first
	}
	end := len(s)
	for _, mark := range []string{"  ", " : ", ", -"} {
		if i := strings.Index(s, mark); i >= 0 {
			end = min(end, i)
		}
	}
	words := s[:end]
	count := len(strings.Fields(words))
	switch {
	case count == 1 && (end < len(s) || metavar(first)):
		return words
	case count == 1: // one lower-case word at the end of the line
		return first
	case end < len(s) && count <= 3 && !strings.ContainsAny(words, ".;") && !strings.Contains(words, ", "):
		return words
	case strings.HasPrefix(s, first+" ["+strings.TrimSuffix(first, "...")):
		return s[:len(first)+1+len(word(s[len(first)+1:]))] // FOO [FOO ...]
	case metavar(first) && first != "I" && first != "A":
		return first
	}
	return ""
}

// metavar reports that a word stands for a value by its form.
func metavar(w string) bool {
	return w == "#" || w == strings.ToUpper(w) && strings.ContainsAny(w, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
}

// newFlag makes a flag of its spellings.
func newFlag(names []spelling) Flag {
	var f Flag
	var value spelling
	again := false // --check, --check=how: the value may be left out
	for _, s := range names {
		if s.value != "" && value.value == "" {
			value = s
			again = slices.ContainsFunc(names, func(o spelling) bool { return o.name == s.name && o.value == "" })
		}
		name := s.name
		if m := noForm().FindString(name); m != "" {
			name = "--" + name[len(m):]
			f.Negated = "--no-" + name[2:]
		}
		if rest, ok := strings.CutPrefix(name, "--no-"); ok && slices.ContainsFunc(names, func(o spelling) bool { return o.name == "--"+rest }) {
			s.negative = true
		}
		switch {
		case s.negative:
			if f.Negated == "" || strings.HasPrefix(name, "--") {
				f.Negated = name
			}
		case name == f.Long || name == f.Short:
		case len(name) == 2 && f.Short == "":
			f.Short = name
		case len(name) == 2:
			f.Aliases = append(f.Aliases, name)
		case f.Long == "":
			f.Long = name
		case strings.HasPrefix(name, "--") && !strings.HasPrefix(f.Long, "--"):
			f.Long, name = name, f.Long
			f.Aliases = append(f.Aliases, name)
		default:
			f.Aliases = append(f.Aliases, name)
		}
	}
	f.setValue(value)
	f.Glued = value.glued && strings.IndexByte("<{", value.value[0]) >= 0 && f.Kind != Bool && !strings.HasPrefix(value.name, "--")
	if again {
		f.Optional, f.Join = true, "="
	}
	return f
}

var noForm = lazy.Regexp(`^--(?:\[no-?\]-?|\(no-\))`)

// setValue notes what the value of a flag looks like.
func (f *Flag) setValue(s spelling) {
	v := s.value
	f.Kind = Bool
	switch v {
	case "":
		return
	case "...":
		f.Repeated = true
		return
	case "=...", "[...]", "[=...]":
		f.Value, f.Kind, f.Optional = "value", String, v[0] == '['
		f.Join = joined(v, s.glued)
		return
	}
	f.Words = wordsOf(v, s.glued)
	if strings.HasPrefix(v, "=") && f.literal(v[1:]) {
		return
	}
	if strings.HasSuffix(v, "...") || strings.HasSuffix(v, "...]") || strings.Contains(v, "...>") {
		f.Repeated = true
	}
	if at := strings.Index(v, "[="); at > 0 { // string[="x"]
		f.Optional, f.Join, v = true, "=", v[:at]
	}
	v = strings.TrimRight(v, ".")
	inner := v
	if strings.HasPrefix(v, "[") && closing(v) == len(v)-1 {
		inner = strings.TrimLeft(v[1:len(v)-1], "=")
		// [a|b] after a space is a choice, [X] and [=X] may be left out.
		if f.Optional = s.glued || !strings.Contains(inner, "|"); f.Optional {
			f.Join = joined(v, s.glued)
		}
	}
	inner = strings.TrimPrefix(inner, "=")
	f.Enum = choices(inner)
	f.Value = valueName(inner)
	f.Kind = kindOf(f.Value)
	if plural(f.Value) {
		f.Repeated = true
	}
	if f.Words > 1 {
		f.Repeated = false
	}
}

// joined returns what stands in front of a value in brackets.
func joined(v string, glued bool) string {
	switch {
	case !glued:
		return " "
	case strings.HasPrefix(v, "[="):
		return "="
	}
	return ""
}

var (
	tuple    = lazy.Regexp(`^<[^<>]+ [^<>]+>\.\.\.$`)                  // <TEXT INTEGER>...
	brackets = lazy.Regexp(`^<[^<>]+>(?: [<\[][^<>\[\]]+[>\]])+$`)     // <FIRST> <SECOND>
	letters  = lazy.Regexp(`^(?:[a-z]|[A-Z]+)(?: (?:[a-z]|[A-Z]+))+$`) // a v, SIZE N
	unknown  = lazy.Regexp(`^(?:[A-Z][A-Z_ ]*|\[[^=].*\])\.\.\.$`)     // TEXT...
)

// wordsOf returns Words of a value.
func wordsOf(v string, glued bool) int {
	switch {
	case glued:
		return 0
	case tuple().MatchString(v):
		return len(strings.Fields(strings.ReplaceAll(v, " RANGE", "")))
	case brackets().MatchString(v) && strings.Contains(v, "["), unknown().MatchString(v):
		return -1
	case brackets().MatchString(v):
		return strings.Count(v, "<")
	case letters().MatchString(v):
		return strings.Count(v, " ") + 1
	}
	return 0
}

var duration = lazy.Regexp(`^(?:\d+(?:ms|[smh]))+$`)

// literal notes a value that is written as the default: --flag=false, --flag='x',
// --flag=[]. It reports whether it is one.
func (f *Flag) literal(v string) bool {
	switch {
	case v == "true" || v == "false":
		f.Default = v
	case v == "[]":
		f.Value, f.Kind, f.Repeated = "value", String, true
	case len(v) > 1 && (v[0] == '\'' || v[0] == '"') && v[len(v)-1] == v[0]:
		f.Value, f.Kind, f.Default = "value", String, v[1:len(v)-1]
	case duration().MatchString(v):
		f.Value, f.Kind, f.Default = "duration", String, v
	case number().MatchString(v):
		f.Value, f.Kind, f.Default = "value", kindOfNumber(v), v
	default:
		return false
	}
	return true
}

var nameMarks = lazy.Regexp(`[<>\[\]{}()]|\.\.\.`)

// valueName returns a value as written without its marks.
func valueName(s string) string {
	name := strings.Trim(strings.Join(strings.Fields(strings.ReplaceAll(nameMarks().ReplaceAllString(s, ""), "=", " ")), " "), "-'")
	if name == "" {
		return "value"
	}
	return name
}

// several reads a line that lists many flags without descriptions, such as
// "-empty -name PATTERN -true". It returns nil for any other line.
func several(text string) []Flag {
	var flags []Flag
	for tok := range strings.FieldsSeq(text) {
		switch {
		case len(flags) > 100:
			return nil
		case flagName().FindString(tok) == tok:
			flags = append(flags, newFlag([]spelling{{name: tok}}))
		case len(flags) == 0:
			return nil
		case strings.HasPrefix(tok, "["), metavar(tok), sizes().MatchString(tok):
			if f := &flags[len(flags)-1]; f.Value == "" {
				f.setValue(spelling{value: strings.Trim(tok, "[]")})
				f.Enum = nil
			}
		case strings.Trim(tok, ";{}+") != "":
			return nil
		}
	}
	if len(flags) < 3 && !(len(flags) == 2 && len(flags[0].Long) > 2 && len(flags[1].Long) > 2 && !strings.Contains(text, "--")) {
		return nil
	}
	return flags
}

var sizes = lazy.Regexp(`^[A-Z]+\[\w+\]$|^\[.*\][A-Z]+$`)
