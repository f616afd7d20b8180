package policy

import "strings"

// glob is a pattern of ids of items, SERVER/NAME, or of servers: a * stands for any
// characters but a slash, ** at the end for all that follows. With tool:, prompt: or
// resource: in front it is of those alone.
type glob struct {
	pattern string
	// uris is the pattern with the URIs in normal form.
	uris   string
	kinds  [numKinds]bool
	server bool
}

func parseGlob(text string) glob {
	g := glob{pattern: text}
	prefix, rest, _ := strings.Cut(text, ":")
	switch {
	case prefix == "tool":
		g.pattern, g.kinds = rest, [numKinds]bool{Tool: true}
	case prefix == "prompt":
		g.pattern, g.kinds = rest, [numKinds]bool{Prompt: true}
	case prefix == "resource":
		g.pattern, g.kinds = rest, [numKinds]bool{Resource: true, Template: true}
	case strings.Contains(text, "/"):
		g.kinds = [numKinds]bool{Tool: true, Prompt: true, Resource: true, Template: true}
	default:
		g.server = true
	}
	g.uris = g.pattern
	if server, uri, ok := strings.Cut(g.pattern, "/"); ok && g.kinds[Resource] {
		g.uris = server + "/" + NormalPattern(uri)
	}
	return g
}

// of returns the pattern of the ids of a kind.
func (g *glob) of(kind Kind) string {
	if kind == Resource || kind == Template {
		return g.uris
	}
	return g.pattern
}

// match reports whether a pattern matches a text.
func match(pattern, text string) bool {
	star, from := -1, 0 // the last star, and where what follows it is looked for
	p, t := 0, 0
	for t < len(text) {
		switch {
		case pattern[p:] == "**":
			return true
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, t
			p++
		case p < len(pattern) && pattern[p] == text[t]:
			p++
			t++
		case star >= 0 && text[from] != '/':
			from++
			p, t = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
