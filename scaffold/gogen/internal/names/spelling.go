package names

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxText is how many characters of a text are used in a name. Longer ones, such
// as the sentences that some servers have as enum values, are cut and get a
// digest.
const maxText = 60

// initialisms are written in capitals. The list is fixed: a new entry would
// rename what users call. It holds those that staticcheck knows (ST1003) and a
// few that are common in tools.
var initialisms = map[string]string{ //nolint:gochecknoglobals // a constant table
	"acl": "ACL", "ai": "AI", "amqp": "AMQP", "api": "API", "apis": "APIs", "ascii": "ASCII", "cli": "CLI", "cpu": "CPU", "css": "CSS",
	"csv": "CSV", "db": "DB", "dns": "DNS", "eof": "EOF", "gid": "GID", "gpu": "GPU", "guid": "GUID", "html": "HTML", "http": "HTTP",
	"https": "HTTPS", "id": "ID", "ids": "IDs", "io": "IO", "ip": "IP", "json": "JSON", "jwt": "JWT", "llm": "LLM", "mcp": "MCP",
	"mime": "MIME", "os": "OS", "pdf": "PDF", "qps": "QPS", "ram": "RAM", "rpc": "RPC", "rtp": "RTP", "sdk": "SDK", "sha": "SHA",
	"sip": "SIP", "sla": "SLA", "smtp": "SMTP", "sql": "SQL", "ssh": "SSH", "svg": "SVG", "tcp": "TCP", "tls": "TLS", "ts": "TS",
	"ttl": "TTL", "udp": "UDP", "ui": "UI", "uid": "UID", "uri": "URI", "uris": "URIs", "url": "URL", "urls": "URLs", "utf8": "UTF8",
	"uuid": "UUID", "uuids": "UUIDs", "vm": "VM", "xml": "XML", "xmpp": "XMPP", "xsrf": "XSRF", "xss": "XSS", "yaml": "YAML",
}

// symbols are the words for names without a letter or digit, and for a sign
// before a digit.
var symbols = map[rune]string{ //nolint:gochecknoglobals // a constant table
	'+': "Plus", '-': "Minus", '*': "Star", '/': "Slash", '=': "Equal", '<': "Less", '>': "Greater", '!': "Not", '%': "Percent",
	'&': "And", '|': "Or", '^': "Caret", '~': "Tilde", '@': "At", '#': "Hash", '$': "Dollar", '?': "Question", '.': "Dot", ',': "Comma",
	':': "Colon", ';': "Semicolon", '_': "Underscore", ' ': "Space", '\'': "Quote", '"': "DoubleQuote", '`': "Backquote", '\\': "Backslash",
	'(': "Open", ')': "Close", '[': "OpenBracket", ']': "CloseBracket", '{': "OpenBrace", '}': "CloseBrace",
}

// Exported returns an exported Go name for any text: words capitalised,
// initialisms in capitals, X before what cannot begin an exported name (digits,
// and letters without capitals, such as 日), "Empty" for no text. Different texts
// can have the same name; [Resolve] separates them.
func Exported(s string) string {
	name := pascal(s)
	if s == "" {
		name = "Empty"
	}
	if name == "" || !unicode.IsUpper([]rune(name)[0]) {
		name = "X" + name
	}
	return name
}

// pascal is Exported for a text inside a name, which may begin with anything.
func pascal(s string) string {
	var b strings.Builder
	r := []rune(s)
	tail := ""
	if len(r) > maxText {
		r, tail = r[:maxText], "X"+digest(s, 4)
	}
	short := string(r)
	words := splitWords(r)
	shout := short == strings.ToUpper(short) && short != strings.ToLower(short)
	for i, w := range words {
		// Adjacent digits would be another number: 1.5 is not 15.
		if i > 0 && unicode.IsDigit([]rune(w)[0]) && endsInDigit(words[i-1]) {
			b.WriteByte('_')
		}
		if in, ok := initialisms[strings.ToLower(w)]; ok {
			b.WriteString(in)
			continue
		}
		if shout {
			w = strings.ToLower(w)
		}
		c := []rune(w)
		c[0] = unicode.ToUpper(c[0])
		b.WriteString(string(c))
	}
	if len(words) == 0 {
		for _, c := range r {
			if name, ok := symbols[c]; ok {
				b.WriteString(name)
			} else {
				fmt.Fprintf(&b, "U%04X", c)
			}
		}
	}
	return b.String() + tail
}

