package audit

import (
	"strconv"
	"time"
	"unicode/utf8"
)

// Bounds of strings, in bytes, and of lists, in elements. Longer ones are cut, and end in
// "…".
const (
	maxShort = 256
	maxID    = 1 << 10
	maxLong  = 2 << 10
	maxList  = 64
)

// timeForm has one length and sorts as times do.
const (
	timeForm = "2006-01-02T15:04:05.000000Z"
	prefix   = `{"v":1,"t":"`
)

const cutMark = "…"

// Append appends the record's JSON to dst, without white space or a newline. What is not
// UTF-8 becomes U+FFFD, strings and lists are bounded. It allocates nothing if dst has room.
func (r *Record) Append(dst []byte) []byte {
	dst = append(dst, prefix...)
	dst = append(appendTime(dst, r.Time), '"')
	dst = appendString(append(dst, `,"run":`...), r.Run, maxShort)
	dst = strconv.AppendUint(append(dst, `,"n":`...), r.N, 10)
	dst = appendString(append(dst, `,"kind":`...), string(r.Kind), maxShort)
	if r.Of != 0 {
		dst = strconv.AppendUint(append(dst, `,"of":`...), r.Of, 10)
	}
	dst = appendText(dst, `,"who":`, r.Principal.ID, maxID)
	dst = appendText(dst, `,"name":`, r.Principal.Name, maxShort)
	dst = appendList(dst, `,"groups":`, r.Principal.Groups)
	dst = appendText(dst, `,"client":`, r.Principal.Client, maxShort)
	dst = appendText(dst, `,"via":`, r.Principal.Via, maxShort)
	if r.Principal.Addr.IsValid() {
		dst = r.Principal.Addr.Unmap().WithZone("").AppendTo(append(dst, `,"ip":"`...))
		dst = append(dst, '"')
	}
	dst = appendText(dst, `,"flow":`, r.Principal.Flow, maxShort)
	dst = appendText(dst, `,"server":`, r.Target.Server, maxShort)
	dst = appendText(dst, `,"item":`, r.Target.Item, maxLong)
	dst = appendText(dst, `,"era":`, r.Target.Era, maxShort)
	dst = appendText(dst, `,"view":`, r.Target.View, maxShort)
	dst = appendText(dst, `,"args":`, r.Arguments.Digest, maxShort)
	dst = appendNumber(dst, `,"size":`, r.Arguments.Size)
	dst = appendText(dst, `,"def":`, r.Target.Definition, maxShort)
	dst = appendText(dst, `,"verdict":`, r.Decision.Verdict, maxShort)
	dst = appendList(dst, `,"by":`, r.Decision.By)
	dst = appendList(dst, `,"would":`, r.Decision.Would)
	dst = appendList(dst, `,"scopes":`, r.Decision.Scopes)
	dst = appendText(dst, `,"gen":`, r.Decision.Generation, maxShort)
	dst = appendList(dst, `,"seen":`, r.Decision.Seen)
	dst = appendList(dst, `,"found":`, r.Decision.Found)
	dst = appendNumber(dst, `,"ms":`, max(0, r.Outcome.Took.Milliseconds()))
	dst = appendText(dst, `,"out":`, r.Outcome.Out, maxShort)
	dst = appendNumber(dst, `,"rsize":`, r.Outcome.ResultSize)
	dst = appendText(dst, `,"rdig":`, r.Outcome.ResultDigest, maxShort)
	dst = appendText(dst, `,"trace":`, r.Target.Trace, maxShort)
	dst = appendText(dst, `,"through":`, r.Target.Through, maxShort)
	dst = appendText(dst, `,"text":`, r.Text, maxLong)
	dst = appendNumber(dst, `,"count":`, r.Count)
	return append(dst, '}')
}

// Stamp returns the time of a record's JSON as it is written there, "" for what is no record
// of this version. Stamps have one length, and sort as their times do.
func Stamp(record []byte) string {
	if len(record) < len(prefix)+len(timeForm) || string(record[:len(prefix)]) != prefix {
		return ""
	}
	return string(record[len(prefix) : len(prefix)+len(timeForm)])
}

// StampOf returns the stamp of a time.
func StampOf(t time.Time) string { return string(appendTime(nil, t)) }

func appendTime(dst []byte, t time.Time) []byte {
	t = t.UTC()
	year, month, day := t.Date()
	if year < 0 || year > 9999 {
		t = time.Time{}
		year, month, day = t.Date()
	}
	hour, minute, second := t.Clock()
	// As AppendFormat with timeForm, which takes longer.
	for _, part := range [...]struct {
		n, digits int
		end       byte
	}{{year, 4, '-'}, {int(month), 2, '-'}, {day, 2, 'T'}, {hour, 2, ':'}, {minute, 2, ':'}, {second, 2, '.'}, {t.Nanosecond() / 1000, 6, 'Z'}} {
		dst = append(dst, "000000"[:part.digits]...)
		for at, n := len(dst)-1, part.n; n > 0; at, n = at-1, n/10 {
			dst[at] = byte('0' + n%10)
		}
		dst = append(dst, part.end)
	}
	return dst
}

func appendNumber(dst []byte, name string, n int64) []byte {
	if n == 0 {
		return dst
	}
	return strconv.AppendInt(append(dst, name...), n, 10)
}

func appendText(dst []byte, name, s string, most int) []byte {
	if s == "" {
		return dst
	}
	return appendString(append(dst, name...), s, most)
}

func appendList(dst []byte, name string, list []string) []byte {
	if len(list) == 0 {
		return dst
	}
	dst = append(append(dst, name...), '[')
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		if i == maxList-1 && len(list) > maxList {
			dst = appendString(dst, cutMark, maxShort)
			break
		}
		dst = appendString(dst, s, maxShort)
	}
	return append(dst, ']')
}

// appendString appends s as JSON, of most bytes at most.
func appendString(dst []byte, s string, most int) []byte {
	dst = append(dst, '"')
	if isPlain(s) && len(s) <= most { // most are
		return append(append(dst, s...), '"')
	}
	length, fits := 0, len(dst) // of what is appended; where the mark would go
	for i := 0; i < len(s); {
		if length <= most-len(cutMark) {
			fits = len(dst)
		}
		c := s[i]
		if plain(c) {
			length++
			if length > most {
				return append(append(dst[:fits], cutMark...), '"')
			}
			dst = append(dst, c)
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		length += utf8.RuneLen(r)
		if length > most {
			return append(append(dst[:fits], cutMark...), '"')
		}
		dst = appendRune(dst, r)
	}
	return append(dst, '"')
}

// isPlain reports whether all of a text stands for itself.
func isPlain(s string) bool {
	for i := range len(s) {
		if !plain(s[i]) {
			return false
		}
	}
	return true
}

// plain reports whether a byte stands for itself.
func plain(c byte) bool { return c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' }

func appendRune(dst []byte, r rune) []byte {
	const hex = "0123456789abcdef"
	switch {
	case r == '"' || r == '\\':
		return append(dst, '\\', byte(r))
	case r == '\n':
		return append(dst, '\\', 'n')
	case r == '\r':
		return append(dst, '\\', 'r')
	case r == '\t':
		return append(dst, '\\', 't')
	case r < ' ':
		return append(dst, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
	}
	return utf8.AppendRune(dst, r)
}
