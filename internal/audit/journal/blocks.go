package journal

import (
	"runtime"
	"sync/atomic"

	"github.com/edsrzf/mmap-go"
)

// Blocks is memory for bytes that stand beside entries, but never in a file. It is no part of
// what the garbage collector counts, and what was never used takes no space. All methods may
// be called concurrently; they take no lock and allocate nothing.
type Blocks struct {
	kinds [3]blockKind
}

// Ref stands for a block; 0 for none.
type Ref uint32

// MaxBlock is the size of the largest block.
const MaxBlock = 1 << 16

// kindBits is where a Ref has the kind of its block.
const kindBits = 24

// blockKind are the blocks of one size.
type blockKind struct {
	size int
	mem  []byte
	// fresh is how many were ever used. free is the last one that was given back: its number
	// from 1, and above it how often free has changed, so that it is noticed when others
	// come between. below has the one that was free before.
	fresh atomic.Uint32
	free  atomic.Uint64
	below []atomic.Uint32
}

// NewBlocks returns 24 MiB of blocks.
func NewBlocks() (*Blocks, error) {
	b := new(Blocks)
	sizes := [...]struct{ size, count int }{{1 << 9, 1 << 14}, {1 << 12, 1 << 11}, {MaxBlock, 1 << 7}}
	total := 0
	for _, s := range sizes {
		total += s.size * s.count
	}
	m, err := mmap.MapRegion(nil, total, mmap.RDWR, mmap.ANON, 0)
	if err != nil {
		return nil, err
	}
	runtime.AddCleanup(b, func(m mmap.MMap) { _ = m.Unmap() }, m)
	rest := []byte(m)
	for i, s := range sizes {
		k := &b.kinds[i]
		k.size, k.below = s.size, make([]atomic.Uint32, s.count+1)
		k.mem, rest = rest[:s.size*s.count], rest[s.size*s.count:]
	}
	return b, nil
}

// Take returns a block of at least size bytes, 0 if there is none.
func (b *Blocks) Take(size int) Ref {
	for i := range b.kinds {
		if k := &b.kinds[i]; size <= k.size {
			if n := k.take(); n != 0 {
				return Ref(uint32(i)<<kindBits | n)
			}
		}
	}
	return 0
}

// Put copies bytes into a block, 0 if there is none that is large enough.
func (b *Blocks) Put(data []byte) Ref {
	r := b.Take(len(data))
	if r != 0 {
		copy(b.Bytes(r), data)
		runtime.KeepAlive(b)
	}
	return r
}

// Bytes returns a block that is not free. It is good while b is reachable.
func (b *Blocks) Bytes(r Ref) []byte { return b.kinds[r>>kindBits].at(uint32(r & (1<<kindBits - 1))) }

// Free returns a block to the free ones; it does nothing for 0.
func (b *Blocks) Free(r Ref) {
	if r != 0 {
		b.kinds[r>>kindBits].give(uint32(r & (1<<kindBits - 1)))
	}
}

func (k *blockKind) at(n uint32) []byte { return k.mem[int(n-1)*k.size : int(n)*k.size] }

func (k *blockKind) take() uint32 {
	for {
		old := k.free.Load()
		n := uint32(old) //nolint:gosec // its lower half
		if n == 0 {
			break
		}
		if k.free.CompareAndSwap(old, (old>>32+1)<<32|uint64(k.below[n].Load())) {
			return n
		}
	}
	for {
		n := k.fresh.Load()
		if int(n) >= len(k.below)-1 {
			return 0
		}
		if k.fresh.CompareAndSwap(n, n+1) {
			return n + 1
		}
	}
}

func (k *blockKind) give(n uint32) {
	for {
		old := k.free.Load()
		k.below[n].Store(uint32(old)) //nolint:gosec // its lower half
		if k.free.CompareAndSwap(old, (old>>32+1)<<32|uint64(n)) {
			return
		}
	}
}
