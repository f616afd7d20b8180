package config

import "strings"

// DisplayURL is a URL for messages and logs: without user, password, query and
// fragment, which may be secret. The URL may hold placeholders.
func DisplayURL(text string) string {
	text, _, _ = strings.Cut(text, "#")
	text, _, _ = strings.Cut(text, "?")
	scheme, rest, found := strings.Cut(text, "://")
	if !found {
		return text
	}
	authority, path := rest, ""
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		authority, path = rest[:i], rest[i:]
	}
	return scheme + "://" + authority[strings.LastIndexByte(authority, '@')+1:] + path
}
