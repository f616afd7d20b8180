package config

import "strings"

// DisplayURL returns a URL for messages and logs: without user, password, query
// and fragment, which may be secret, and without parts of the path that look so.
// The URL may hold placeholders. Any other text is treated the same way: it may be
// a mistyped URL.
func DisplayURL(text string) string {
	text, _, _ = strings.Cut(text, "#")
	text, _, _ = strings.Cut(text, "?")
	scheme, rest, found := strings.Cut(text, "//")
	if !found {
		scheme, rest = "", text
	} else {
		scheme += "//"
	}
	authority, path, deeper := strings.Cut(rest, "/")
	out := scheme + authority[strings.LastIndexByte(authority, '@')+1:]
	if deeper {
		out += "/" + maskPath(path)
	}
	return out
}
