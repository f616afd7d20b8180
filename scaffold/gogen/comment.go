package gogen

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcpctl/mcpctl/runtime"
)

// maxDoc bounds a description in bytes; what servers write above it is cut.
const maxDoc = 6000

// clean makes text of a server safe to stand in a comment: only newlines end a
// line, and nothing is left that steers a terminal or the direction of text.
// A byte order mark, which Go forbids inside a file, goes with the latter.
func clean(s string) string {
	s = shorten(strings.ToValidUTF8(s, "\uFFFD"), maxDoc)
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case r == '\n', r == '\r', r == '\v', r == '\f', r == '\u0085', r == '\u2028', r == '\u2029':
			return '\n'
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r):
			return -1
		}
		return r
	}, s)
}

// oneLine is clean text without line ends.
func oneLine(s string) string { return strings.Join(strings.Fields(clean(s)), " ") }

// shorten cuts text at a number of bytes, between characters.
func shorten(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}

// commentLines lays paragraphs out as the lines of a doc comment, each with
// its slashes. Lists stay lists; everything else is wrapped at width
// characters.
func commentLines(paragraphs []string, width int) []string {
	var out []string
	for _, p := range paragraphs {
		lines := layOut(fullStop(clean(p)), width)
		if len(lines) == 0 {
			continue
		}
		if len(out) > 0 {
			out = append(out, "//")
		}
		out = append(out, lines...)
	}
	return out
}

// fullStop ends text that is one bare line: gofmt takes such a line between
// paragraphs for a heading.
func fullStop(s string) string {
	s = strings.TrimSpace(s)
	if r, _ := utf8.DecodeLastRuneInString(s); unicode.IsLetter(r) || unicode.IsDigit(r) {
		return s + "."
	}
	return s
}

func layOut(text string, width int) []string {
	var out []string
	var pending []string
	flush := func(first, rest string) {
		if len(pending) == 0 {
			return
		}
		line, used := first, 0
		for _, w := range pending {
			if n := utf8.RuneCountInString(w); used > 0 && utf8.RuneCountInString(line)+1+n > width {
				out = append(out, line)
				line, used = rest, 0
			}
			if used > 0 {
				line += " "
			}
			line += w
			used++
		}
		out = append(out, line)
		pending = nil
	}
	blank := func() {
		if len(out) > 0 && out[len(out)-1] != "//" {
			out = append(out, "//")
		}
	}
	first, rest := "// ", "// "
	for line := range strings.SplitSeq(text, "\n") {
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
			flush(first, rest)
			first, rest = "// ", "// "
			blank()
			continue
		case isBullet(words[0]) && len(words) > 1:
			flush(first, rest)
			first, rest = "//   - ", "//     "
			words = words[1:]
		}
		pending = append(pending, words...)
	}
	flush(first, rest)
	for len(out) > 0 && out[len(out)-1] == "//" {
		out = out[:len(out)-1]
	}
	return out
}

func isBullet(w string) bool { return w == "-" || w == "*" || w == "•" }

// toolDoc is what a tool's entry says of it, without the schemas.
func toolDoc(t *runtime.Tool) []string {
	doc := []string{`calls the tool "` + oneLine(t.Name) + `".`}
	title := t.Title
	if title == "" && t.Annotations != nil {
		title = t.Annotations.Title
	}
	if title != "" && title != t.Name {
		doc[0] = `calls the tool "` + oneLine(t.Name) + `": ` + oneLine(title) + "."
	}
	if t.Description != "" {
		doc = append(doc, t.Description)
	}
	if claims := annotationText(t.Annotations); claims != "" {
		doc = append(doc, claims+" (the server's claim).")
	}
	var extra struct {
		Execution struct {
			TaskSupport string `json:"taskSupport"`
		} `json:"execution"`
	}
	if json.Unmarshal(t.Raw, &extra) == nil && extra.Execution.TaskSupport == "required" {
		doc = append(doc, "The server runs this tool as a task only (taskSupport: required) and refuses a plain call.")
	}
	return doc
}

// annotationText spells out the hints a server gives; what it leaves out is
// not said.
func annotationText(a *runtime.ToolAnnotations) string {
	if a == nil {
		return ""
	}
	var parts []string
	say := func(hint *bool, yes, no string) {
		switch {
		case hint == nil:
		case *hint && yes != "":
			parts = append(parts, yes)
		case !*hint && no != "":
			parts = append(parts, no)
		}
	}
	say(a.ReadOnlyHint, "read-only", "")
	if a.ReadOnlyHint == nil || !*a.ReadOnlyHint {
		// Both mean something only for tools that change things
		// (2025-11-25, schema, ToolAnnotations).
		say(a.DestructiveHint, "destructive", "only adds")
		say(a.IdempotentHint, "idempotent", "not idempotent")
	}
	say(a.OpenWorldHint, "reaches out to other systems", "closed world")
	if len(parts) == 0 {
		return ""
	}
	parts[0] = strings.ToUpper(parts[0][:1]) + parts[0][1:]
	return strings.Join(parts, ", ")
}

// docParagraphs is a schema's own text.
func docParagraphs(n *node) []string {
	var out []string
	if n.doc != "" {
		out = append(out, n.doc)
	}
	return append(out, n.notes...)
}

// fieldDoc says of a member what its Go type does not.
func fieldDoc(n *node, f *field) []string {
	doc := docParagraphs(n)
	var facts []string
	switch t := f.typ.leaf(); {
	case t.kind != kindRaw || t.why == "":
	case t == f.typ:
		facts = append(facts, "JSON: "+t.why+".")
	default:
		facts = append(facts, "Each value is JSON: "+t.why+".")
	}
	s := n.schema
	if n.why == "" && s["enum"] == nil {
		facts = append(facts, bounds(s)...)
	}
	if n.hasDef {
		facts = append(facts, "The server's default: "+shorten(jsonText(n.dflt), 200)+".")
	}
	if len(facts) > 0 {
		doc = append(doc, strings.Join(facts, " "))
	}
	return doc
}

// bounds puts the limits of a scalar or array into words.
func bounds(s object) []string {
	var out []string
	say := func(key, text string) {
		switch v := s[key].(type) {
		case json.Number:
			out = append(out, text+" "+string(v)+".")
		case string:
			out = append(out, text+" "+shorten(v, 200)+".")
		}
	}
	say("format", "Format")
	say("contentEncoding", "Encoded as")
	say("contentMediaType", "Content type")
	say("pattern", "Pattern")
	say("minimum", "At least")
	say("exclusiveMinimum", "More than")
	say("maximum", "At most")
	say("exclusiveMaximum", "Less than")
	say("multipleOf", "A multiple of")
	say("minLength", "Shortest length")
	say("maxLength", "Longest length")
	say("minItems", "Fewest items")
	say("maxItems", "Most items")
	return out
}
