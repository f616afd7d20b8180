package clihelp

import (
	"regexp"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/lazy"
)

var number = lazy.Regexp(`^[+-]?\d+(?:\.\d+)?$`)

func kindOfNumber(s string) Kind {
	if strings.Contains(s, ".") {
		return Number
	}
	return Integer
}

// kindOf returns the kind of a value by its name.
func kindOf(name string) Kind {
	switch strings.ToLower(strings.TrimLeft(name, "+")) {
	case "int", "integer", "uint", "int8", "int16", "uint8", "int32", "int64", "uint16", "uint32", "uint64", "ints", "count", "integer range", "intmax", "nonneg", "long", "ulong":
		return Integer
	case "float", "float32", "float64", "double", "float range":
		return Number
	case "n", "num", "number":
		return Integer
	}
	return String
}

// loose reports that a value is an integer only as far as its name says: N.
func loose(name string) bool {
	return slices.Contains([]string{"n", "num", "number"}, strings.ToLower(name))
}

// plural reports that the type of a flag's value is a list.
func plural(name string) bool {
	switch name {
	case "strings", "stringArray", "stringSlice", "ints", "stringToString", "stringToInt", "list", "durations", "map":
		return true
	}
	return false
}

var (
	choiceWord = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9_.:+/@-]*$`)
	lowerWord  = lazy.Regexp(`^[a-z0-9][a-z0-9_.+-]*$`)
)

// choices returns the values that a placeholder lists: {a,b}, a|b, (a|b). Words that
// are themselves placeholders, as in <file|url>, are none.
func choices(s string) []string {
	braces := strings.HasPrefix(s, "{")
	inner := strings.Trim(s, "<>{}()[]. ")
	sep := "|"
	if braces && strings.Contains(inner, ",") {
		sep = ","
	}
	if !strings.Contains(inner, sep) {
		return nil
	}
	var out []string
	for part := range strings.SplitSeq(inner, sep) {
		part = strings.Trim(part, ` '"`)
		if !choiceWord().MatchString(part) || !braces && (!lowerWord().MatchString(part) || placeholder(part)) {
			return nil
		}
		out = append(out, part)
	}
	return bounded(out)
}

// placeholder reports that a lower-case word usually stands for a value.
func placeholder(w string) bool {
	return slices.Contains(strings.Fields("file filename filepath path dir directory folder data string str text url uri name host hostname port address ip user group id ref commit branch tag rev regex pattern glob expr pkg package key value val number num n int size bytes stdin command cmd script module host:port object fd"), w)
}

func bounded(values []string) []string {
	values = slices.Compact(values)
	if len(values) < 2 || len(values) > maxValues {
		return nil
	}
	return values
}

var (
	possible  = lazy.Regexp(`(?i)(?:\[possible values|[\[(]choices|\bone of|allowed values|valid values|supported values|possible values): *[\[({]?([^\])}]*?)(?:[\])};]|\.(?:\s|$)|, default\b| \(|$)`)
	quotedOr  = lazy.Regexp(`(?i)(?:must be|either|one of) ((?:["'\x60][\w.-]+["'\x60],? )+or ["'\x60][\w.-]+["'\x60])`)
	barsIn    = lazy.Regexp(`[({]([a-z0-9][a-z0-9_.-]*(?: ?\| ?[a-z0-9][a-z0-9_.-]*)+)[)}]`)
	quotedIn  = lazy.Regexp(`\(("[\w.-]+"(?:(?:\||, ?)"[\w.-]+")+)\)`)
	bracesIn  = lazy.Regexp(`\{([a-z0-9][a-z0-9_.-]*(?:, ?[a-z0-9][a-z0-9_.-]*)+)\}`)
	parenIn   = lazy.Regexp(`(?i)one of \(((?:[\w.-]+, ?)+(?:or )?[\w.-]+)\)`)
	defaultIn = lazy.Regexp(`(?i)[(\[][^()\[\]]{0,60}?\bdefault(?:s to| is|:|=)? *("[^"]*"|'[^']*'|\[[^\]]*\]|[^()\[\];]*)`)
	atEnd     = lazy.Regexp(`(?i) - default:? (\S+)$`)
	manyTimes = lazy.Regexp(`(?i)multiple times|more than once|(?:can|may) be (?:repeated|used up to|given several)|\brepeatable\b|\[(?:array|count)\]|\(repeat`)
	mustGive  = lazy.Regexp(`(?i)[(\[](?:required|mandatory)\b|;\s*required\]|^\*?required[.:]`)
	outdated  = lazy.Regexp(`(?i)^\W*deprecated\b|[(\[;.,]\s*deprecated\b|\bis deprecated\b|\bhas been deprecated\b`)
	aliasesIn = lazy.Regexp(`\(Alias(?:es)?: (--[a-z][\w-]*(?:, --[a-z][\w-]*)*)\)`)
	inverse   = lazy.Regexp(`\(inverse: (--[a-z][\w-]*)\)`)
	typeIn    = lazy.Regexp(`\[(boolean|string|number|array|count)\]`)
	bulletAt  = lazy.Regexp(`^([a-z0-9][\w.-]*)(?::| *$| *\[)`)
)