func endsInDigit(w string) bool {
	r := []rune(w)
	return unicode.IsDigit(r[len(r)-1])
}

// Join makes the name of something inside something: both names, words that
// the first ends with and the second begins with written once. full is the same
// with nothing left out.
//
//	Join("GetAnnotatedMessage", "MessageType") is "GetAnnotatedMessageType"
func Join(outer, inner string) (name, full string) {
	full = outer + inner
	a, b := splitWords([]rune(outer)), splitWords([]rune(inner))
	for n := min(len(a), len(b)); n > 0; n-- {
		over := strings.Join(b[:n], "")
		// Words of a name are not always those of its parts (URLs and Item): the text
		// that is cut has to be there.
		if strings.Join(a[len(a)-n:], "") == over && strings.HasSuffix(outer, over) && strings.HasPrefix(inner, over) {
			return outer + inner[len(over):], full
		}
	}
	return full, full
}

// Nest is [Join] for something inside a thing with a name of its own, which must
// be different: it returns the full name where the short one would be equal.
func Nest(outer, inner string) string {
	name, full := Join(outer, inner)
	if name == outer {
		return full
	}
	return name
}

// spellOut returns a name with symbols as words, except those that separate
// words: C++ and C# are CPlusPlus and CHash.
func spellOut(s string) string {
	var b strings.Builder
	for _, c := range s {
		switch name, ok := symbols[c]; {
		case !ok || strings.ContainsRune("_-./ ", c):
			b.WriteRune(c)
		default:
			b.WriteString(" " + name + " ")
		}
	}
	return Exported(b.String())
}

// signed reports whether a sign is spelled out, as no letter or digit comes
// before: -1, and reactions-+1, but not a-1.
func signed(r []rune, i int) bool {
	return (r[i] == '-' || r[i] == '+') && i+1 < len(r) && unicode.IsDigit(r[i+1]) && (i == 0 || notLetterOrDigit(r[i-1]))
}

// splitWords splits at everything but letters and digits, and where lower case
// changes to upper (userId) or capitals to a word (HTTPServer).
func splitWords(r []rune) []string {
	var words []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			words = append(words, string(word))
			word = nil
		}
	}
	for i, c := range r {
		if notLetterOrDigit(c) {
			flush()
			if signed(r, i) {
				words = append(words, symbols[c])
			}
			continue
		}
		if i > 0 && len(word) > 0 && unicode.IsUpper(c) {
			prev := r[i-1]
			next := i+1 < len(r) && unicode.IsLower(r[i+1]) && !plural(word, r[i:])
			if !unicode.IsUpper(prev) || next {
				flush()
			}
		}
		word = append(word, c)
	}
	flush()
	return words
}

// plural reports whether the capitals of word and the first of rest are an
// initialism whose plural s comes next, as in IDs and URLs: the s belongs to
// them.
func plural(word, rest []rune) bool {
	return rest[1] == 's' && (len(rest) == 2 || !unicode.IsLower(rest[2])) &&
		initialisms[strings.ToLower(string(word)+string(rest[0]))] != ""
}

// style returns how a text is written, to distinguish user_id from user-id and
// ID from id; "" is the way of most JSON: camelCase.
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
		case notLetterOrDigit(c):
			return "Marked"
		}
	}
	first, _ := utf8.DecodeRuneInString(s)
	switch {
	case !unicode.IsUpper(first):
		return ""
	case s == strings.ToUpper(s):
		return "Upper"
	}
	return "Pascal"
}

// digest returns the first bytes of a text's SHA-256 in hex.
func digest(s string, bytes int) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:bytes])
}
