package journal_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mcpctl/mcpctl/internal/audit/journal"
)

// put puts an entry, and reports whether there was room.
func put(r *journal.Ring, data []byte, note string, open bool) (journal.Entry, bool) {
	e, ok := r.Claim(len(data), 0)
	if !ok {
		return e, false
	}
	if digests := e.Space(); digests != nil {
		copy(digests, data)
	} else {
		e.Add(data)
	}
	copy(e.Note(), note)
	e.Publish(open)
	return e, true
}

// content returns bytes that tell whose they are and how many.
func content(who, n uint64, size int) []byte {
	b := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, who), n)
	return append(b, bytes.Repeat([]byte{byte(who*31 + n)}, max(0, size-len(b)))...)
}

// TestOrder puts entries of all sizes from many goroutines, and checks that all arrive whole,
// once, and in the order in which each goroutine has put them; and that a note arrives with
// the entry exactly where Amend says so.
func TestOrder(t *testing.T) {
	const callers, each = 16, 2000
	r := journal.New(1)
	var all sync.WaitGroup
	var noted [callers][each]atomic.Bool
	for who := range callers {
		all.Go(func() {
			for n := range each {
				size := 16 + n*7919%3000
				e, ok := put(r, content(uint64(who), uint64(n), size), "", true)
				for ; !ok; e, ok = put(r, content(uint64(who), uint64(n), size), "", true) {
					runtime.Gosched()
				}
				if n%3 == 0 {
					runtime.Gosched()
				}
				if note, ok := r.Amend(e.N, e.Place); ok {
					copy(note, "noted")
					noted[who][n].Store(true)
					r.Seal(e.N, e.Place)
				}
				if _, ok := r.Amend(e.N, e.Place); ok {
					t.Error("a note is added twice")
				}
			}
		})
	}
	type arrived struct {
		who, n uint64
		noted  bool
	}
	var got []arrived
	var next [callers]uint64
	var buf []byte
	for last := uint64(0); last < callers*each; {
		it, ok := r.Next(buf[:0])
		if !ok {
			r.Free()
			runtime.Gosched()
			continue
		}
		buf = it.Data
		if it.N != last+1 {
			t.Fatalf("entry %d after %d", it.N, last)
		}
		last = it.N
		who, n := binary.BigEndian.Uint64(it.Data), binary.BigEndian.Uint64(it.Data[8:])
		if n != next[who] {
			t.Fatalf("goroutine %d: %d after %d", who, n, next[who])
		}
		next[who]++
		if want := content(who, n, 16+int(n)*7919%3000); !bytes.Equal(it.Data, want) {
			t.Fatalf("goroutine %d, %d: other bytes", who, n)
		}
		if it.Noted == it.Open || it.Noted && !bytes.HasPrefix(it.Note[:], []byte("noted")) {
			t.Fatalf("entry %d: open %v, noted %v, %q", it.N, it.Open, it.Noted, it.Note)
		}
		got = append(got, arrived{who, n, it.Noted})
	}
	all.Wait()
	for _, a := range got {
		if was := noted[a.who][a.n].Load(); was != a.noted {
			t.Fatalf("goroutine %d, %d: noted %v, arrived %v", a.who, a.n, was, a.noted)
		}
	}
	r.Free()
	if used, last := r.Used(); used != 0 || last != callers*each {
		t.Errorf("%d slots are used, %d entries", used, last)
	}
}

// TestRingFull checks that what is there is never overwritten, and which room is spared.
func TestRingFull(t *testing.T) {
	r := journal.New(1)
	slots := r.Slots()
	for i := range slots - 10 {
		if _, ok := r.Claim(1, 10); !ok {
			t.Fatalf("no room for entry %d", i)
		}
	}
	if _, ok := r.Claim(1, 10); ok {
		t.Error("room that is to be spared is used")
	}
	if _, ok := r.Claim(10*journal.SlotSize, 0); ok {
		t.Error("there is room for eleven slots in ten")
	}
	for range 10 {
		if _, ok := r.Claim(1, 0); !ok {
			t.Error("spare room is not used")
		}
	}
	if _, ok := r.Claim(1, 0); ok {
		t.Error("a full ring has room")
	}
	if _, ok := journal.New(1).Claim(journal.MaxSize+1, 0); ok {
		t.Error("too long an entry")
	}
}

