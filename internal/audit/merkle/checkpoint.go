// Package merkle has the tree over the records of an audit log: checkpoints, which are C2SP
// tlog-checkpoints, and proofs, which are C2SP tlog-proofs. The tree is that of RFC 6962.
package merkle

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// Origin returns the first line of a log's checkpoints, which is the name of its keys, too.
func Origin(logID string) string { return "mcpctl/" + logID }

// Checkpoint is what a log has said: its first Size records have the tree hash Root.
type Checkpoint struct {
	// Origin names the log.
	Origin string
	// Size is how many records it has, Root the hash of their tree.
	Size int64
	Root tlog.Hash
}

// ErrCheckpoint is that a text is no checkpoint.
var ErrCheckpoint = errors.New("no checkpoint")

// Text returns what is signed.
func (c Checkpoint) Text() string { return fmt.Sprintf("%s\n%d\n%s\n", c.Origin, c.Size, c.Root) }

// Sign returns the checkpoint as a signed note.
func (c Checkpoint) Sign(signers ...note.Signer) ([]byte, error) {
	return note.Sign(&note.Note{Text: c.Text()}, signers...)
}

// ParseText reads what [Checkpoint.Text] writes, and nothing else: the errors are
// ErrCheckpoint.
func ParseText(text string) (Checkpoint, error) {
	lines := strings.Split(text, "\n")
	if len(lines) != 4 {
		return Checkpoint{}, ErrCheckpoint
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil || size < 0 {
		return Checkpoint{}, ErrCheckpoint
	}
	root, err := tlog.ParseHash(lines[2])
	if err != nil {
		return Checkpoint{}, ErrCheckpoint
	}
	c := Checkpoint{Origin: lines[0], Size: size, Root: root}
	if c.Origin == "" || strings.ContainsFunc(c.Origin, unicode.IsSpace) || c.Text() != text {
		return Checkpoint{}, ErrCheckpoint
	}
	return c, nil
}

// Unsigned reads the checkpoint of a note without a look at its signatures.
func Unsigned(msg []byte) (Checkpoint, error) {
	// The signatures follow an empty line.
	text, _, found := strings.Cut(string(msg), "\n\n")
	if !found {
		return Checkpoint{}, ErrCheckpoint
	}
	return ParseText(text + "\n")
}

// Open reads a checkpoint that at least one of the verifiers has signed, under the name of
// its origin. The note has the signatures. Of one checkpoint there is one text.
func Open(msg []byte, verifiers ...note.Verifier) (Checkpoint, *note.Note, error) {
	n, err := note.Open(msg, note.VerifierList(verifiers...))
	if err != nil {
		return Checkpoint{}, nil, err
	}
	if !exact(msg) {
		return Checkpoint{}, nil, ErrCheckpoint
	}
	c, err := ParseText(n.Text)
	if err != nil {
		return Checkpoint{}, nil, err
	}
	for _, s := range n.Sigs {
		if s.Name == c.Origin {
			return c, n, nil
		}
	}
	return Checkpoint{}, nil, &note.UnverifiedNoteError{Note: n}
}

// exact reports whether the signatures of a note are written in the one way there is: a
// decoder of base64 skips line breaks, and bits of the last character.
func exact(msg []byte) bool {
	_, lines, _ := strings.Cut(string(msg), "\n\n")
	for line := range strings.Lines(lines) {
		line = strings.TrimSuffix(line, "\n")
		signature := line[strings.LastIndexByte(line, ' ')+1:]
		b, err := base64.StdEncoding.DecodeString(signature)
		if err != nil || base64.StdEncoding.EncodeToString(b) != signature {
			return false
		}
	}
	return true
}
