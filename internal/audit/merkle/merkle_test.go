package merkle_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/mcpctl/mcpctl/internal/audit/merkle"
	"github.com/mcpctl/mcpctl/test/require"
)

// forest is a tree with all of its hashes, as tlog stores them, and as tiles.
type forest struct {
	hashes []tlog.Hash
	size   int64
}

func (f *forest) ReadHashes(indexes []int64) (list []tlog.Hash, err error) {
	for _, i := range indexes {
		list = append(list, f.hashes[i])
	}
	return list, nil
}

func (f *forest) add(t testing.TB, record string) {
	t.Helper()
	hashes, err := tlog.StoredHashes(f.size, []byte(record), f)
	require.NoError(t, err)
	f.hashes = append(f.hashes, hashes...)
	f.size++
}

func (f *forest) tiles(level int, n int64) ([]byte, error) {
	width := min(f.size>>(merkle.TileHeight*level)-n*merkle.TileWidth, merkle.TileWidth)
	if width <= 0 {
		return nil, nil
	}
	return tlog.ReadTileData(tlog.Tile{H: merkle.TileHeight, L: level, N: n, W: int(width)}, f)
}

// TestEdge: at each size the edge has the root that tlog computes, from records and from
// tiles, and names the subtrees that are full.
func TestEdge(t *testing.T) {
	f := &forest{}
	var e merkle.Edge
	full := map[string]tlog.Hash{}
	for n := range 700 {
		want, err := tlog.TreeHash(f.size, f)
		require.NoError(t, err)
		if got := e.Root(); got != want || e.Size() != f.size {
			t.Fatalf("size %d, %d: root %v, want %v", e.Size(), n, got, want)
		}
		if n%37 == 0 {
			again, err := merkle.EdgeAt(f.size, f.tiles)
			require.NoError(t, err)
			if again.Size() != e.Size() || !slices.Equal(again.Hashes(), e.Hashes()) {
				t.Fatalf("the edge from tiles at %d is another one", n)
			}
			if made, err := merkle.NewEdge(e.Size(), e.Hashes()); err != nil || made.Root() != e.Root() {
				t.Fatalf("the edge from its hashes at %d is another one: %v", n, err)
			}
		}
		text := fmt.Sprint("record ", n)
		f.add(t, text)
		e.Add(tlog.RecordHash([]byte(text)), func(level int, n int64, h tlog.Hash) { full[fmt.Sprint(level, " ", n)] = h })
	}
	for level := 1; 700>>level > 0; level++ {
		for n := int64(0); (n+1)<<level <= 700; n++ {
			if full[fmt.Sprint(level, " ", n)] != f.hashes[tlog.StoredHashIndex(level, n)] {
				t.Fatalf("subtree %d of level %d", n, level)
			}
		}
	}
	if data, err := f.tiles(0, 1); err != nil || merkle.TileRoot(data) != full["8 1"] {
		t.Errorf("the root of a tile: %v", err)
	}
	if _, err := merkle.NewEdge(7, e.Hashes()); !errors.Is(err, merkle.ErrProof) {
		t.Errorf("an edge with too many hashes: %v", err)
	}
	if _, err := merkle.EdgeAt(2000, f.tiles); !errors.Is(err, merkle.ErrTile) {
		t.Errorf("an edge behind the end: %v", err)
	}
}

// TestExtends: each size extends each smaller one, and no other history does.
func TestExtends(t *testing.T) {
	f, other := &forest{}, &forest{}
	var sizes []merkle.Checkpoint
	for n := range 300 {
		if n%23 == 0 {
			root, err := tlog.TreeHash(f.size, f)
			require.NoError(t, err)
			sizes = append(sizes, merkle.Checkpoint{Origin: "mcpctl/x", Size: f.size, Root: root})
		}
		f.add(t, fmt.Sprint("record ", n))
		other.add(t, fmt.Sprint("record ", max(n, 3)))
	}
	root, err := tlog.TreeHash(other.size, other)
	require.NoError(t, err)
	forged := merkle.Checkpoint{Origin: "mcpctl/x", Size: 300, Root: root}
	for i, a := range sizes {
		for _, b := range sizes[i:] {
			path, err := merkle.Extends(a, b, f.tiles)
			require.NoError(t, err)
			require.NoError(t, merkle.CheckExtends(a, b, path))
			if _, err := merkle.Extends(b, a, f.tiles); a.Size < b.Size && !errors.Is(err, merkle.ErrProof) {
				t.Errorf("%d extends %d: %v", a.Size, b.Size, err)
			}
		}
		if _, err := merkle.Extends(a, forged, other.tiles); a.Size > 0 && !errors.Is(err, merkle.ErrProof) {
			t.Errorf("another history extends %d: %v", a.Size, err)
		}
		a.Origin = "mcpctl/y"
		if _, err := merkle.Extends(a, forged, other.tiles); !errors.Is(err, merkle.ErrProof) {
			t.Errorf("a log extends another one: %v", err)
		}
	}
}

