package verify

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/mcpctl/mcpctl/internal/audit/merkle"
)

// keyring knows which keys may have signed which checkpoints: a record says that a key is
// replaced, the checkpoint behind it is signed by both, and from then on the old key signs
// no more.
type keyring struct {
	trusted   []note.Verifier
	rotations []rotation
	// retired are sizes beyond which a key must not have signed.
	retired map[string]int64
	// signed is the size of the greatest checkpoint with a good signature; -1 for none.
	signed int64
	// unknown are checkpoints of keys that are not trusted, yet.
	unknown []unknownNote
}

type rotation struct {
	at       int64 // number of the record
	old, new note.Verifier
	done     bool // the checkpoint behind it was seen
}

type unknownNote struct {
	size int64
	msg  []byte
}

const maxUnknown = 10_000

func newKeyring(keys []string) (*keyring, error) {
	trusted, err := verifiersOf(keys)
	return &keyring{trusted: trusted, retired: map[string]int64{}, signed: -1}, err
}

// name returns what no other key has.
func name(v note.Verifier) string { return fmt.Sprintf("%s+%08x", v.Name(), v.KeyHash()) }

func (k *keyring) trusts(v note.Verifier) bool {
	for _, t := range k.trusted {
		if name(t) == name(v) {
			return true
		}
	}
	return false
}

// rotate reads the text of the record that tells that a key was replaced.
func (k *keyring) rotate(at int64, text string) {
	oldKey, newKey, _ := strings.Cut(text, " ")
	before, err1 := note.NewVerifier(oldKey)
	after, err2 := note.NewVerifier(newKey)
	if err1 == nil && err2 == nil {
		k.rotations = append(k.rotations, rotation{at: at, old: before, new: after})
	}
}

// signature is what is known of a checkpoint's signatures.
type signature string

const (
	good       signature = ""
	bad        signature = "its signature is not good"
	unknownKey signature = "it is not signed by the key"
	retiredKey signature = "it is signed by a key that had been replaced"
)

// check checks the signature of a checkpoint. Checkpoints come in the order of their sizes.
func (k *keyring) check(size int64, msg []byte) signature {
	known := k.trusted
	for _, r := range k.rotations {
		if !r.done && r.at < size && k.trusts(r.old) && !k.trusts(r.new) {
			known = append(slices.Clip(known), r.new)
		}
	}
	_, n, err := merkle.Open(msg, known...)
	if errors.As(err, new(*note.UnverifiedNoteError)) {
		return unknownKey
	}
	if err != nil {
		return bad
	}
	signed := func(v note.Verifier) bool {
		for _, s := range n.Sigs {
			if s.Name == v.Name() && s.Hash == v.KeyHash() {
				return true
			}
		}
		return false
	}
	result := unknownKey
	for i := range k.rotations {
		r := &k.rotations[i]
		if r.done || r.at >= size || !signed(r.new) || !k.trusts(r.new) && !(k.trusts(r.old) && signed(r.old)) {
			continue
		}
		r.done = true
		k.retired[name(r.old)] = size
		if !k.trusts(r.new) {
			k.trusted = append(k.trusted, r.new)
		}
	}
	for _, t := range k.trusted {
		if !signed(t) {
			continue
		}
		if last, retired := k.retired[name(t)]; !retired || size <= last {
			k.signed = max(k.signed, size)
			return good
		}
		result = retiredKey
	}
	return result
}

// later keeps a checkpoint of a key that is not trusted: a later record may say that a
// trusted key has replaced it. It reports false if there are too many.
func (k *keyring) later(size int64, msg []byte) bool {
	if len(k.unknown) >= maxUnknown {
		return false
	}
	k.unknown = append(k.unknown, unknownNote{size, msg})
	return true
}

// settle calls each with the checkpoints that later has kept and that no key has signed which
// trusted ones have replaced.
func (k *keyring) settle(each func(size int64, why signature)) {
	for more := true; more; {
		more = false
		for _, r := range k.rotations {
			// A checkpoint of the new key is the proof of the record.
			if k.trusts(r.new) && !k.trusts(r.old) && r.done {
				k.trusted, more = append(k.trusted, r.old), true
			}
		}
		if more {
			k.unknown = slices.DeleteFunc(k.unknown, func(u unknownNote) bool { return k.check(u.size, u.msg) == good })
		}
	}
	for _, u := range k.unknown {
		each(u.size, k.check(u.size, u.msg))
	}
}
