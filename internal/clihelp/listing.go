package clihelp

import (
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/lazy"
)

// item is one entry of a list of commands or arguments.
type item struct {
	name    string
	aliases []string
	summary string
	mark    string // the first word as written, with its brackets
	choices []string
	args    []Arg // that stand behind the name
	unsure  bool  // as in [Command]
}

var (
	itemName    = lazy.Regexp(`^([A-Za-z0-9_\[][\w.+:\[-]*)\*?`)
	cellName    = lazy.Regexp(`^(?:[A-Za-z0-9_][\w.+-]*|\[\[?)$`)
	argWord     = lazy.Regexp(`^(?:\[.*|<.*|\(.*|\{.*|.*[\])>}]|[A-Z][A-Z0-9_.|=-]*|\.\.\.|.*\.\.\.|\|)$`)
	capitalised = lazy.Regexp(`^[A-Z][a-z]+(?:/[a-z]+)?$`)
	aliasIn     = lazy.Regexp(`\s*[\[(]alias(?:es)?: ?([^\])]*)[\])]`)
	aliasOf     = lazy.Regexp(`(?i)^alias(?:es)?(?: for|:)`)
)

// readCommand reads a line that lists a subcommand. prefix are the words that may stand
// in front of its name: the tool and the path.
func readCommand(text string, prefix []string) (item, bool) {
	text = strings.TrimPrefix(strings.TrimPrefix(text, "* "), "- ")
	if len(prefix) > 0 {
		for _, w := range prefix {
			rest, ok := strings.CutPrefix(text, w+" ")
			if !ok {
				break
			}
			text = rest
		}
	}
	head, summary := text, ""
	if i := strings.Index(text, "  "); i >= 0 {
		head, summary = text[:i], strings.TrimLeft(text[i:], " ")
	} else if h, s, ok := strings.Cut(text, " - "); ok {
		head, summary = h, s
	} else if h, s, ok := strings.Cut(text, ": "); ok {
		head, summary = h, s
	}
	summary = strings.TrimPrefix(summary, "- ")
	if strings.HasPrefix(head, "{") && closing(head) > 0 {
		return item{mark: head, choices: choices(head[:closing(head)+1]), summary: summary}, true
	}
	m := itemName().FindStringSubmatch(head)
	if m == nil || strings.HasSuffix(head, ".") && !strings.HasSuffix(head, "..") {
		return item{}, false
	}
	it := item{name: strings.TrimRight(m[1], ":."), mark: head, summary: summary}
	rest := strings.TrimLeft(strings.TrimPrefix(head[len(m[0]):], ":"), " ")
	if !validName(it.name) {
		return item{}, false
	}
	it.readAliases(&rest)
	if rest != "" && strings.Trim(rest, ":") != "" {
		words := columnsOfArgs(rest)
		for i, w := range words {
			if argWord().MatchString(w) {
				continue
			}
			if i == 0 || summary != "" || !capitalised().MatchString(w) {
				return item{}, false
			}
			// A long name leaves one space: set-property UNIT PROPERTY=VALUE... Sets it
			rest, summary = strings.Join(words[:i], " "), strings.Join(words[i:], " ")
			it.summary = summary
			break
		}
		r := formReader{takes: func(string) (known, value bool) { return false, false }}
		it.args = r.alternatives(rest, 0).args
	}
	if m := aliasIn().FindStringSubmatch(it.summary); m != nil {
		for a := range strings.FieldsFuncSeq(m[1], func(r rune) bool { return r == ',' || r == ' ' }) {
			it.aliases = append(it.aliases, a)
		}
		it.summary = strings.TrimSpace(aliasIn().ReplaceAllString(it.summary, ""))
	}
	return it, true
}

// readAliases takes aliases from the front of rest: ", b", "|b" and "(b)".
func (it *item) readAliases(rest *string) {
	for range 20 {
		s := *rest
		switch {
		case strings.HasPrefix(s, ",") || strings.HasPrefix(s, "|"):
			s = strings.TrimLeft(s[1:], " ")
			m := itemName().FindString(s)
			if m == "" {
				return
			}
			it.aliases = append(it.aliases, strings.TrimRight(m, ":*"))
			*rest = strings.TrimLeft(s[len(m):], " ")
		case strings.HasPrefix(s, "(") && closing(s) > 0 && !strings.Contains(s, "|"):
			n := closing(s)
			for a := range strings.SplitSeq(s[1:n], ",") {
				if a = strings.TrimSpace(a); validName(a) {
					it.aliases = append(it.aliases, a)
				}
			}
			*rest = strings.TrimLeft(s[n+1:], " ")
		default:
			return
		}
	}
}

// columnsOfArgs returns the words of s; brackets keep theirs together.
func columnsOfArgs(s string) []string {
	var out []string
	for s = strings.TrimLeft(s, " "); s != "" && len(out) < 50; s = strings.TrimLeft(s, " ") {
		n := len(nextItem(s))
		if n == 0 {
			n = 1
		}
		for n < len(s) && s[n] != ' ' {
			n++
		}
		out = append(out, s[:n])
		s = s[n:]
	}
	return out
}

func validName(s string) bool {
	return cellName().MatchString(s) && len(s) < 60
}

// table returns the names of a block that lists nothing else: in columns, or with
// commas between. It returns nil for any other block.
func table(block []line) []string {
	if names := commaList(block); names != nil {
		return names
	}
	var names []string
	most := 0
	for _, l := range block {
		cells := columns(l.text)
		most = max(most, len(cells))
		names = append(names, cells...)
	}
	if most < 3 || slices.ContainsFunc(names, func(s string) bool { return !validName(s) }) {
		return nil
	}
	return names
}

func commaList(block []line) []string {
	var all strings.Builder
	for i, l := range block {
		if wide().MatchString(l.text) || i+1 < len(block) && !strings.HasSuffix(l.text, ",") {
			return nil
		}
		all.WriteString(l.text + " ")
	}
	var names []string
	for part := range strings.SplitSeq(strings.TrimRight(all.String(), ", "), ",") {
		part = strings.TrimSpace(part)
		if !validName(part) {
			return nil
		}
		names = append(names, part)
	}
	if len(names) < 3 {
		return nil
	}
	return names
}