// ended returns what is left in the rings of a folder.
func ended(t *testing.T, dir string) (all []*journal.Left) {
	t.Helper()
	if err := journal.Ended(t.Context(), dir, func(l *journal.Left) error {
		all = append(all, l)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

func create(t *testing.T, dir, run string, slots int) *journal.Ring {
	t.Helper()
	r, err := journal.CreateRing(t.Context(), dir, run, slots, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close(true) })
	return r
}

// TestLeft reads what a process has left, in each state that an entry can be in.
func TestLeft(t *testing.T) {
	dir := t.TempDir()
	r := create(t, dir, "k3f9", 1)
	long := content(1, 2, 3000)
	for i := range 700 { // so that what follows wraps around
		if _, ok := put(r, []byte("old"), "", false); !ok {
			t.Fatal("no room for", i)
		}
		r.Next(nil)
	}
	r.Free()
	for range 320 {
		put(r, []byte("some"), "", false) // 701 to 1020
	}
	put(r, long, "", false)                       // 1021, across the end
	put(r, []byte("open"), "", true)              // 1022
	noted, _ := put(r, []byte("noted"), "", true) // 1023
	half, _ := put(r, []byte("noting"), "", true) // 1024
	_, _ = r.Claim(4000, 0)                       // 1025, never written
	taken, _ := put(r, []byte("taken"), "", true) // 1026
	put(r, []byte("shut"), "result of it", false) // 1027
	if note, ok := r.Amend(noted.N, noted.Place); ok {
		copy(note, "fine")
		r.Seal(noted.N, noted.Place)
	}
	if note, ok := r.Amend(half.N, half.Place); ok {
		copy(note, "half")
	}
	for range 10 {
		r.Next(nil) // taken, but not freed
	}
	_, _ = r.Claim(1, 0) // 1028, never written
	if n := len(ended(t, dir)); n != 0 {
		t.Fatalf("%d rings of processes that have not ended", n)
	}
	_ = taken
	if err := r.Close(false); err != nil {
		t.Fatal(err)
	}
	all := ended(t, dir)
	if len(all) != 1 || all[0].Run != "k3f9" || all[0].First != 701 || all[0].Last != 1028 {
		t.Fatalf("%+v", all)
	}
	at := uint64(700)
	for _, it := range all[0].Items {
		at++
		if at == 1025 {
			at++
		}
		data, open, isNoted, note := "some", false, false, ""
		switch it.N {
		case 1021:
			data = string(long)
		case 1022:
			data, open = "open", true
		case 1023:
			data, isNoted, note = "noted", true, "fine"
		case 1024:
			data, open = "noting", true
		case 1026:
			data, open = "taken", true
		case 1027:
			data, note = "shut", "result of it"
		}
		if it.N != at || string(it.Data) != data || it.Open != open || it.Noted != isNoted || strings.TrimRight(string(it.Note[:]), "\x00") != note {
			t.Errorf("entry %d, want %d: %q %v %v %q", it.N, at, it.Data, it.Open, it.Noted, it.Note)
		}
	}
	if at != 1027 {
		t.Errorf("entries end at %d", at)
	}
	if err := all[0].Remove(); err != nil {
		t.Fatal(err)
	}
	if n := len(ended(t, dir)); n != 0 {
		t.Error("it is still there")
	}
}

// TestFiles checks what is left of rings in other states, and that rings of others and files
// of others are left alone.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	lock := create(t, dir, "lock", 0)
	put(lock, []byte("in memory"), "", false)
	if n := len(ended(t, dir)); n != 0 {
		t.Errorf("%d rings have ended, and none has", n)
	}
	if err := lock.Close(false); err != nil {
		t.Fatal(err)
	}
	clean := create(t, dir, "clean", 1)
	put(clean, []byte("x"), "", false)
	clean.Next(nil)
	clean.Free()
	if err := clean.Close(false); err != nil {
		t.Fatal(err)
	}
	gone := create(t, dir, "gone", 1)
	if err := gone.Close(true); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"audit-empty.ring": "", "audit-text.ring": "what is this", "audit.db": "x", "other.ring": "x"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	runs := make(map[string]int)
	for _, l := range ended(t, dir) {
		runs[l.Run] = len(l.Items)
		if l.Last != l.First-1 {
			t.Errorf("%+v", l)
		}
	}
	if len(runs) != 4 || runs["lock"]+runs["clean"]+runs["empty"]+runs["text"] != 0 {
		t.Errorf("%v", runs)
	}
	if _, err := journal.CreateRing(t.Context(), dir, "text", 1, 1); err == nil {
		t.Error("a file that is there is replaced")
	}
	if _, err := journal.CreateRing(t.Context(), filepath.Join(dir, "none"), "a", 1, 1); err == nil {
		t.Error("a ring in a folder that is not there")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := journal.CreateRing(ctx, dir, "late", 1, 1); err == nil {
		t.Error("the context is over")
	}
}

// TestRingAllocations checks that the path of calls allocates nothing.
func TestRingAllocations(t *testing.T) {
	r := create(t, t.TempDir(), "a", 1)
	blocks, err := journal.NewBlocks()
	if err != nil {
		t.Fatal(err)
	}
	data := bytes.Repeat([]byte("x"), 400)
	if n := testing.AllocsPerRun(500, func() {
		e, _ := r.Claim(len(data), 0)
		copy(e.Space(), data)
		e.Publish(true)
		if _, ok := r.Amend(e.N, e.Place); ok {
			r.Seal(e.N, e.Place)
		}
		blocks.Free(blocks.Put(data))
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestBlocks checks that nobody gets a block that another one has, and that there is an end
// to them.
func TestBlocks(t *testing.T) {
	b, err := journal.NewBlocks()
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for who := range 16 {
		all.Go(func() {
			var have []journal.Ref
			for n := range 3000 {
				want := content(uint64(who), uint64(n), 16+n%2000)
				ref := b.Put(want)
				if ref == 0 {
					t.Error("no block is free")
					return
				}
				have = append(have, ref)
				if n%3 == 0 {
					runtime.Gosched()
				}
				if got := b.Bytes(ref)[:len(want)]; !bytes.Equal(got, want) {
					t.Errorf("goroutine %d, block %d has other bytes", who, n)
					return
				}
				if len(have) > 20 {
					b.Free(have[n%20])
					have[n%20] = have[20]
					have = have[:20]
				}
			}
		})
	}
	all.Wait()
	if b.Put(make([]byte, journal.MaxBlock+1)) != 0 {
		t.Error("a block for too many bytes")
	}
	n := 0
	for ; b.Put(make([]byte, journal.MaxBlock)) != 0; n++ {
	}
	if n == 0 || n > 128 {
		t.Errorf("%d large blocks", n)
	}
	b.Free(0)
}

// FuzzRead reads rings of any bytes: a real one with some of them changed.
func FuzzRead(f *testing.F) {
	dir := f.TempDir()
	r, err := journal.CreateRing(f.Context(), dir, "a", 1, 1)
	if err != nil {
		f.Fatal(err)
	}
	for n := range 40 {
		put(r, content(0, uint64(n), 16+n*100), "note", n%2 == 0)
	}
	if err := r.Close(false); err != nil {
		f.Fatal(err)
	}
	whole, err := os.ReadFile(filepath.Join(dir, "audit-a.ring"))
	if err != nil {
		f.Fatal(err)
	}
	if l := journal.ReadRing(whole); len(l.Items) != 40 {
		f.Fatalf("%d entries of 40", len(l.Items))
	}
	f.Add([]byte{}, len(whole))
	f.Add([]byte{0, 64, 0, 0, 0, 0xff}, len(whole))       // slots
	f.Add([]byte{0, 16, 8, 0xff, 0xff, 0x7f}, len(whole)) // a size
	f.Add([]byte{0, 16, 2, 1, 0, 0}, len(whole))          // a number
	f.Add([]byte{0, 8, 0, 0, 0, 9}, 5000)                 // cut off
	f.Fuzz(func(t *testing.T, changes []byte, size int) {
		data := bytes.Clone(whole[:max(0, min(size, len(whole)))])
		for ; len(changes) >= 6; changes = changes[6:] { // where, 3 bytes; what, 3 bytes
			at := int(changes[0])<<16 | int(changes[1])<<8 | int(changes[2])
			if at+3 <= len(data) {
				copy(data[at:], changes[3:6])
			}
		}
		l := journal.ReadRing(data)
		last := l.First - 1
		for _, it := range l.Items {
			if it.N <= last || it.N > l.Last || len(it.Data) > journal.MaxSize {
				t.Fatalf("entry %d after %d, of %d", it.N, last, l.Last)
			}
			last = it.N
		}
		if l.Last-(l.First-1) > 1<<20 {
			t.Fatalf("entries from %d to %d", l.First, l.Last)
		}
	})
}
