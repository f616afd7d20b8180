package audit

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// ErrNoRecord is that bytes are not what [Record.Append] writes.
var ErrNoRecord = errors.New("no record of the audit log")

// Parse reads a record. Only what [Record.Append] writes is taken, to the byte: of one
// record there is one text. Errors are ErrNoRecord, with the place. The record does not
// refer to text.
func Parse(text []byte) (Record, error) {
	p := parser{s: string(text)}
	r := p.record()
	if p.bad {
		return Record{}, fmt.Errorf("%w: byte %d", ErrNoRecord, p.at)
	}
	return r, nil
}

// parser reads a record from left to right. After a failure it reads nothing more.
type parser struct {
	s   string
	at  int
	bad bool
}

func (p *parser) record() Record {
	var r Record
	p.expect(prefix)
	r.Time = p.time()
	p.expect(`","run":`)
	r.Run = p.str(maxShort)
	p.expect(`,"n":`)
	r.N = p.unsigned()
	p.expect(`,"kind":`)
	r.Kind = Kind(p.str(maxShort))
	if p.has(`,"of":`) {
		r.Of = p.unsigned()
		p.require(r.Of != 0)
	}
	r.Principal.ID = p.text(`,"who":`, maxID)
	r.Principal.Name = p.text(`,"name":`, maxShort)
	r.Principal.Groups = p.list(`,"groups":`)
	r.Principal.Client = p.text(`,"client":`, maxShort)
	r.Principal.Via = p.text(`,"via":`, maxShort)
	r.Principal.Addr = p.addr()
	r.Principal.Flow = p.text(`,"flow":`, maxShort)
	r.Target.Server = p.text(`,"server":`, maxShort)
	r.Target.Item = p.text(`,"item":`, maxLong)
	r.Target.Era = p.text(`,"era":`, maxShort)
	r.Target.View = p.text(`,"view":`, maxShort)
	r.Arguments.Digest = p.text(`,"args":`, maxShort)
	r.Arguments.Size = p.number(`,"size":`)
	r.Target.Definition = p.text(`,"def":`, maxShort)
	r.Decision.Verdict = p.text(`,"verdict":`, maxShort)
	r.Decision.By = p.list(`,"by":`)
	r.Decision.Would = p.list(`,"would":`)
	r.Decision.Scopes = p.list(`,"scopes":`)
	r.Decision.Generation = p.text(`,"gen":`, maxShort)
	r.Decision.Seen = p.list(`,"seen":`)
	r.Decision.Found = p.list(`,"found":`)
	ms := p.number(`,"ms":`)
	p.require(ms >= 0 && ms <= math.MaxInt64/int64(time.Millisecond))
	r.Outcome.Took = time.Duration(ms) * time.Millisecond
	r.Outcome.Out = p.text(`,"out":`, maxShort)
	r.Outcome.ResultSize = p.number(`,"rsize":`)
	r.Outcome.ResultDigest = p.text(`,"rdig":`, maxShort)
	r.Target.Trace = p.text(`,"trace":`, maxShort)
	r.Target.Through = p.text(`,"through":`, maxShort)
	r.Text = p.text(`,"text":`, maxLong)
	r.Count = p.number(`,"count":`)
	p.expect("}")
	p.require(p.at == len(p.s))
	return r
}

func (p *parser) require(ok bool) { p.bad = p.bad || !ok }

// has reads past what stands next, if it does.
func (p *parser) has(next string) bool {
	if p.bad || !strings.HasPrefix(p.s[p.at:], next) {
		return false
	}
	p.at += len(next)
	return true
}

func (p *parser) expect(next string) { p.require(p.has(next)) }

func (p *parser) unsigned() uint64 {
	digits := p.digits()
	n, err := strconv.ParseUint(digits, 10, 64)
	p.require(err == nil && (digits == "0" || digits[0] != '0'))
	return n
}

