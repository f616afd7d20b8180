package seal

import (
	"context"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/internal/atomicfile"
)

// Box encrypts what is kept in files (AES-256-GCM with random nonces). Its one key is
// never replaced: what was put in can be taken out for as long as the key is kept. It is
// immutable and may be used concurrently.
type Box struct{ aead cipher.AEAD }

// NewBoxKey returns a key of a new [Box], as text.
func NewBoxKey() string {
	var b [keySize]byte
	_, _ = rand.Read(b[:]) // never fails: see crypto/rand
	return base64.RawStdEncoding.EncodeToString(b[:])
}

// NewBox returns a box with a key of [NewBoxKey].
func NewBox(key string) (*Box, error) {
	raw, err := base64.RawStdEncoding.DecodeString(strings.TrimSpace(key))
	if err != nil || len(raw) != keySize {
		return nil, errors.New("it is not a key of 32 bytes")
	}
	return &Box{keyOf(0, time.Time{}, raw).aead}, nil
}

// OpenBox returns a box whose key is in a file. Where there is none it is made, readable
// by its owner alone (0600); of several processes one makes it.
func OpenBox(ctx context.Context, path string) (*Box, error) {
	raw, err := atomicfile.Read(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		err = atomicfile.Update(ctx, path, lockTimeout, func() ([]byte, error) {
			if raw, err = atomicfile.Read(path, maxFile); errors.Is(err, fs.ErrNotExist) {
				raw, err = []byte(NewBoxKey()+"\n"), nil
			}
			return raw, err
		})
	}
	if err != nil {
		return nil, fmt.Errorf("key %s: %w", path, err)
	}
	b, err := NewBox(string(raw))
	if err != nil {
		return nil, fmt.Errorf("key %s: %w", path, err)
	}
	return b, nil
}

// boxFormat is the first byte of what a box has encrypted.
const boxFormat = 1

// Seal encrypts a text under a name, which is not part of the result.
func (b *Box) Seal(name string, plain []byte) []byte {
	return b.aead.Seal([]byte{boxFormat}, nil, plain, []byte(name)) //nolint:gosec // the nonce is random: see keyOf
}

// Open returns what was sealed under a name, [ErrTampered] for anything else.
func (b *Box) Open(name string, sealed []byte) ([]byte, error) {
	if len(sealed) == 0 || sealed[0] != boxFormat {
		return nil, ErrTampered
	}
	plain, err := b.aead.Open(nil, nil, sealed[1:], []byte(name))
	if err != nil {
		return nil, ErrTampered
	}
	return plain, nil
}
