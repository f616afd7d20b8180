package reading

import (
	"regexp"
	"strings"
)

// text is a piece of prose and the line it begins at.
type text struct {
	line int
	body string
	// cell is set for a cell of a table, in which a semicolon ends a sentence, too.
	cell bool
}

var (
	codeRE    = regexp.MustCompile("`[^`]*`")
	linkRE    = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	itemRE    = regexp.MustCompile(`^\s*([-*]|\d+\.) `)
	commentRE = regexp.MustCompile(`<!--.*?-->`)
	ruleRE    = regexp.MustCompile(`^[|:\- ]+$`)
)

// markdown returns the prose of a page: paragraphs, items of lists and cells of
// tables. Headings and fenced blocks are left out.
func markdown(page string) []text {
	var out []text
	fenced, open := false, false
	for i, line := range strings.Split(page, "\n") {
		trimmed := strings.TrimSpace(commentRE.ReplaceAllString(line, ""))
		switch {
		case strings.HasPrefix(trimmed, "```"):
			fenced, open = !fenced, false
		case fenced:
		case trimmed == "", strings.HasPrefix(trimmed, "#"):
			open = false
		case strings.HasPrefix(trimmed, "|"):
			open = false
			out = append(out, cells(i+1, trimmed)...)
		case open && !itemRE.MatchString(line):
			out[len(out)-1].body += "\n" + trimmed
		default:
			open = true
			out = append(out, text{line: i + 1, body: itemRE.ReplaceAllString(trimmed, "")})
		}
	}
	return out
}

// cells returns the cells of a row. A bar within code is escaped or masked.
func cells(line int, row string) []text {
	var out []text
	if ruleRE.MatchString(row) {
		return nil
	}
	for cell := range strings.SplitSeq(mask(strings.Trim(row, "|")), "|") {
		out = append(out, text{line: line, body: strings.TrimSpace(cell), cell: true})
	}
	return out
}

// mask replaces code by one word, and links by their text.
func mask(s string) string {
	s = linkRE.ReplaceAllString(s, "$1")
	return codeRE.ReplaceAllStringFunc(s, func(code string) string {
		return "‹code›" + strings.Repeat("\n", strings.Count(code, "\n"))
	})
}

// sentence is one sentence with the line it begins at.
type sentence struct {
	line int
	body string
}

var (
	endRE  = regexp.MustCompile(`[.!?][)"”*_]*(\s+|$)|:\n?$`)
	semiRE = regexp.MustCompile(`[.!?;][)"”*_]*(\s+|$)`)
	// notEndRE are abbreviations whose dot ends no sentence.
	notEndRE = regexp.MustCompile(`(\be\.g|\bi\.e|\betc|\bvs|^\d+)\.\s*$`)
)

// sentences takes prose apart.
func sentences(t text) []sentence {
	body, end := mask(t.body), endRE
	if t.cell {
		end = semiRE
	}
	var out []sentence
	start, line := 0, t.line
	add := func(stop int) {
		part := body[start:stop]
		lead := len(part) - len(strings.TrimLeft(part, " \n"))
		if words := strings.Join(strings.Fields(part), " "); words != "" {
			out = append(out, sentence{line + strings.Count(part[:lead], "\n"), words})
		}
		line += strings.Count(part, "\n")
		start = stop
	}
	for _, m := range end.FindAllStringIndex(body, -1) {
		if notEndRE.MatchString(body[start:m[1]]) {
			continue
		}
		add(m[1])
	}
	add(len(body))
	return out
}

// words counts the words of a sentence. Punctuation is not one.
func words(s string) int {
	n := 0
	for w := range strings.FieldsSeq(s) {
		if strings.ContainsFunc(w, func(r rune) bool {
			return r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r > 127 && r != '→' && r != '–'
		}) {
			n++
		}
	}
	return n
}
