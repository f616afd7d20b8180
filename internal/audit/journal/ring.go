package journal

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"sync/atomic"
	"unsafe"
)

const (
	// SlotSize is how many bytes a slot has.
	SlotSize = 512
	headSize = 4096
	// firstData and restData are where the entry's bytes begin, in its first slot and in
	// those that follow.
	firstData = 8 + 8 + NoteSize
	restData  = 8
	// NoteSize is how many bytes a note has.
	NoteSize = 32
	// MaxSize is how many bytes an entry has at most.
	MaxSize = maxParts*SlotSize - SlotSize

	maxParts = 1 << 8
	minSlots = 1 << 10
	maxSlots = 1 << 20
)

// A word of the ring's head is a number and a place: the next entry's n, and the slot where
// it begins, counted without end.
const (
	placeBits = 24
	placeMask = 1<<placeBits - 1
)

func pack(n uint64, place uint32) uint64       { return n<<placeBits | uint64(place&placeMask) }
func unpack(w uint64) (n uint64, place uint32) { return w >> placeBits, uint32(w & placeMask) }

// A slot's tag is the number of its entry, which part of it the slot has, and the state,
// which only first parts have. It is stored after all else: a slot whose tag is another one
// has something older.
type state uint64

const (
	stateRest   state = iota // not a first part
	stateOpen                // complete, a note may come
	stateShut                // complete
	stateNoting              // a note is being written
	stateNoted               // complete, with a note
	stateTaken               // was open when it was taken
)

func tag(n uint64, part int, s state) uint64 { return n<<16 | uint64(part)<<4 | uint64(s) } //nolint:gosec // less than maxParts

// Ring is a queue. Claim, Amend and Seal may be called by many goroutines, Next and Free by
// one at a time. In a mapped file its entries outlive the process without a system call:
// one write(2) for each entry and one for its note cost a fifth more CPU a call over stdio
// (test/reports/performance-profiles.md).
type Ring struct {
	mem   []byte
	slots uint32
	// next is where the following entry goes, done the first one that is not freed.
	next, done *atomic.Uint64
	// taken is the first one that Next has not returned, in the form of next.
	taken uint64
	file  *file // nil for memory
}

// New returns a ring in memory of at least so many slots.
func New(slots int) *Ring {
	n := roundUp(slots)
	words := make([]uint64, (headSize+n*SlotSize)/8)
	return over(unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), len(words)*8)) //nolint:gosec // the same memory, aligned
}

func roundUp(slots int) int {
	n := minSlots
	for n < slots && n < maxSlots {
		n *= 2
	}
	return n
}

// over returns the empty ring in zeroed memory.
func over(mem []byte) *Ring {
	r := &Ring{mem: mem, slots: uint32((len(mem) - headSize) / SlotSize)} //nolint:gosec // at most maxSlots
	r.next, r.done = r.word(nextAt), r.word(doneAt)
	r.taken = pack(1, 0)
	r.next.Store(r.taken)
	r.done.Store(r.taken)
	return r
}

// Where the words of the head stand, each on a cache line of its own.
const (
	nextAt = 1024
	doneAt = 2048
)

func (r *Ring) word(at int) *atomic.Uint64 { return atomicAt(r.mem[at:]) }

// atomicAt returns the word at the start of memory that is aligned: a mapped page is, and so
// is what New makes.
func atomicAt(b []byte) *atomic.Uint64 { return (*atomic.Uint64)(unsafe.Pointer(&b[0])) } //nolint:gosec // see above

func (r *Ring) slot(place uint32) []byte {
	at := headSize + int(place&(r.slots-1))*SlotSize
	return r.mem[at : at+SlotSize : at+SlotSize]
}

func tagOf(slot []byte) *atomic.Uint64 { return atomicAt(slot) }

// Slots returns how many slots there are; places of entries are below it.
func (r *Ring) Slots() int { return int(r.slots) }

// Used returns how many slots have entries that are not freed, and the number of the last
// entry claimed, 0 for none.
func (r *Ring) Used() (slots int, last uint64) {
	_, done := unpack(r.done.Load())
	n, place := unpack(r.next.Load())
	return int((place - done) & placeMask), n - 1
}

func partsOf(size int) int {
	if size <= SlotSize-firstData {
		return 1
	}
	return 1 + (size-(SlotSize-firstData)+SlotSize-restData-1)/(SlotSize-restData)
}

// Entry is an entry that is being written. Publish must be called.
type Entry struct {
	// N is the entry's number, Place that of its first slot.
	N     uint64
	Place uint32

	r     *Ring
	first []byte
	parts int
}