func TestCheckpointText(t *testing.T) {
	c := merkle.Checkpoint{Origin: merkle.Origin("abc"), Size: 42, Root: tlog.RecordHash(nil)}
	want := "mcpctl/abc\n42\nbjQLnP+zepicpUTmu3gKLHiQHT+zNzh2hRGjBhevoB0=\n"
	if c.Text() != want {
		t.Errorf("%q", c.Text())
	}
	if got, err := merkle.ParseText(want); err != nil || got != c {
		t.Errorf("%+v, %v", got, err)
	}
	for _, text := range []string{
		"", "\n\n\n", strings.TrimSuffix(want, "\n"), want + "more\n", strings.Replace(want, "42", "042", 1), strings.Replace(want, "42", "-1", 1),
		strings.Replace(want, "42", "99999999999999999999", 1), strings.Replace(want, "hevoB0=", "hevoB1=", 1), strings.Replace(want, "mcpctl/abc", "", 1), strings.Replace(want, "\n", "\r\n", 1),
	} {
		if got, err := merkle.ParseText(text); !errors.Is(err, merkle.ErrCheckpoint) {
			t.Errorf("%q is read as %+v, %v", text, got, err)
		}
	}
}

// TestOneText: of a signed checkpoint there is one text. Bits that base64 does not need must
// be zero.
func TestOneText(t *testing.T) {
	skey, vkey, err := note.GenerateKey(bytes.NewReader(make([]byte, 64)), "mcpctl/x")
	require.NoError(t, err)
	signer, err := note.NewSigner(skey)
	require.NoError(t, err)
	verifier, err := note.NewVerifier(vkey)
	require.NoError(t, err)
	msg, err := merkle.Checkpoint{Origin: "mcpctl/x", Size: 300}.Sign(signer)
	require.NoError(t, err)
	good := 0
	for at := range msg {
		for c := range byte(128) {
			other := bytes.Clone(msg)
			if other[at] = c; c < ' ' && c != '\n' {
				continue
			}
			if _, _, err := merkle.Open(other, verifier); err == nil {
				if good++; !bytes.Equal(other, msg) {
					t.Errorf("%q is taken for %q", other, msg)
				}
			}
		}
	}
	if good == 0 {
		t.Error("the checkpoint is not taken")
	}
}

// FuzzProof: what is read of a proof says the same when it is written again, and what is
// taken as signed is what was signed.
func FuzzProof(f *testing.F) {
	skey, vkey, err := note.GenerateKey(bytes.NewReader(make([]byte, 64)), "mcpctl/x")
	require.NoError(f, err)
	signer, err := note.NewSigner(skey)
	require.NoError(f, err)
	verifier, err := note.NewVerifier(vkey)
	require.NoError(f, err)
	tree := &forest{}
	for n := range 300 {
		tree.add(f, fmt.Sprint("record ", n))
	}
	root, err := tlog.TreeHash(tree.size, tree)
	require.NoError(f, err)
	msg, err := merkle.Checkpoint{Origin: "mcpctl/x", Size: 300, Root: root}.Sign(signer)
	require.NoError(f, err)
	for _, n := range []int64{0, 255, 256, 299} {
		p, err := merkle.Prove(fmt.Append(nil, "record ", n), n, msg, tree.tiles)
		require.NoError(f, err)
		f.Add(p.Text())
		// The decoder of base64 skips line breaks.
		f.Add(bytes.Replace(p.Text(), []byte("\nextra "), []byte("\nextra \r"), 1))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := merkle.ParseProof(text)
		if err != nil {
			return
		}
		if again := p.Text(); !bytes.Equal(again, text) {
			t.Errorf("read    %q\nwritten %q", text, again)
		}
		c, err := p.Check(verifier)
		if err != nil {
			return
		}
		if c.Size != 300 || c.Root != root || string(p.Record) != fmt.Sprint("record ", p.Index) {
			t.Errorf("%q is proven to be record %d", p.Record, p.Index)
		}
	})
}
