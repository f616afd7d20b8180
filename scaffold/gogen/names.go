package gogen

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"
)

// initialisms are written in capitals. The list is fixed for good: a new entry
// would rename what users call.
var initialisms = map[string]string{ //nolint:gochecknoglobals // a constant table
	"acl": "ACL", "api": "API", "apis": "APIs", "ascii": "ASCII", "cpu": "CPU", "css": "CSS", "csv": "CSV", "db": "DB", "dns": "DNS",
	"eof": "EOF", "gid": "GID", "guid": "GUID", "html": "HTML", "http": "HTTP", "https": "HTTPS", "id": "ID", "ids": "IDs", "io": "IO",
	"ip": "IP", "json": "JSON", "mcp": "MCP", "mime": "MIME", "os": "OS", "pdf": "PDF", "qps": "QPS", "ram": "RAM", "rpc": "RPC",
	"sha": "SHA", "sla": "SLA", "smtp": "SMTP", "sql": "SQL", "ssh": "SSH", "tcp": "TCP", "tls": "TLS", "ttl": "TTL", "udp": "UDP",
	"ui": "UI", "uid": "UID", "uri": "URI", "uris": "URIs", "url": "URL", "urls": "URLs", "utf8": "UTF8", "uuid": "UUID", "vm": "VM",
	"xml": "XML", "xss": "XSS", "yaml": "YAML",
}

// symbols spells out names that have no letter or digit, and a sign in front
// of a digit.
var symbols = map[rune]string{ //nolint:gochecknoglobals // a constant table
	'+': "Plus", '-': "Minus", '*': "Star", '/': "Slash", '=': "Equal", '<': "Less", '>': "Greater", '!': "Not", '%': "Percent",
	'&': "And", '|': "Or", '^': "Caret", '~': "Tilde", '@': "At", '#': "Hash", '$': "Dollar", '?': "Question", '.': "Dot", ',': "Comma",
	':': "Colon", ';': "Semicolon", '_': "Underscore", ' ': "Space", '\'': "Quote", '"': "DoubleQuote", '`': "Backquote", '\\': "Backslash",
	'(': "Open", ')': "Close", '[': "OpenBracket", ']': "CloseBracket", '{': "OpenBrace", '}': "CloseBrace",
}

// goName makes an exported Go name of any text: words capitalised, initialisms
// in capitals, X in front of what cannot begin an exported name. Different
// texts can have the same name; assign tells them apart.
func goName(s string) string {
	var b strings.Builder
	if r := []rune(s); len(r) > 1 && (r[0] == '-' || r[0] == '+') && unicode.IsDigit(r[1]) {
		b.WriteString(symbols[r[0]])
	}
	words := splitWords(s)
	shout := s == strings.ToUpper(s) && s != strings.ToLower(s)
	for _, w := range words {
		if in, ok := initialisms[strings.ToLower(w)]; ok {
			b.WriteString(in)
			continue
		}
		if shout {
			w = strings.ToLower(w)
		}
		r := []rune(w)
		r[0] = unicode.ToUpper(r[0])
		b.WriteString(string(r))
	}
	if len(words) == 0 {
		for _, r := range s {
			b.WriteString(symbols[r])
		}
	}
	name := b.String()
	if name == "" || !unicode.IsUpper([]rune(name)[0]) {
		name = "X" + name
	}
	return name
}

// splitWords splits at everything that is no letter or digit, and where lower
// case turns to upper (userId) or capitals to a word (HTTPServer).
func splitWords(s string) []string {
	var words []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			words = append(words, string(word))
			word = nil
		}
	}
	r := []rune(s)
	for i, c := range r {
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			flush()
			continue
		}
		if i > 0 && len(word) > 0 && unicode.IsUpper(c) {
			prev := r[i-1]
			next := i+1 < len(r) && unicode.IsLower(r[i+1]) && !pluralCapitals(r[i-1:])
			if !unicode.IsUpper(prev) || next && unicode.IsUpper(prev) {
				flush()
			}
		}
		word = append(word, c)
	}
	flush()
	return words
}

// pluralCapitals reports whether the text goes on with the end of a plural
// such as IDs, whose s belongs to the capitals.
func pluralCapitals(r []rune) bool {
	return len(r) >= 3 && r[2] == 's' && (len(r) == 3 || !unicode.IsLower(r[3])) && initialisms[strings.ToLower(string(r[:3]))] != ""
}

// style names the way a text separates its words, to tell user_id from
// user-id; "" is the way Go itself has.
func style(s string) string {
	for _, c := range s {
		switch {
		case c == '_':
			return "Snake"
		case c == '-':
			return "Kebab"
		case c == '.':
			return "Dotted"
		case c == '/':
			return "Path"
		case unicode.IsSpace(c):
			return "Spaced"
		case !unicode.IsLetter(c) && !unicode.IsDigit(c):
			return "Marked"
		}
	}
	return ""
}

// assign gives each text, all different, a Go name of its own. Where two would
// have the same one, both get a suffix made from their own text alone (the
// style of writing, then a digest), except one that is written the way Go
// writes it; so the order of the texts has no influence and a further one
// changes no name but those it collides with. A name in reserved gets
// reservedSuffix.
func assign(texts []string, reserved map[string]bool, reservedSuffix string) map[string]string {
	level := map[string]int{}
	candidate := func(s string) string {
		name := goName(s)
		if reserved[name] {
			name += reservedSuffix
		}
		if level[s] >= 1 {
			name += style(s)
		}
		if level[s] >= 2 {
			name += "X" + digest(s)
		}
		return name
	}
	for {
		groups := map[string][]string{}
		for _, s := range texts {
			name := candidate(s)
			groups[name] = append(groups[name], s)
		}
		raised := false
		for _, group := range groups {
			if len(group) < 2 {
				continue
			}
			plain := slices.DeleteFunc(slices.Clone(group), func(s string) bool { return level[s] > 0 || style(s) != "" })
			for _, s := range group {
				if len(plain) == 1 && s == plain[0] || level[s] == 2 {
					continue
				}
				level[s]++
				if style(s) == "" {
					level[s] = 2
				}
				raised = true
			}
		}
		if !raised {
			break
		}
	}
	out := make(map[string]string, len(texts))
	for _, s := range texts {
		out[s] = candidate(s)
	}
	return out
}

// digest is eight hex digits of a text.
func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:4])
}
