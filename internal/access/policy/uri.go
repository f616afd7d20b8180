package policy

import (
	"slices"
	"strings"
)

// URI is a URI in the forms in which policies read it. A rule that denies or asks counts for
// each of them; one that allows for Normal and, of an ambiguous URI, for all Others.
type URI struct {
	// Normal is the normal form of RFC 3986, 6.2, without default port and with a path "/"
	// for an empty one, where the scheme is one of WHATWG URL. Of a file, slashes are single
	// and the host localhost is left out.
	Normal string
	// Others are the normal forms of what other programs read; nil for an ordinary URI. They
	// are distinct: without user information, with a backslash for a slash or another number
	// of slashes (WHATWG URL), with decoded slashes, with all behind the scheme as a path.
	Others []string
	// Ambiguous says that programs read another path or another host.
	Ambiguous bool
	// anyHost says that the host may be one that is in no form.
	anyHost bool
}

// ParseURI returns the forms of a URI. It reports false for a text without a scheme. For an
// ordinary URI it does not allocate.
func ParseURI(text string) (u URI, ok bool) {
	if isOrdinary(text) {
		return URI{Normal: text}, true
	}
	trimmed := withoutBlanks(text)
	scheme, rest, ok := strings.Cut(trimmed, ":")
	if !ok || !IsScheme(scheme) {
		return URI{}, false
	}
	scheme = strings.ToLower(scheme)
	escaped, exact := normalEscapes(rest)
	asRFC := split(scheme, escaped)
	read := asRFC
	u.Normal, u.Ambiguous = asRFC.normal().String(), trimmed != text || !exact
	if asRFC.special() {
		slashed, _ := normalEscapes(forwardSlashes(rest))
		read = splitWHATWG(scheme, slashed)
		u.Ambiguous = u.Ambiguous || asRFC.place() != read.place()
		if scheme != "file" {
			known, plain := read.hasPlainHost()
			_, host, _ := asRFC.userHostPort()
			u.anyHost = !known || strings.Contains(decodesBackslashes.of(host), "%")
			u.Ambiguous = u.Ambiguous || !plain
		} else if strings.Contains(read.path, "%2F") || strings.Contains(read.path, "%5C") {
			u.Ambiguous = true
		}
	}
	for d := range numDecodings {
		if d == decodesNothing || d.of(escaped) != escaped {
			u.readAs(asRFC, d)
			if read != asRFC {
				u.readAs(read, d)
			}
		}
	}
	return u, true
}

// readAs adds what a program reads that splits a URI in a way, and decodes slashes in one.
func (u *URI) readAs(p parts, d decoding) {
	decoded := p.splitAgain(d.of(p.authority + p.path))
	decoded.tail = p.tail
	u.add(decoded)
	u.Ambiguous = u.Ambiguous || withoutDots(singleSlashes(d.of(p.path))) != singleSlashes(d.of(p.withoutDots().path))

	// A program may take all behind the scheme for a path.
	whole := withoutDots(singleSlashes(d.of(p.whole())))
	u.Ambiguous = u.Ambiguous || whole != singleSlashes(d.of(p.withoutDots().whole()))
	u.add(p.splitAgain(whole))
	if p.scheme == "file" {
		u.add(parts{p.scheme, true, "", "/" + whole, ""})
	}
}

// Forms returns Normal and Others.
func (u *URI) Forms() []string { return append([]string{u.Normal}, u.Others...) }

// Places returns what the forms have of scheme and host: "https://example.com", or "note:" where
// there is no host, or any.
func (u *URI) Places() []string {
	var out []string
	for _, form := range u.Forms() {
		scheme, rest, _ := strings.Cut(form, ":")
		place := scheme + ":"
		if p := split(scheme, rest); p.rooted && !u.anyHost {
			place += "//" + p.authority
		}
		if !slices.Contains(out, place) {
			out = append(out, place)
		}
	}
	return out
}

// add adds the forms of parts that are not there yet.
func (u *URI) add(p parts) {
	forms := []parts{p.normal(), p.lenient()}
	if p.scheme == "file" { // programs may leave out its host
		forms = append(forms, parts{p.scheme, true, "", forms[1].path, ""})
	}
	for _, p := range forms {
		if text := p.String(); text != u.Normal && !slices.Contains(u.Others, text) {
			u.Others = append(u.Others, text)
		}
	}
}