// number reads a member that is left out for zero.
func (p *parser) number(name string) int64 {
	if !p.has(name) {
		return 0
	}
	start := p.at
	p.has("-")
	digits := p.digits()
	n, err := strconv.ParseInt(p.s[start:p.at], 10, 64)
	p.require(err == nil && digits[0] != '0')
	return n
}

func (p *parser) digits() string {
	start := p.at
	for p.at < len(p.s) && p.s[p.at] >= '0' && p.s[p.at] <= '9' {
		p.at++
	}
	return p.s[start:p.at]
}

// text reads a member that is left out for "".
func (p *parser) text(name string, most int) string {
	if !p.has(name) {
		return ""
	}
	s := p.str(most)
	p.require(s != "")
	return s
}

func (p *parser) list(name string) []string {
	if !p.has(name) {
		return nil
	}
	p.expect("[")
	list := []string{p.str(maxShort)}
	for p.has(",") {
		list = append(list, p.str(maxShort))
	}
	p.expect("]")
	p.require(len(list) <= maxList)
	return list
}

func (p *parser) addr() netip.Addr {
	if !p.has(`,"ip":`) {
		return netip.Addr{}
	}
	s := p.str(maxShort)
	a, err := netip.ParseAddr(s)
	p.require(err == nil && a.Unmap() == a && a.Zone() == "" && a.String() == s)
	return a
}

// str reads a string of most bytes at most. Without escapes it is a part of the text.
func (p *parser) str(most int) string {
	if !p.has(`"`) {
		p.bad = true
		return ""
	}
	start := p.at
	for p.at < len(p.s) && p.s[p.at] != '"' && p.s[p.at] != '\\' && p.s[p.at] >= ' ' {
		p.at++
	}
	s := p.s[start:p.at]
	if p.at < len(p.s) && p.s[p.at] == '\\' {
		s = p.escaped(s)
	}
	p.expect(`"`)
	p.require(len(s) <= most && utf8.ValidString(s))
	return s
}

// escaped reads on in a string from its first escape.
func (p *parser) escaped(begun string) string {
	b := []byte(begun)
	for p.at < len(p.s) && !p.bad {
		c := p.s[p.at]
		switch {
		case c == '"' || c < ' ':
			return string(b)
		case c == '\\':
			b = append(b, p.escape())
		default:
			b = append(b, c)
			p.at++
		}
	}
	return string(b)
}

func (p *parser) escape() byte {
	p.expect(`\`)
	for _, c := range []byte("\"\\\n\r\t") {
		if p.has(string(appendRune(nil, rune(c))[1:])) {
			return c
		}
	}
	if len(p.s)-p.at < len("u0000") {
		p.bad = true
		return 0
	}
	code := p.s[p.at : p.at+len("u0000")]
	c, err := strconv.ParseUint(code[1:], 16, 8)
	p.require(err == nil && c < ' ' && string(appendRune(nil, rune(c))) == `\`+code)
	p.at += len(code)
	return byte(c)
}

// time reads a time of one form: another text of the same time is refused.
func (p *parser) time() time.Time {
	if len(p.s)-p.at < len(timeForm) || p.bad {
		p.bad = true
		return time.Time{}
	}
	s := p.s[p.at : p.at+len(timeForm)]
	for i := range len(timeForm) {
		digit := s[i] >= '0' && s[i] <= '9'
		if form := timeForm[i]; form >= '0' && form <= '9' && !digit || (form < '0' || form > '9') && s[i] != form {
			p.bad = true
			return time.Time{}
		}
	}
	at := func(from, to int) int {
		n := 0
		for _, c := range []byte(s[from:to]) {
			n = 10*n + int(c-'0')
		}
		return n
	}
	month, day, hour, minute, second := at(5, 7), at(8, 10), at(11, 13), at(14, 16), at(17, 19)
	t := time.Date(at(0, 4), time.Month(month), day, hour, minute, second, at(20, 26)*1000, time.UTC)
	// What is out of range has been carried over.
	p.require(month >= 1 && month <= 12 && t.Day() == day && day >= 1 && hour < 24 && minute < 60 && second < 60)
	p.at += len(timeForm)
	return t
}
