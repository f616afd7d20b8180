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

// Add adds the hash of the next record.
func (e *Edge) Add(h tlog.Hash) { e.AddSubtree(0, h) }

// AddSubtree adds the hash of a subtree of 2^level records; the size must be a multiple of
// that.
func (e *Edge) AddSubtree(level int, h tlog.Hash) {
	l := level
	for ; e.size>>l&1 == 1; l++ {
		h = tlog.NodeHash(e.hashes[l], h)
	}
	e.hashes[l] = h
	e.size += 1 << level
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
		e.Add(tlog.Hash(hashes[at : at+tlog.HashSize]))
	}
	return e.Root()
}
