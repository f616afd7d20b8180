package journal

import (
	"encoding/binary"
	"math"
	"net/netip"
	"strings"
	"time"
	"unsafe"

	"github.com/mcpctl/mcpctl/internal/audit"
)

// Bounds of what is put into the ring, in bytes and elements. They are larger than those of
// records, which show that something was cut.
const (
	maxShort = 260
	maxID    = 1028
	maxLong  = 2052
	maxList  = 65
)

// packed are the members of a record as its entry in the ring has them.
type packed struct {
	time  uint64 // microseconds since 1970
	nums  [nums]uint64
	texts [texts]string
	lists [lists][]string
	addr  netip.Addr
	// view and through are at the end, a separator between them, so that entries of
	// earlier builds stay as they were.
	view, through string
}

// Indexes of packed.
const (
	numOf = iota
	numSize
	numCount
	nums
)

const (
	textKind = iota
	textID
	textName
	textClient
	textVia
	textFlow
	textServer
	textItem
	textEra
	textDefinition
	textTrace
	textVerdict
	textGeneration
	textDigest
	textResult
	textText
	texts
)

const (
	listGroups = iota
	listBy
	listWould
	listScopes
	listSeen
	listFound
	lists
)

func (p *packed) principal(a *audit.Principal) {
	p.texts[textID], p.texts[textName], p.texts[textClient] = cut(a.ID, maxID), cut(a.Name, maxShort), cut(a.Client, maxShort)
	p.texts[textVia], p.texts[textFlow] = cut(a.Via, maxShort), cut(a.Flow, maxShort)
	p.lists[listGroups] = cutList(a.Groups)
	p.addr = a.Addr
}

func (p *packed) what(s *audit.Target) {
	p.texts[textServer], p.texts[textItem], p.texts[textEra] = cut(s.Server, maxShort), cut(s.Item, maxLong), cut(s.Era, maxShort)
	p.texts[textDefinition], p.texts[textTrace] = cut(s.Definition, maxShort), cut(s.Trace, maxShort)
	p.view, p.through = cut(s.View, maxShort), cut(s.Through, maxShort)
}

func (p *packed) said(s *audit.Decision) {
	p.texts[textVerdict], p.texts[textGeneration] = cut(s.Verdict, maxShort), cut(s.Generation, maxShort)
	p.lists[listBy], p.lists[listWould], p.lists[listScopes] = cutList(s.By), cutList(s.Would), cutList(s.Scopes)
	p.lists[listSeen], p.lists[listFound] = cutList(s.Seen), cutList(s.Found)
}

func cut(s string, most int) string { return s[:min(len(s), most)] }

func cutList(list []string) []string { return list[:min(len(list), maxList)] }

// endSeparator is between view and through. No name of a view has it.
const endSeparator = "\x00"

func uvarintLen(v uint64) int {
	n := 1
	for ; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}

// size returns how many bytes appendTo appends.
func (p *packed) size() int {
	n := uvarintLen(p.time) + 1 + p.addr.BitLen()/8 + len(p.view)
	if p.through != "" {
		n += len(endSeparator) + len(p.through)
	}
	for _, v := range p.nums {
		n += uvarintLen(v)
	}
	for i := range p.texts {
		n += uvarintLen(uint64(len(p.texts[i]))) + len(p.texts[i])
	}
	for i := range p.lists {
		n += uvarintLen(uint64(len(p.lists[i])))
		for _, s := range p.lists[i] {
			s = cut(s, maxShort)
			n += uvarintLen(uint64(len(s))) + len(s)
		}
	}
	return n
}

// appendTo appends what size counts.
func (p *packed) appendTo(b []byte) []byte {
	b = binary.AppendUvarint(b, p.time)
	for _, v := range p.nums {
		b = appendUvarint(b, v)
	}
	for i := range p.texts {
		b = append(appendUvarint(b, uint64(len(p.texts[i]))), p.texts[i]...)
	}
	for i := range p.lists {
		b = appendUvarint(b, uint64(len(p.lists[i])))
		for _, s := range p.lists[i] {
			s = cut(s, maxShort)
			b = append(appendUvarint(b, uint64(len(s))), s...)
		}
	}
	size := p.addr.BitLen() / 8
	b = append(b, byte(size)) //nolint:gosec // 16 at most
	if size > 0 {
		a := p.addr.As16()
		b = append(b, a[16-size:]...)
	}
	b = append(b, p.view...)
	if p.through != "" {
		b = append(append(b, endSeparator...), p.through...)
	}
	return b
}