// describe notes what a flag's description says of its value.
func (f *Flag) describe(text string) {
	text = cut(text, maxSummary)
	f.Summary = text
	f.Deprecated = f.Deprecated || outdated().MatchString(text)
	f.Repeated = f.Repeated || manyTimes().MatchString(text)
	f.Required = f.Required || mustGive().MatchString(text)
	if m := typeIn().FindStringSubmatch(text); m != nil {
		f.typed(m[1])
	}
	if m := aliasesIn().FindStringSubmatch(text); m != nil && f.Long != "" {
		for name := range strings.FieldsFuncSeq(m[1], func(r rune) bool { return r == ',' || r == ' ' }) {
			if name != f.Long && name != f.Short && !slices.Contains(f.Aliases, name) {
				f.Aliases = append(f.Aliases, name)
			}
		}
	}
	if m := inverse().FindStringSubmatch(text); m != nil && f.Value == "" && f.Negated == "" {
		f.Negated = m[1]
	}
	def := defaultOf(text)
	listed := listedValues(text)
	if f.Value == "" && f.Negated == "" && strings.ContainsRune(text, '[') {
		// yargs shows neither value nor type where a choice or a default says it.
		if strings.Contains(text, "[choices:") || strings.Contains(text, "[default:") && def != "" && !trueOrFalse(def) && !typeIn().MatchString(text) {
			f.Value, f.Kind = "value", String
		}
	}
	if f.Value == "" {
		if trueOrFalse(def) && f.Default == "" {
			f.Default = strings.ToLower(def)
		}
		return
	}
	if f.Enum == nil {
		f.Enum = listed
	}
	if f.Default == "" {
		f.Default = def
	}
	if strings.HasSuffix(f.Default, "[]") || f.Default == "map" {
		f.Default, f.Repeated = "", true
	}
	if f.Value == "duration" || strings.HasPrefix(f.Value, "bytes") {
		f.Enum = nil // the units that it names
	}
	if f.Enum != nil || f.Kind == Integer && f.Default != "" && !number().MatchString(f.Default) {
		f.Kind = String
	}
}

// typed notes a type that the description has in brackets.
func (f *Flag) typed(name string) {
	switch name {
	case "boolean", "count":
		f.Value, f.Kind, f.Repeated = "", Bool, name == "count"
	case "number":
		f.Value, f.Kind = "number", Number
	default:
		f.Value, f.Kind = "string", String
	}
}

func trueOrFalse(s string) bool {
	s = strings.ToLower(s)
	return s == "true" || s == "false"
}

// defaultOf returns the default that a description names, "" for none.
func defaultOf(text string) string {
	m := defaultIn().FindStringSubmatch(text)
	if m == nil {
		m = atEnd().FindStringSubmatch(text)
	}
	if m == nil {
		return ""
	}
	v := strings.TrimSpace(m[1])
	if len(v) > 1 && (v[0] == '"' || v[0] == '\'') && v[len(v)-1] == v[0] {
		return v[1 : len(v)-1]
	}
	if first, _, more := strings.Cut(v, " "); more {
		if !number().MatchString(first) {
			return "" // prose, such as "default shows just running"
		}
		return first
	}
	return strings.Trim(v, ",.`")
}

// listedValues returns the values that a description allows, nil where it names none
// or where the list is not clearly whole.
func listedValues(text string) []string {
	for _, re := range []*regexp.Regexp{possible(), quotedOr(), parenIn(), quotedIn(), barsIn(), bracesIn()} {
		m := re.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		if values := listOf(m[1]); values != nil {
			return values
		}
	}
	if _, list, ok := strings.Cut(text, "Possible values:"); ok {
		var out []string
		for part := range strings.SplitSeq(list, " - ") {
			if m := bulletAt().FindStringSubmatch(part); m != nil {
				out = append(out, m[1])
			}
		}
		return bounded(out)
	}
	return nil
}

var listBreak = lazy.Regexp(` *(?:[,|]|\bor\b|\band\b) *(?:or |and )?`)

func listOf(s string) []string {
	s = strings.TrimRight(s, ". ")
	var out []string
	for _, part := range listBreak().Split(s, -1) {
		part = strings.Trim(part, " \"'`")
		if part == "" {
			continue
		}
		if !choiceWord().MatchString(part) || part == "etc" || part == "etc." {
			return nil
		}
		out = append(out, part)
	}
	return bounded(out)
}
