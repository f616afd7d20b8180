package journal

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/edsrzf/mmap-go"
	"github.com/gofrs/flock"
)

// Files of rings are called prefix, the run's name, suffix. Who creates or removes one holds
// the lock of the folder; its owner holds that of the file.
const (
	prefix     = "audit-"
	suffix     = ".ring"
	folderLock = "audit.rings"

	magic   = "mcpctl audit ring 1\n"
	slotsAt = 64
)

// lockRetry is how often the lock of a folder is tried.
const lockRetry = 20 * time.Millisecond

// file is what a ring keeps open.
type file struct {
	path string
	lock *flock.Flock
}

func lockFolder(ctx context.Context, dir string) (unlock func(), err error) {
	l := flock.New(filepath.Join(dir, folderLock), flock.SetPermissions(0o600))
	if _, err := l.TryLockContext(ctx, lockRetry); err != nil {
		return nil, fmt.Errorf("%s: %w", l.Path(), err)
	}
	return func() { _ = l.Close() }, nil
}

// CreateRing returns the ring of a run in a file of a folder. The file takes all its space at
// once, so that a full disk shows here and not later. Without slots it only shows that the
// run goes on, and the ring is in memory: it has as many slots as memory says.
func CreateRing(ctx context.Context, dir, run string, slots, memory int) (*Ring, error) {
	unlock, err := lockFolder(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	path := filepath.Join(dir, prefix+run+suffix)
	r, err := create(path, slots, memory)
	if err != nil {
		return nil, fmt.Errorf("ring file %w", err)
	}
	return r, nil
}

func create(path string, slots, memory int) (_ *Ring, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() {
		_ = f.Close() // what was written to it is mapped, or of no use
		if err != nil {
			_ = os.Remove(path)
		}
	}()
	r := (*Ring)(nil)
	if slots > 0 {
		slots = roundUp(slots)
		if r, err = mapped(f, headSize+slots*SlotSize); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		copy(r.mem, magic)
		binary.LittleEndian.PutUint64(r.mem[slotsAt:], uint64(slots)) //nolint:gosec // at most maxSlots
	} else {
		r = New(memory)
	}
	l, err := lock(path)
	if err != nil {
		return nil, err
	}
	r.file = &file{path: path, lock: l}
	return r, nil
}

// lock takes the lock of a ring's file.
func lock(path string) (*flock.Flock, error) {
	l := flock.New(path, flock.SetFlag(os.O_RDWR))
	ok, err := l.TryLock()
	if err == nil && !ok {
		err = errors.New("another process has the lock")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be locked: %w", path, err)
	}
	return l, nil
}

// mapped returns the ring in a new file.
func mapped(f *os.File, size int) (*Ring, error) {
	zeros := make([]byte, 1<<18)
	for left := size; left > 0; left -= len(zeros) {
		if _, err := f.Write(zeros[:min(left, len(zeros))]); err != nil {
			return nil, err
		}
	}
	m, err := mmap.MapRegion(f, size, mmap.RDWR, 0, 0)
	if err != nil {
		return nil, err
	}
	r := over(m)
	// Callers that are late may still write when the ring is closed: the memory goes when
	// nobody has the ring any more.
	runtime.AddCleanup(r, func(m mmap.MMap) { _ = m.Unmap() }, m)
	return r, nil
}

// Close unlocks the ring's file. With remove it is removed: nothing is left in it that matters.
func (r *Ring) Close(remove bool) error {
	if r.file == nil {
		return nil
	}
	err := r.file.lock.Close()
	if remove {
		// Where mapped files cannot be removed, whoever looks next finds nothing in it.
		_ = os.Remove(r.file.path)
	}
	return err
}

// Left are the entries that are still in the file of a run which has ended.
type Left struct {
	Run string
	// Items are in order. Numbers are missing where the process ended while an entry was
	// written.
	Items []Item
	// First is the number of the first entry that had not been freed, Last that of the last
	// one, as far as the file says. Last is First-1 for none.
	First, Last uint64

	path string
}

// Remove removes the file.
func (l *Left) Remove() error {
	if err := os.Remove(l.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// Ended calls take for each ring in a folder whose process has ended. Meanwhile no other
// process does the same, or creates a ring. Of a file that is no ring, only Run is set.
func Ended(ctx context.Context, dir string, take func(*Left) error) error {
	unlock, err := lockFolder(ctx, dir)
	if err != nil {
		return err
	}
	defer unlock()
	paths, err := filepath.Glob(filepath.Join(escape(dir), prefix+"*"+suffix))
	if err != nil {
		return err
	}
	for _, path := range paths {
		l := flock.New(path, flock.SetFlag(os.O_RDWR))
		ok, err := l.TryLock()
		if cerr := l.Close(); err == nil {
			err = cerr
		}
		switch {
		case errors.Is(err, os.ErrNotExist):
			continue
		case err != nil:
			return fmt.Errorf("ring file %s: %w", path, err)
		case !ok:
			continue
		}
		// Nobody takes the lock of a file that is there already but with the folder's.
		left, err := readFile(path)
		if err != nil {
			return fmt.Errorf("ring file %w", err)
		}
		if err := take(left); err != nil {
			return err
		}
	}
	return nil
}

// escape returns the pattern that matches a path alone.
func escape(path string) string {
	if os.PathSeparator == '\\' {
		return path
	}
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(path)
}

func readFile(path string) (*Left, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, headSize+maxSlots*SlotSize))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	left := ReadRing(data)
	left.path = path
	left.Run = strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), prefix), suffix)
	return left, nil
}

// ReadRing returns what is left in the bytes of a ring, whatever they are.
func ReadRing(data []byte) *Left {
	left := &Left{First: 1}
	if len(data) < headSize+minSlots*SlotSize || !bytes.HasPrefix(data, []byte(magic)) {
		return left
	}
	slots := binary.LittleEndian.Uint64(data[slotsAt:])
	if slots < minSlots || slots > maxSlots || slots&(slots-1) != 0 || uint64(len(data)) < headSize+slots*SlotSize {
		return left
	}
	// Words are read in place, so they have to be aligned.
	r := New(int(slots))
	copy(r.mem, data[:len(r.mem)])
	// The head may be older than slots, where the machine has ended: slots have their own
	// numbers.
	first, _ := unpack(r.done.Load())
	next, _ := unpack(r.next.Load())
	if first == 0 {
		return left
	}
	for place := range r.slots {
		t := tagOf(r.slot(place)).Load()
		it := Item{N: t >> 16, Place: place}
		if t>>4&(1<<12-1) != 0 || it.N < first {
			continue
		}
		if s := state(t & 15); s == stateOpen || s == stateTaken || s == stateNoting {
			it.Open = true
		}
		if _, ok := r.read(&it, nil); ok {
			left.Items = append(left.Items, it)
		}
	}
	slices.SortFunc(left.Items, func(a, b Item) int { return cmp.Compare(a.N, b.N) })
	// An entry has a slot at least, so numbers that are further off are none.
	i := len(left.Items)
	for i > 0 && left.Items[i-1].N >= first+slots {
		i--
	}
	left.Items = slices.CompactFunc(left.Items[:i], func(a, b Item) bool { return a.N == b.N })
	left.First, left.Last = first, first-1
	if next > first && next <= first+slots {
		left.Last = next - 1
	}
	if n := len(left.Items); n > 0 {
		left.Last = max(left.Last, left.Items[n-1].N)
	}
	return left
}