// appendUvarint is that of binary, which is not inlined.
func appendUvarint(b []byte, v uint64) []byte {
	if v < 0x80 {
		return append(b, byte(v))
	}
	return binary.AppendUvarint(b, v)
}

// textOf returns bytes as a text that is good until they change: each record is encoded before
// its memory is used again.
func textOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) } //nolint:gosec // see above

// unpacker reads what appendTo has written, or anything else. Its strings are parts of one.
type unpacker struct {
	rest  string
	bad   bool
	lists []string // for the lists of one record
}

func (u *unpacker) uvarint() uint64 {
	var v uint64
	for i := 0; i < len(u.rest) && i < binary.MaxVarintLen64; i++ {
		c := u.rest[i]
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			u.rest = u.rest[i+1:]
			return v
		}
	}
	u.bad, u.rest = true, ""
	return 0
}

// int returns a number that is not below 0.
func (u *unpacker) int() int64 { return int64(u.uvarint() & math.MaxInt64) }

func (u *unpacker) bytes(n uint64) string {
	if n > uint64(len(u.rest)) {
		u.bad, u.rest = true, ""
		return ""
	}
	s := u.rest[:n]
	u.rest = u.rest[n:]
	return s
}

func (u *unpacker) list() []string {
	n := u.uvarint()
	if n == 0 || n > maxList {
		u.bad = u.bad || n > 0
		return nil
	}
	from := len(u.lists)
	for range n {
		u.lists = append(u.lists, u.bytes(u.uvarint()))
	}
	return u.lists[from:len(u.lists):len(u.lists)]
}

// record reads an entry into r, but for Run, and reports whether it is one. The record is
// good until the next call, or until the entry's bytes change.
func (u *unpacker) record(it *Item, r *audit.Record) bool {
	*u = unpacker{rest: textOf(it.Data), lists: u.lists[:0]}
	*r = audit.Record{N: it.N, Time: time.UnixMicro(u.int()).UTC()}
	r.Of, r.Arguments.Size, r.Count = u.uvarint(), u.int(), u.int()
	for _, at := range [texts]*string{
		textKind: (*string)(&r.Kind), textID: &r.Principal.ID, textName: &r.Principal.Name, textClient: &r.Principal.Client,
		textVia: &r.Principal.Via, textFlow: &r.Principal.Flow, textServer: &r.Target.Server, textItem: &r.Target.Item, textEra: &r.Target.Era,
		textDefinition: &r.Target.Definition, textTrace: &r.Target.Trace, textVerdict: &r.Decision.Verdict,
		textGeneration: &r.Decision.Generation, textDigest: &r.Arguments.Digest, textResult: &r.Outcome.ResultDigest, textText: &r.Text,
	} {
		*at = u.bytes(u.uvarint())
	}
	for _, at := range [lists]*[]string{
		listGroups: &r.Principal.Groups, listBy: &r.Decision.By, listWould: &r.Decision.Would, listScopes: &r.Decision.Scopes,
		listSeen: &r.Decision.Seen, listFound: &r.Decision.Found,
	} {
		*at = u.list()
	}
	if n := u.bytes(1); n != "" && n[0] > 0 {
		addr, ok := netip.AddrFromSlice([]byte(u.bytes(uint64(n[0]))))
		r.Principal.Addr, u.bad = addr, u.bad || !ok
	}
	r.Target.View, r.Target.Through, _ = strings.Cut(u.rest, endSeparator)
	u.rest = ""
	readNote(&it.Note, &r.Outcome)
	return !u.bad && r.Kind != ""
}

// A note is the outcome of a decision: how long it took in microseconds, the size of the
// result, and the name of the outcome after its length.
func writeNote(note []byte, o *audit.Outcome) {
	binary.LittleEndian.PutUint64(note, uint64(max(0, o.Took.Microseconds())))
	binary.LittleEndian.PutUint64(note[8:], uint64(max(0, o.ResultSize)))
	note[16] = byte(copy(note[17:NoteSize], o.Out)) //nolint:gosec // 15 at most
}

func readNote(note *[NoteSize]byte, o *audit.Outcome) {
	o.Took = time.Duration(min(binary.LittleEndian.Uint64(note[:]), 1<<50)) * time.Microsecond
	o.ResultSize = int64(min(binary.LittleEndian.Uint64(note[8:]), 1<<62))
	if n := int(note[16]); n > 0 && 17+n <= NoteSize {
		o.Out = string(note[17 : 17+n])
	}
}