// Claim returns an entry for so many bytes, false where it would leave less than spare slots
// free, or is longer than MaxSize.
func (r *Ring) Claim(size, spare int) (e Entry, ok bool) {
	parts := partsOf(size)
	if parts >= maxParts {
		return e, false
	}
	for {
		_, done := unpack(r.done.Load())
		old := r.next.Load()
		n, place := unpack(old)
		if int((place-done)&placeMask)+parts+spare > int(r.slots) {
			return e, false
		}
		if !r.next.CompareAndSwap(old, pack(n+1, place+uint32(parts))) { //nolint:gosec // less than maxParts
			continue
		}
		first := r.slot(place)
		binary.LittleEndian.PutUint32(first[8:], uint32(size)) //nolint:gosec // at most MaxSize
		clear(first[16 : 16+NoteSize])
		return Entry{N: n, Place: place & (r.slots - 1), r: r, first: first, parts: parts}, true
	}
}

// Space returns where the entry goes if one slot is enough for it, else nil: Add is for that.
func (e *Entry) Space() []byte {
	if e.parts > 1 {
		return nil
	}
	return e.first[firstData:]
}

// Add adds all bytes of an entry.
func (e *Entry) Add(data []byte) {
	data = data[copy(e.first[firstData:], data):]
	for part := 1; part < e.parts; part++ {
		s := e.r.slot(e.Place + uint32(part))
		data = data[copy(s[restData:], data):]
		tagOf(s).Store(tag(e.N, part, stateRest))
	}
}

// Note returns the entry's note, to be written before Publish.
func (e *Entry) Note() []byte { return e.first[16 : 16+NoteSize] }

// Publish completes the entry. To an open one a note can be added later.
func (e *Entry) Publish(open bool) {
	s := stateShut
	if open {
		s = stateOpen
	}
	tagOf(e.first).Store(tag(e.N, 0, s))
	runtime.KeepAlive(e.r)
}

// Amend returns the note of an open entry, to be written before Seal; false if the entry has
// been taken, or was amended.
func (r *Ring) Amend(n uint64, place uint32) (note []byte, ok bool) {
	s := r.slot(place)
	if !tagOf(s).CompareAndSwap(tag(n, 0, stateOpen), tag(n, 0, stateNoting)) {
		return nil, false
	}
	return s[16 : 16+NoteSize], true
}

// Seal ends Amend.
func (r *Ring) Seal(n uint64, place uint32) {
	tagOf(r.slot(place)).Store(tag(n, 0, stateNoted))
	runtime.KeepAlive(r)
}

// Item is an entry as it was put.
type Item struct {
	N     uint64
	Place uint32
	// Open is that no note has been added where one could have been, Noted that one has.
	Open, Noted bool
	// Note is what stands beside the entry, Data the entry.
	Note [NoteSize]byte
	Data []byte
}

// Next returns the next entry, false where there is none or it is being written. Its data is
// appended to buf. Notes can no longer be added to it.
func (r *Ring) Next(buf []byte) (it Item, ok bool) {
	if r.taken == r.next.Load() {
		return it, false
	}
	n, place := unpack(r.taken)
	first := r.slot(place)
	if tagOf(first).CompareAndSwap(tag(n, 0, stateOpen), tag(n, 0, stateTaken)) {
		it.Open = true
	}
	it.N, it.Place = n, place&(r.slots-1)
	parts, ok := r.read(&it, buf)
	if !ok {
		return Item{}, false
	}
	r.taken = pack(n+1, place+uint32(parts)) //nolint:gosec // less than maxParts
	return it, true
}

// read reads the entry at a place, whose tag has to be that of it.N.
func (r *Ring) read(it *Item, buf []byte) (parts int, ok bool) {
	first := r.slot(it.Place)
	switch tagOf(first).Load() {
	case tag(it.N, 0, stateNoted):
		it.Noted = true
	case tag(it.N, 0, stateShut):
	case tag(it.N, 0, stateOpen), tag(it.N, 0, stateTaken), tag(it.N, 0, stateNoting):
		if !it.Open {
			return 0, false
		}
	default:
		return 0, false
	}
	size := int(binary.LittleEndian.Uint32(first[8:]))
	if parts = partsOf(size); size > MaxSize || parts >= maxParts || parts > int(r.slots) {
		return 0, false
	}
	if !it.Open {
		copy(it.Note[:], first[16:])
	}
	n := min(size, SlotSize-firstData)
	buf = append(buf, first[firstData:firstData+n]...)
	for part := 1; part < parts; part++ {
		s := r.slot(it.Place + uint32(part))
		if tagOf(s).Load() != tag(it.N, part, stateRest) {
			return 0, false
		}
		more := min(size-n, SlotSize-restData)
		buf = append(buf, s[restData:restData+more]...)
		n += more
	}
	it.Data = buf
	return parts, true
}

// Free frees the slots of all entries that Next has returned.
func (r *Ring) Free() { r.done.Store(r.taken) }

// Idle reports whether all entries were returned by Next, also those that are being written.
func (r *Ring) Idle() bool { return r.taken == r.next.Load() }

func (r *Ring) String() string {
	slots, last := r.Used()
	return fmt.Sprintf("ring: %d of %d slots, %d entries", slots, r.slots, last)
}
