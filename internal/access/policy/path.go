package policy

import (
	"path"
	"strings"
)

// CleanPath returns a file path without its dot segments, doubled slashes and a slash at
// its end, by its text alone: symbolic links are not followed. An absolute path on a drive
// is in small letters and with slashes: c:/data. It reports false for a text that programs
// read as different paths: with a backslash elsewhere, a percent escape, a NUL, a tilde in
// front or a scheme, or one that leads above where it begins.
func CleanPath(text string) (string, bool) {
	if isDrivePath(text) {
		return cleanDrive(text)
	}
	if strings.ContainsAny(text, "\\\x00") || hasEscape(text) {
		return "", false
	}
	out := path.Clean(text)
	for _, t := range [...]string{text, out} { // ./~ becomes ~
		if strings.HasPrefix(t, "~") || hasScheme(t) || t == ".." || strings.HasPrefix(t, "../") && t == out {
			return "", false
		}
	}
	return out, true
}

// isDrivePath reports whether a path begins with the letter of a drive.
func isDrivePath(text string) bool {
	return len(text) >= 2 && text[1] == ':' && isLetter(text[0])
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// cleanDrive is CleanPath for paths on drives. Windows takes dots and spaces off the ends
// of names, has short names with a tilde, and streams behind a colon.
func cleanDrive(text string) (string, bool) {
	if len(text) < 3 || text[2] != '\\' && text[2] != '/' || strings.ContainsAny(text, "\x00~") || hasEscape(text) {
		return "", false
	}
	rest := strings.ReplaceAll(text[2:], `\`, "/")
	if strings.Contains(rest, ":") {
		return "", false
	}
	for name := range strings.SplitSeq(rest, "/") {
		if name != "." && name != ".." && strings.TrimRight(name, ". ") != name {
			return "", false
		}
	}
	return strings.ToLower(text[:2] + path.Clean(rest)), true
}

// hasEscape reports whether a text has a percent sign with two hexadecimal digits.
func hasEscape(text string) bool {
	for i := range len(text) {
		if text[i] == '%' && i+2 < len(text) && isHex(text[i+1]) && isHex(text[i+2]) {
			return true
		}
	}
	return false
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' }

// hasScheme reports whether a text begins as a URL does.
func hasScheme(text string) bool {
	scheme, _, ok := strings.Cut(text, ":")
	return ok && IsScheme(scheme)
}

// IsScheme reports whether a text is the scheme of a URL (RFC 3986, 3.1).
func IsScheme(text string) bool {
	for i := range len(text) {
		c := text[i]
		if !isLetter(c) && (i == 0 || (c < '0' || c > '9') && c != '+' && c != '-' && c != '.') {
			return false
		}
	}
	return text != ""
}
