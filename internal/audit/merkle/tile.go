package merkle

import (
	"errors"
	"fmt"
	"math/bits"

	"golang.org/x/mod/sumdb/tlog"
)

// Tiles hold the hashes of the tree: tile n of level l has the hashes of TileWidth subtrees
// of TileWidth to the power of l records each, the last tile of a level fewer.
const (
	TileHeight = 8
	TileWidth  = 1 << TileHeight
)

// ErrTile is that a stored tile does not have the hashes it should have.
var ErrTile = errors.New("a tile of hashes is missing or too short")

// Tiles reads stored tiles, nil for one that is not there. The hashes are used as they are:
// what is made of them must be checked against a checkpoint.
type Tiles func(level int, n int64) ([]byte, error)

// ReadHashes is for [tlog.HashReader].
func (read Tiles) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	hashes := make([]tlog.Hash, len(indexes))
	var data []byte // of the tile that was read last
	last := tlog.Tile{L: -1}
	for i, index := range indexes {
		tile := tlog.TileForIndex(TileHeight, index)
		if tile.L != last.L || tile.N != last.N {
			var err error
			if data, err = read(tile.L, tile.N); err != nil {
				return nil, err
			}
			last = tile
		}
		if len(data) < tile.W*tlog.HashSize {
			return nil, fmt.Errorf("%w: level %d, number %d", ErrTile, tile.L, tile.N)
		}
		hash, err := tlog.HashFromTile(tile, data, index)
		if err != nil {
			return nil, err
		}
		hashes[i] = hash
	}
	return hashes, nil
}

// Edge is the right edge of a tree: what is needed to go on with it. The zero Edge is the
// empty tree. A copy is independent.
type Edge struct {
	size int64
	// hashes[l] is that of a full subtree of 2^l records, where size has that bit.
	hashes [63]tlog.Hash
}

// Size returns how many records the tree has.
func (e *Edge) Size() int64 { return e.size }

// Add adds the hash of the next record. full is called with the subtrees that it makes full:
// number n of those of 2^level records; nil for nothing.
func (e *Edge) Add(h tlog.Hash, full func(level int, n int64, h tlog.Hash)) {
	l := 0
	for ; e.size>>l&1 == 1; l++ {
		h = tlog.NodeHash(e.hashes[l], h)
		if full != nil {
			full(l+1, e.size>>(l+1), h)
		}
	}
	e.hashes[l] = h
	e.size++
}

// EdgeAt returns the edge of the tree of the first size records.
func EdgeAt(size int64, tiles Tiles) (Edge, error) {
	var indexes []int64
	for l := len(Edge{}.hashes) - 1; l >= 0; l-- {
		if size>>l&1 == 1 {
			indexes = append(indexes, tlog.StoredHashIndex(l, size>>l-1))
		}
	}
	hashes, err := tiles.ReadHashes(indexes)
	if err != nil {
		return Edge{}, err
	}
	return NewEdge(size, hashes)
}

// NewEdge returns the edge that has these Hashes.
func NewEdge(size int64, hashes []tlog.Hash) (Edge, error) {
	e := Edge{size: size}
	if size < 0 || bits.OnesCount64(uint64(size)) != len(hashes) {
		return Edge{}, fmt.Errorf("%w: the edge of a tree of %d records does not have %d hashes", ErrProof, size, len(hashes))
	}
	for l := len(e.hashes) - 1; l >= 0; l-- {
		if size>>l&1 == 1 {
			e.hashes[l], hashes = hashes[0], hashes[1:]
		}
	}
	return e, nil
}

// Hashes returns the hashes of the full subtrees that the tree consists of, the largest one
// first.
func (e *Edge) Hashes() []tlog.Hash {
	var hashes []tlog.Hash
	for l := len(e.hashes) - 1; l >= 0; l-- {
		if e.size>>l&1 == 1 {
			hashes = append(hashes, e.hashes[l])
		}
	}
	return hashes
}

// Root returns the hash of the tree.
func (e *Edge) Root() tlog.Hash {
	if e.size == 0 {
		h, _ := tlog.TreeHash(0, nil) // of the empty tree, which reads nothing
		return h
	}
	l := bits.TrailingZeros64(uint64(e.size)) //nolint:gosec // never negative
	h := e.hashes[l]
	for l++; e.size>>l > 0; l++ {
		if e.size>>l&1 == 1 {
			h = tlog.NodeHash(e.hashes[l], h)
		}
	}
	return h
}

// TileRoot returns the hash of the subtree that a full tile is.
func TileRoot(hashes []byte) tlog.Hash {
	var e Edge
	for at := 0; at < len(hashes); at += tlog.HashSize {
		e.Add(tlog.Hash(hashes[at:at+tlog.HashSize]), nil)
	}
	return e.Root()
}
