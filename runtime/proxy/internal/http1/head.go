package http1

import (
	"bytes"
	"net/http"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"

	"github.com/mcpctl/mcpctl/internal/httpsyntax"
)

// shape is what the bytes at the front of a connection are.
type shape int

const (
	part  shape = iota // of a head that may be usual
	usual              // a whole head that is served here
	other              // for net/http
)

// maxLines bounds the header lines of a usual head. Its bytes are bounded by the
// connection's buffer.
const maxLines = 64

// kind is what a header line means to the connection.
type kind int

const (
	plain  kind = iota // nothing: it is for the handler
	host               // Host
	length             // Content-Length
)

// line is a header line that has been checked.
type line struct {
	raw   string // with its line end
	kind  kind
	name  string // canonical
	value string
	alone []string // the value, for a header without another of the name
}

// number returns the value of Content-Length.
func (l *line) number() int64 {
	n, _ := strconv.ParseInt(l.value, 10, 64) // digits, and few
	return n
}

// head is the head of the request under way. It is kept for the next head on the
// connection, which has the same lines but for one or two: only these are read.
type head struct {
	first  string // the request line with its line end, "" before the first head
	target string
	url    *url.URL
	lines  []line
	stale  bool // lines have changed since what follows was made of them

	header http.Header // of all plain lines; replaced, never changed
	host   string
	length int64
}

// read reads a head from the front of b, and returns its size. A usual head is
// POST with a path, HTTP/1.1, one Host and one Content-Length in digits. Nothing
// else in it says anything about the connection or the body, and it has nothing
// but printable ASCII in lines that end with CRLF.
func (h *head) read(b []byte) (size int, kind shape) {
	size, kind = h.readFirst(b)
	for n := 0; kind == usual; n++ {
		rest := b[size:]
		if n < len(h.lines) && begins(rest, h.lines[n].raw) {
			size += len(h.lines[n].raw)
			continue
		}
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			return 0, part
		}
		size += end + 1
		if end == 1 && rest[0] == '\r' {
			if kind = h.collect(n); kind == usual {
				return size, usual
			}
			return 0, kind
		}
		l, ok := parseLine(string(rest[:end+1]))
		if !ok || n == maxLines {
			return 0, other
		}
		h.set(n, l)
	}
	return 0, kind
}

// set puts a line in the place of the one that the head before had there.
func (h *head) set(n int, l line) {
	switch {
	case n == len(h.lines):
		h.lines = append(h.lines, l)
		h.stale = true
		return
	case l.kind == length && h.lines[n].kind == length:
		h.length = l.number()
	default:
		h.stale = true
	}
	h.lines[n] = l
}

func begins(b []byte, s string) bool { return len(b) >= len(s) && string(b[:len(s)]) == s }

// readFirst reads the request line.
func (h *head) readFirst(b []byte) (size int, kind shape) {
	const method, protocol = "POST ", " HTTP/1.1\r\n"
	if h.first != "" && begins(b, h.first) {
		return len(h.first), usual
	}
	if known := min(len(b), len(method)); string(b[:known]) != method[:known] {
		return 0, other
	}
	end := bytes.IndexByte(b, '\n')
	if end < 0 {
		return 0, part
	}
	first := string(b[:end+1])
	target, ok := strings.CutSuffix(first[len(method):], protocol)
	if !ok || !strings.HasPrefix(target, "/") || strings.HasPrefix(target, "//") || !within(target, '!', '~') {
		return 0, other
	}
	var err error
	if h.url, err = url.ParseRequestURI(target); err != nil {
		return 0, other
	}
	h.first, h.target = first, target
	return len(first), usual
}

// collect makes what a request needs of the first n lines, which are all of a head.
func (h *head) collect(n int) shape {
	if h.header != nil && !h.stale && n == len(h.lines) {
		return usual
	}
	h.lines = h.lines[:n]
	var seen [length + 1]int
	header := make(http.Header, n)
	for _, l := range h.lines {
		seen[l.kind]++
		switch l.kind {
		case plain:
			if before := header[l.name]; before != nil {
				header[l.name] = append(before, l.value)
			} else {
				header[l.name] = l.alone
			}
		case host:
			h.host = l.value
		case length:
			h.length = l.number()
		}
	}
	if seen[host] != 1 || seen[length] != 1 {
		return other
	}
	h.header, h.stale = header, false
	return usual
}

// parseLine checks a header line, which ends with a line feed.
func parseLine(raw string) (l line, ok bool) {
	text, ok := strings.CutSuffix(raw, "\r\n")
	if !ok {
		return l, false
	}
	name, value, ok := httpsyntax.Field(text)
	if !ok || !within(strings.ReplaceAll(value, "\t", " "), ' ', '~') {
		return l, false
	}
	l = line{raw: raw, name: textproto.CanonicalMIMEHeaderKey(name), value: value}
	switch l.name {
	case "Host":
		l.kind, ok = host, value != "" && strings.Trim(value, hostBytes) == ""
	case "Content-Length":
		l.kind, ok = length, isLength(value)
	case "Connection":
		ok = strings.EqualFold(value, "keep-alive")
	case "Transfer-Encoding", "Expect", "Upgrade", "Trailer", "Te", "Proxy-Connection", "Http2-Settings", "Pragma":
		ok = false // about the connection or the body; net/http makes another header of Pragma
	}
	if l.kind == plain {
		l.alone = []string{value}
	}
	return l, ok
}

const (
	digits    = "0123456789"
	letters   = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	hostBytes = letters + digits + ".-_:[]"
	maxDigits = 15 // of a Content-Length
)

// isLength reports whether a value is a number without a sign or leading zeros.
func isLength(value string) bool {
	return value == "0" || value != "" && value[0] != '0' && len(value) <= maxDigits && strings.Trim(value, digits) == ""
}

// within reports whether all bytes are in a range.
func within(s string, least, most byte) bool {
	for i := range len(s) {
		if s[i] < least || s[i] > most {
			return false
		}
	}
	return true
}
