package merkle

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// Proof shows that a record is in the log that has signed a checkpoint. It needs nothing but
// the log's public key.
type Proof struct {
	// Record are the record's bytes, Index is its number in the log, from 0.
	Record []byte
	Index  int64
	// Path are the hashes from the record's sibling up to the child of the root.
	Path []tlog.Hash
	// Checkpoint is the signed note.
	Checkpoint []byte
}

// ErrProof is that a text is no proof, or one of something else.
var ErrProof = errors.New("no proof")

const proofHead = "c2sp.org/tlog-proof@v1"

// Prove returns the proof of record number index for a checkpoint, checked as a reader would
// but for the signature.
func Prove(record []byte, index int64, checkpoint []byte, tiles Tiles) (*Proof, error) {
	c, err := Unsigned(checkpoint)
	if err != nil {
		return nil, err
	}
	if index < 0 || index >= c.Size {
		return nil, fmt.Errorf("%w: record %d is not among the %d of the checkpoint", ErrProof, index, c.Size)
	}
	path, err := tlog.ProveRecord(c.Size, index, tiles)
	if err != nil {
		return nil, err
	}
	p := &Proof{Record: record, Index: index, Path: path, Checkpoint: checkpoint}
	return p, p.check(c)
}

// Text returns the proof as a C2SP tlog-proof, whose extra data is the record.
func (p *Proof) Text() []byte {
	b := fmt.Appendf(nil, "%s\nextra %s\nindex %d\n", proofHead, base64.StdEncoding.EncodeToString(p.Record), p.Index)
	for _, h := range p.Path {
		b = fmt.Appendln(b, h)
	}
	return append(append(b, '\n'), p.Checkpoint...)
}

// ParseProof reads what [Proof.Text] writes; nothing is checked yet.
func ParseProof(text []byte) (*Proof, error) {
	head, checkpoint, found := strings.Cut(string(text), "\n\n")
	lines := strings.Split(head, "\n")
	if !found || len(lines) < 3 || lines[0] != proofHead {
		return nil, fmt.Errorf("%w: it does not begin with %q", ErrProof, proofHead)
	}
	extra, hasExtra := strings.CutPrefix(lines[1], "extra ")
	index, hasIndex := strings.CutPrefix(lines[2], "index ")
	record, err := base64.StdEncoding.DecodeString(extra)
	if !hasExtra || !hasIndex || err != nil || base64.StdEncoding.EncodeToString(record) != extra {
		return nil, fmt.Errorf("%w: it has no record or no index", ErrProof)
	}
	n, err := strconv.ParseInt(index, 10, 64)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != index {
		return nil, fmt.Errorf("%w: index %q", ErrProof, index)
	}
	p := &Proof{Record: record, Index: n, Checkpoint: []byte(checkpoint)}
	for _, line := range lines[3:] {
		h, err := tlog.ParseHash(line)
		if err != nil || h.String() != line {
			return nil, fmt.Errorf("%w: hash %q", ErrProof, line)
		}
		p.Path = append(p.Path, h)
	}
	return p, nil
}

// Check returns the checkpoint if one of the verifiers has signed it and the record is in
// its log, at its index.
func (p *Proof) Check(verifiers ...note.Verifier) (Checkpoint, error) {
	c, _, err := Open(p.Checkpoint, verifiers...)
	if err != nil {
		return Checkpoint{}, err
	}
	return c, p.check(c)
}

func (p *Proof) check(c Checkpoint) error {
	if err := tlog.CheckRecord(p.Path, c.Size, c.Root, p.Index, tlog.RecordHash(p.Record)); err != nil {
		return fmt.Errorf("%w: record %d is not in the log of the checkpoint", ErrProof, p.Index)
	}
	return nil
}

// Extends returns the proof that the log of checkpoint later begins with that of earlier,
// checked as a reader would but for signatures: it fails if that is not so. From an empty
// log the proof is empty.
func Extends(earlier, later Checkpoint, tiles Tiles) ([]tlog.Hash, error) {
	switch {
	case earlier.Origin != later.Origin || earlier.Size > later.Size:
		return nil, fmt.Errorf("%w: the log of size %d does not begin with that of size %d", ErrProof, later.Size, earlier.Size)
	case earlier.Size == later.Size && earlier.Root == later.Root, earlier.Size == 0:
		return nil, nil
	}
	path, err := tlog.ProveTree(later.Size, earlier.Size, tiles)
	if err != nil {
		return nil, err
	}
	if err := CheckExtends(earlier, later, path); err != nil {
		return nil, err
	}
	return path, nil
}

// CheckExtends checks what [Extends] has returned.
func CheckExtends(earlier, later Checkpoint, path []tlog.Hash) error {
	if earlier.Size == 0 && len(path) == 0 {
		return nil
	}
	if err := tlog.CheckTree(path, later.Size, later.Root, earlier.Size, earlier.Root); err != nil {
		return fmt.Errorf("%w: the log of size %d does not begin with that of size %d", ErrProof, later.Size, earlier.Size)
	}
	return nil
}
