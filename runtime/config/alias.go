package config

import (
	"slices"
	"strconv"
	"strings"
)

const maxAlias = 64

// CheckAlias tells whether a server can have this name: 1 to 64 of
// A-Z a-z 0-9 . _ - beginning with a letter or digit, no "__" (it separates
// server and tool where many servers are served as one), and none of the names
// of mcpctl's commands. The error is an [*AliasError].
func CheckAlias(alias string) error {
	reason := aliasFault(alias)
	switch {
	case reason != "":
		e := &AliasError{Alias: alias, Reason: reason, Remedy: "letters, digits, '.', '_' and '-', at most 64, no '__'"}
		if mended := CleanAlias(alias); mended != "" && mended != alias {
			e.Remedy = "try " + mended
		}
		return e
	case Reserved(alias):
		return &AliasError{Alias: alias, Reason: "it is the name of a command", Remedy: "try " + alias + "-server"}
	}
	return nil
}

func aliasFault(alias string) string {
	switch {
	case alias == "":
		return "it is empty"
	case len(alias) > maxAlias:
		return "it is longer than " + strconv.Itoa(maxAlias) + " characters"
	case strings.Contains(alias, "__"):
		return `it contains "__", which separates server and tool`
	case !alphanumeric(rune(alias[0])):
		return "it does not begin with a letter or digit"
	}
	for _, r := range alias {
		if !aliasRune(r) {
			return "it contains " + strconv.QuoteRune(r)
		}
	}
	return ""
}

// CleanAlias turns any text into a valid alias, but for reserved words: other
// characters become '-', runs of '_' one, and what cannot begin an alias is
// cut off, as is what exceeds 64 characters. "" when nothing is left.
func CleanAlias(text string) string {
	if aliasFault(text) == "" {
		return text
	}
	var b strings.Builder
	last := rune(0)
	for _, r := range text {
		foreign := !aliasRune(r)
		if foreign {
			r = '-'
		}
		if r == last && (foreign || r == '_') {
			continue
		}
		b.WriteRune(r)
		last = r
	}
	s := strings.TrimLeft(b.String(), "._-")
	if len(s) > maxAlias {
		s = s[:maxAlias]
	}
	return strings.TrimRight(s, "._-")
}

// Reserved tells whether a word is the name of one of mcpctl's commands,
// present or planned, and so cannot be an alias.
func Reserved(word string) bool {
	return slices.Contains(reserved(), word)
}

func reserved() []string {
	return []string{
		"acl", "add", "audit", "auth", "bridge", "call", "completion", "config", "demo", "demo-server", "describe", "doctor", "explain",
		"export", "gateway", "generate", "get", "help", "import", "info", "lint", "list", "lock", "login", "logout", "logs",
		"ping", "policy", "prompt", "prompts", "read", "remove", "resources", "run", "search", "serve", "status", "sync",
		"tools", "top", "update", "version",
	}
}

func alphanumeric(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func aliasRune(r rune) bool {
	return r == '.' || r == '_' || r == '-' || alphanumeric(r)
}

// Nearest gives the candidates that look like a word, best first, at most
// three: a different case, a common beginning, or few slips of the finger
// (one for each three letters, two neighbours swapped being one).
func Nearest(word string, candidates []string) []string {
	type hit struct {
		name     string
		distance int
	}
	var hits []hit
	lower := strings.ToLower(word)
	for _, c := range candidates {
		name := strings.ToLower(c)
		d := distance(lower, name)
		switch {
		case d <= max(1, len(lower)/3) && d < len(lower):
			hits = append(hits, hit{c, d})
		case len(lower) >= 2 && (strings.HasPrefix(name, lower) || len(name) >= 3 && strings.HasPrefix(lower, name)):
			hits = append(hits, hit{c, 100 + d})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return a.distance - b.distance })
	var names []string
	for _, h := range hits[:min(len(hits), 3)] {
		names = append(names, h.name)
	}
	return names
}

// distance is the Damerau-Levenshtein distance in bytes, neighbours swapped
// once (optimal string alignment).
func distance(a, b string) int {
	prev2 := make([]int, len(b)+1)
	prev := make([]int, len(b)+1)
	cur := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}
