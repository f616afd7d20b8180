package args

import (
	"encoding/json"
	"strings"
	"unicode"
)

// CallForm reads a word in the form of a function call, tool(name: value), as other
// programs take it. It returns the name in front and the arguments in the form that
// they have here; ok is false for another word.
func CallForm(word string) (name string, words []string, ok bool) {
	name, rest, found := strings.Cut(strings.TrimSpace(word), "(")
	rest, closed := strings.CutSuffix(strings.TrimSpace(rest), ")")
	if name = strings.TrimSpace(name); !found || !closed || name == "" {
		return "", nil, false
	}
	for _, part := range topLevel(rest) {
		key, value, ok := strings.Cut(part, ":")
		if !ok {
			key, value, ok = strings.Cut(part, "=")
		}
		if !ok {
			return name, []string{"NAME=VALUE"}, true
		}
		words = append(words, pairForm(strings.Trim(strings.TrimSpace(key), `"'`), strings.TrimSpace(value)))
	}
	return name, words, true
}

// pairForm returns a pair of a name and a value as it would be written in code.
func pairForm(name, value string) string {
	var text string
	switch {
	case json.Unmarshal([]byte(value), &text) == nil:
		return name + "=" + text
	case strings.HasPrefix(value, "{"), strings.HasPrefix(value, "["):
		return name + ":=" + value
	case len(value) > 1 && value[0] == '\'' && value[len(value)-1] == '\'':
		value = value[1 : len(value)-1]
	}
	return name + "=" + value
}

// topLevel splits a text at commas outside of quotes and brackets.
func topLevel(text string) (parts []string) {
	depth, quote, begin := 0, rune(0), 0
	escaped := false
	for i, r := range text {
		switch {
		case escaped:
			escaped = false
		case quote != 0 && r == '\\':
			escaped = true
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'':
			quote = r
		case strings.ContainsRune("([{", r):
			depth++
		case strings.ContainsRune(")]}", r):
			depth--
		case r == ',' && depth == 0:
			parts, begin = append(parts, text[begin:i]), i+1
		}
	}
	if last := text[begin:]; strings.TrimSpace(last) != "" {
		parts = append(parts, last)
	}
	return parts
}

// colonForm returns name=value for a word name:value, "" for another word.
func colonForm(word string) string {
	name, value, ok := strings.Cut(word, ":")
	if !ok || name == "" || strings.HasPrefix(value, "//") {
		return ""
	}
	for _, r := range name {
		if r != '_' && r != '-' && r != '.' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return ""
		}
	}
	return pairForm(name, strings.TrimSpace(value))
}
