package policy

import (
	"strings"

	"github.com/mcpctl/mcpctl/runtime/access/policy/args"
)

// NormalURI returns a URI in the one form that equal ones share: scheme and host in small
// letters, dot segments taken out, escapes of characters that need none undone, those of
// others in capitals, and spaces, backslashes and characters beyond ASCII escaped. It
// reports false for a URI that programs read differently: one without a scheme, with a
// control character, or with an escaped slash or backslash that would make a dot segment,
// or that a file's path has.
func NormalURI(text string) (string, bool) {
	scheme, rest, ok := strings.Cut(text, ":")
	if !ok || !args.IsScheme(scheme) {
		return "", false
	}
	scheme = strings.ToLower(scheme)
	if rest, ok = normalEscapes(rest); !ok {
		return "", false
	}
	authority := ""
	if after, found := strings.CutPrefix(rest, "//"); found {
		i := strings.IndexAny(after, "/?#")
		if i < 0 {
			i = len(after)
		}
		authority, rest = "//"+lowerHost(after[:i]), after[i:]
	}
	path, behind := rest, ""
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		path, behind = rest[:i], rest[i:]
	}
	if (strings.Contains(path, "%2F") || strings.Contains(path, "%5C")) && (scheme == "file" || hidesDots(path)) {
		return "", false
	}
	clean := withoutDots(path, scheme == "file")
	if clean != path && scheme != "file" && strings.Contains(path, "//") {
		return "", false // whether .. leads over an empty name is read in two ways
	}
	return scheme + ":" + authority + clean + behind, true
}

// lowerHost returns an authority with the host in small letters.
func lowerHost(authority string) string {
	i := strings.LastIndexByte(authority, '@') + 1
	return authority[:i] + strings.ToLower(authority[i:])
}

const hexDigits = "0123456789ABCDEF"

// normalEscapes undoes escapes of unreserved characters (RFC 3986, 2.3), writes others in
// capitals, and escapes what must not stand in a URI. It reports false for an escape that is none, or of a control character.
func normalEscapes(text string) (string, bool) {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c < ' ' || c == 0x7f:
			return "", false
		case c == ' ' || c == '\\' || c >= 0x80:
			out = append(out, '%', hexDigits[c>>4], hexDigits[c&15])
			continue
		case c != '%':
			out = append(out, c)
			continue
		}
		if i+2 >= len(text) {
			return "", false
		}
		high, low := strings.IndexByte(hexDigits, upper(text[i+1])), strings.IndexByte(hexDigits, upper(text[i+2]))
		if high < 0 || low < 0 {
			return "", false
		}
		c := byte(high<<4 | low) //nolint:gosec // each is below 16
		switch {
		case c < ' ' || c == 0x7f:
			return "", false
		case c|0x20 >= 'a' && c|0x20 <= 'z', c >= '0' && c <= '9', strings.IndexByte("-._~", c) >= 0:
			out = append(out, c)
		default:
			out = append(out, '%', hexDigits[high], hexDigits[low])
		}
		i += 2
	}
	return string(out), true
}

func upper(c byte) byte {
	if c >= 'a' && c <= 'z' {
		return c - 0x20
	}
	return c
}

// hidesDots reports whether a path would have a dot segment if its slashes were not
// escaped.
func hidesDots(path string) bool {
	path = strings.NewReplacer("%2F", "/", "%5C", "/").Replace(path)
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "." || segment == ".." {
			return true
		}
	}
	return false
}

// withoutDots takes dot segments out of a path (RFC 3986, 5.2.4), and empty ones of a
// file's path.
func withoutDots(path string, file bool) string {
	if !strings.HasPrefix(path, "/") {
		return path
	}
	var out []string
	segments := strings.Split(path[1:], "/")
	for i, s := range segments {
		last := i == len(segments)-1
		switch {
		case s == "." || s == ".." || s == "" && file:
			if s == ".." && len(out) > 0 {
				out = out[:len(out)-1]
			}
			if last {
				out = append(out, "")
			}
		default:
			out = append(out, s)
		}
	}
	return "/" + strings.Join(out, "/")
}