// isOrdinary reports whether a URI has one form, which is the text.
func isOrdinary(text string) bool {
	scheme, rest, ok := strings.Cut(text, ":")
	if !ok || !IsScheme(scheme) || strings.ToLower(scheme) != scheme {
		return false
	}
	p := split(scheme, rest)
	port := ""
	if p.special() {
		var host string
		if _, host, port = p.userHostPort(); port == ":" || strings.HasPrefix(port, ":0") || strings.TrimPrefix(port, ":") == defaultPort(scheme) && port != "" {
			return false
		}
		if !p.rooted || (scheme == "file") != (p.authority == "") || !strings.HasPrefix(p.path, "/") {
			return false
		}
		if last := host[strings.LastIndexByte(host, '.')+1:]; host != "" && (last == "" || last[0] <= '9') {
			return false // a dot at the end, or an address
		}
	}
	for i := range len(p.authority) - len(port) {
		if c := p.authority[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && strings.IndexByte("-._", c) < 0 {
			return false
		}
	}
	whole := rest[len(rest)-len(p.path)-len(p.tail):]
	for i := 0; i < len(whole); i++ {
		switch c := whole[i]; {
		case c == '%':
			if i+2 >= len(whole) || !isOrdinaryEscape(whole[i+1], whole[i+2]) {
				return false
			}
			i += 2
		case c <= ' ' || c >= 0x7f || c == '\\' || c == '#' || c == '?' && scheme == "file":
			return false
		}
	}
	return !strings.Contains(whole, "//") && !hasDots(strings.TrimPrefix(rest, "//"))
}

// isOrdinaryEscape reports whether an escape is in normal form, and programs do not differ
// about it.
func isOrdinaryEscape(high, low byte) bool {
	if strings.IndexByte(hexDigits, high) < 2 || strings.IndexByte(hexDigits, low) < 0 {
		return false // a control character, too
	}
	c := byte(hexDigit(high)<<4 | hexDigit(low)) //nolint:gosec // each is below 16
	return c != '/' && c != '\\' && !isControl(c) && !isUnreserved(c)
}

// parts are the parts of a URI (RFC 3986, 3).
type parts struct {
	scheme    string
	rooted    bool // there is an authority, maybe an empty one
	authority string
	path      string
	tail      string // the query and the fragment
}

func (p parts) String() string {
	if p.rooted {
		return p.scheme + "://" + p.authority + p.path + p.tail
	}
	if strings.HasPrefix(p.path, "//") { // which is no authority (WHATWG URL, serializing)
		return p.scheme + ":/." + p.path + p.tail
	}
	return p.scheme + ":" + p.path + p.tail
}

// special reports whether WHATWG URL has rules for a scheme.
func (p parts) special() bool { return p.scheme == "file" || defaultPort(p.scheme) != "" }

func defaultPort(scheme string) string {
	switch scheme {
	case "http", "ws":
		return "80"
	case "https", "wss":
		return "443"
	case "ftp":
		return "21"
	}
	return ""
}

// split splits what is behind the scheme as RFC 3986 does.
func split(scheme, rest string) parts {
	p := parts{scheme: scheme}
	if rest, p.rooted = strings.CutPrefix(rest, "//"); p.rooted {
		p.authority, rest = cutAt(rest, "/?#")
	}
	p.path, p.tail = cutAt(rest, "?#")
	return p
}

// splitWHATWG splits what is behind a special scheme as WHATWG URL does: a file has an
// authority behind two slashes, others behind any number.
func splitWHATWG(scheme, rest string) parts {
	p := parts{scheme: scheme, rooted: true}
	if scheme != "file" {
		p.authority, rest = cutAt(strings.TrimLeft(rest, "/"), "/?#")
	} else if after, ok := strings.CutPrefix(rest, "//"); ok {
		if p.authority, rest = cutAt(after, "/?#"); isDrive(p.authority) {
			p.authority, rest = "", "/"+after
		}
	}
	p.path, p.tail = cutAt(rest, "?#")
	if scheme == "file" {
		// Node 20 takes every name that begins like a drive for one.
		p.path = dotless("/"+strings.TrimPrefix(p.path, "/"), func(first string) bool { return len(first) > 1 && isDrive(first[:2]) })
		if len(p.path) > 2 && isDrive(p.path[1:3]) && (len(p.path) == 3 || p.path[3] == '/') {
			p.path = p.path[:2] + ":" + p.path[3:]
		}
	}
	return p
}

// splitAgain splits what has become of all behind the scheme, but for two slashes.
func (p parts) splitAgain(whole string) parts {
	if p.rooted {
		whole = "//" + whole
	}
	return split(p.scheme, whole)
}

func cutAt(text, chars string) (before, after string) {
	i := strings.IndexAny(text, chars)
	if i < 0 {
		i = len(text)
	}
	return text[:i], text[i:]
}

func isDrive(text string) bool {
	return len(text) == 2 && text[0]|0x20 >= 'a' && text[0]|0x20 <= 'z' && (text[1] == ':' || text[1] == '|')
}

// normal returns the normal form.
func (p parts) normal() parts {
	user, host, port := p.userHostPort()
	host = strings.ToLower(host)
	p.authority = user + host + port
	if p.special() {
		port = strings.TrimPrefix(port, ":")
		for len(port) > 1 && port[0] == '0' {
			port = port[1:]
		}
		if port != "" && port != defaultPort(p.scheme) {
			host += ":" + port
		}
		if p.scheme == "file" && host == "localhost" {
			host = ""
		}
		p.authority = user + host
		p.rooted = p.rooted || p.scheme == "file" && strings.HasPrefix(p.path, "/")
		if p.path == "" && p.rooted {
			p.path = "/"
		}
	}
	p = p.withoutDots()
	if p.scheme == "file" {
		p.path = singleSlashes(p.path)
	}
	return p
}

// lenient returns the normal form of what is read by a program that looks at host and path
// alone.
func (p parts) lenient() parts {
	p = p.withPath(withoutDots(singleSlashes(p.path))).normal()
	p.authority = p.hostPort()
	if p.special() {
		p.tail, _ = cutAt(p.tail, "#")
	}
	if p.scheme == "file" {
		p.tail = ""
	}
	return p
}

// place returns the host and the path, in a form to be compared.
func (p parts) place() string {
	p = p.normal()
	return p.hostPort() + "\x00" + singleSlashes(p.path)
}

// whole returns all behind the scheme as a path.
func (p parts) whole() string { return p.authority + p.path + p.tail }

func (p parts) withPath(path string) parts {
	p.path = path
	return p
}

// withoutDots takes dot segments out of an absolute path.
func (p parts) withoutDots() parts {
	if strings.HasPrefix(p.path, "/") {
		return p.withPath(withoutDots(p.path))
	}
	return p
}

// userHostPort returns the parts of an authority with their at sign and colon.
func (p parts) userHostPort() (user, host, port string) {
	i := strings.LastIndexByte(p.authority, '@') + 1
	user, host = p.authority[:i], p.authority[i:]
	if i = strings.LastIndexByte(host, ':'); i >= 0 && strings.Trim(host[i+1:], "0123456789") == "" {
		host, port = host[:i], host[i:]
	}
	return user, host, port
}

// hostPort returns the host in the form in which it is looked up, and the port.
func (p parts) hostPort() string {
	_, host, port := p.userHostPort()
	if canonical, ok := HostOf("x://" + host); ok && !strings.HasPrefix(host, "[") {
		host = canonical
	}
	return host + port
}

// hasPlainHost reports whether it is known which host is looked up, and whether it is the one
// that is written, but for a dot at its end.
func (p parts) hasPlainHost() (known, plain bool) {
	_, host, _ := p.userHostPort()
	canonical, ok := HostOf("x://" + host)
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	return ok, ok && canonical == host
}

// withoutBlanks returns a URI without what WHATWG URL leaves out of it: tabs and line breaks,
// and control characters and spaces at its ends.
func withoutBlanks(text string) string {
	text = strings.TrimFunc(text, func(r rune) bool { return r <= ' ' })
	for _, blank := range [...]string{"\t", "\n", "\r"} {
		text = strings.ReplaceAll(text, blank, "")
	}
	return text
}

// forwardSlashes returns what is behind a scheme with slashes for the backslashes before a
// query.
func forwardSlashes(text string) string {
	before, tail := cutAt(text, "?#")
	return strings.ReplaceAll(before, `\`, "/") + tail
}

// decoding is what a program does with escapes before it looks for dot segments.
type decoding int

const (
	decodesNothing     decoding = iota
	decodesSlashes              // %2F is a slash
	decodesBackslashes          // and %5C, too
	numDecodings
)

func (d decoding) of(text string) string {
	if d >= decodesSlashes {
		text = strings.ReplaceAll(text, "%2F", "/")
	}
	if d >= decodesBackslashes {
		text = strings.ReplaceAll(text, "%5C", "/")
	}
	return text
}

func singleSlashes(text string) string {
	for strings.Contains(text, "//") {
		text = strings.ReplaceAll(text, "//", "/")
	}
	return text
}

func isDot(segment string) bool { return segment == "." || segment == ".." }

func hasDots(path string) bool {
	for segment := range strings.SplitSeq(path, "/") {
		if isDot(segment) {
			return true
		}
	}
	return false
}

// withoutDots takes dot segments out of a path (RFC 3986, 5.2.4). None leads above where the
// path begins.
func withoutDots(path string) string {
	return dotless(path, func(string) bool { return false })
}

// dotless is withoutDots, and none leads above a first segment that is to stay.
func dotless(path string, stays func(first string) bool) string {
	if !hasDots(path) {
		return path
	}
	rest, absolute := strings.CutPrefix(path, "/")
	var out []string
	segments := strings.Split(rest, "/")
	for i, s := range segments {
		if !isDot(s) {
			out = append(out, s)
			continue
		}
		if s == ".." && len(out) > 0 && (len(out) > 1 || !stays(out[0])) {
			out = out[:len(out)-1]
		}
		if i == len(segments)-1 {
			out = append(out, "")
		}
	}
	path = strings.Join(out, "/")
	if absolute {
		return "/" + path
	}
	return path
}

const hexDigits = "0123456789ABCDEF"

// normalEscapes undoes escapes of unreserved characters (RFC 3986, 2.3), writes others in
// capitals, and escapes what must not stand in a URI. It reports false for what programs read
// in several ways: a percent sign that begins no escape, and control characters.
func normalEscapes(text string) (string, bool) {
	out, exact := make([]byte, 0, len(text)), true
	escape := func(c byte) { out = append(out, '%', hexDigits[c>>4], hexDigits[c&15]) }
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c != '%' {
			if exact = exact && !isControl(c); c <= ' ' || c == '\\' || c >= 0x7f {
				escape(c)
			} else {
				out = append(out, c)
			}
			continue
		}
		if i+2 >= len(text) || hexDigit(text[i+1]) < 0 || hexDigit(text[i+2]) < 0 {
			exact = false
			escape('%')
			continue
		}
		c = byte(hexDigit(text[i+1])<<4 | hexDigit(text[i+2])) //nolint:gosec // each is below 16
		i += 2
		if exact = exact && !isControl(c); isUnreserved(c) {
			out = append(out, c)
		} else {
			escape(c)
		}
	}
	return string(out), exact
}

func isControl(c byte) bool { return c < ' ' || c == 0x7f }

func isUnreserved(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

func hexDigit(c byte) int {
	if c >= 'a' && c <= 'f' {
		c -= 0x20
	}
	return strings.IndexByte(hexDigits, c)
}

// NormalPattern returns the normal form of a pattern of URIs, the pattern itself where that has
// no scheme.
func NormalPattern(pattern string) string {
	scheme, rest, ok := strings.Cut(pattern, ":")
	if !ok || !IsScheme(scheme) {
		return pattern
	}
	rest, _ = normalEscapes(rest)
	p := split(strings.ToLower(scheme), rest)
	n := p.normal()
	if strings.HasSuffix(p.authority, "**") { // which stands for the path, too
		n.path = p.path
	}
	return n.String()
}
