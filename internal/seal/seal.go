package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"
	"sync"
	"time"
)

const (
	// StateTTL is how long a client may take to come back with a state that was
	// sealed for it: long enough for a person to answer.
	StateTTL = 15 * time.Minute
	// keyLifetime is how long a key seals before a new one takes its place; it opens
	// for as long again. So nothing sealed for at most keyLifetime is lost to
	// rotation, and nothing may be sealed for longer.
	keyLifetime = 24 * time.Hour
	// maxKeys are the newest keys, which open what is sealed.
	maxKeys = 2
	keySize = 32 // bytes: AES-256
)

// Why a sealed text does not open. The first two read the same: nobody is to learn that a
// text was sealed for somebody else.
var (
	// ErrTampered is a text that was not sealed here, or not for this purpose,
	// or that has been changed since.
	ErrTampered = errors.New(notOurs)
	// ErrUnknownKey is a text sealed with a key that is not kept any more, or
	// by somebody else.
	ErrUnknownKey = errors.New(notOurs)
	// ErrExpired is a text whose time is over.
	ErrExpired = errors.New("the value has expired")
)

const notOurs = "the value is too old, or was not given out here"

// Keyring seals text that a client keeps for us and brings back: nobody else can
// read, change or make it (AES-256-GCM with random nonces). Keys are replaced
// daily, and the two newest open. All methods may be called concurrently.
type Keyring struct {
	path string // "": in memory

	mu      sync.Mutex // guards what follows; held across file access where there is a path, once a day and for unknown keys
	keys    []ringKey  // newest first, at most maxKeys
	checked time.Time  // when the file was last read for a key that is not here
}

type ringKey struct {
	id   uint32
	made time.Time
	raw  []byte
	aead cipher.AEAD
}

// NewKeyring returns a ring whose keys live in memory: what it seals is lost with
// the process.
func NewKeyring() *Keyring { return &Keyring{keys: []ringKey{newKey(time.Now())}} }

func newKey(now time.Time) ringKey {
	var b [4 + keySize]byte
	_, _ = rand.Read(b[:]) // never fails: see crypto/rand
	return keyOf(binary.BigEndian.Uint32(b[:4]), now, b[4:])
}

// keyOf returns a key ready for use; raw has keySize bytes.
func keyOf(id uint32, made time.Time, raw []byte) ringKey {
	block, err := aes.NewCipher(raw)
	if err != nil {
		panic("seal: a key of 32 bytes is no AES key: " + err.Error())
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic("seal: AES has no GCM: " + err.Error())
	}
	return ringKey{id: id, made: made, raw: raw, aead: aead}
}

// A sealed text is base64url of: format byte, key id (4 bytes), and nonce,
// ciphertext and tag of: expiry (Unix milliseconds, 8 bytes), plain text. The
// purpose and what stands before the nonce are authenticated.
const (
	sealFormat = 1
	sealHead   = 5
)

// Seal returns a text of letters, digits, '-' and '_' that Open turns back into
// plain until ttl is over. The purpose keeps texts of different kinds apart. A
// ttl of 0 or below is the longest, a day; more is shortened to it.
func (r *Keyring) Seal(purpose string, plain []byte, ttl time.Duration) string {
	now := time.Now()
	if ttl <= 0 || ttl > keyLifetime {
		ttl = keyLifetime
	}
	k := r.sealingKey(now)
	head := binary.BigEndian.AppendUint32([]byte{sealFormat}, k.id)
	inner := binary.BigEndian.AppendUint64(make([]byte, 0, 8+len(plain)), uint64(now.Add(ttl).UnixMilli()))
	inner = append(inner, plain...)
	out := make([]byte, sealHead, sealHead+len(inner)+k.aead.Overhead())
	copy(out, head)
	return base64.RawURLEncoding.EncodeToString(k.aead.Seal(out, nil, inner, append(head, purpose...))) //nolint:gosec // the nonce is random: see keyOf
}

// Open returns what was sealed for a purpose. The error is [ErrTampered],
// [ErrExpired] or [ErrUnknownKey].
func (r *Keyring) Open(purpose, sealed string) ([]byte, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(sealed)
	// The decoder passes over line ends, which are no part of such a text.
	if err != nil || len(b) < sealHead || b[0] != sealFormat || strings.ContainsAny(sealed, "\r\n") {
		return nil, ErrTampered
	}
	k, ok := r.openingKey(binary.BigEndian.Uint32(b[1:sealHead]))
	if !ok {
		return nil, ErrUnknownKey
	}
	inner, err := k.aead.Open(nil, nil, b[sealHead:], append(b[:sealHead:sealHead], purpose...))
	if err != nil || len(inner) < 8 {
		return nil, ErrTampered
	}
	if until := int64(binary.BigEndian.Uint64(inner)); time.Now().UnixMilli() >= until { //nolint:gosec // written by Seal
		return nil, ErrExpired
	}
	return inner[8:], nil
}

// sealingKey returns the key to seal with, a new one where the last is too old.
func (r *Keyring) sealingKey(now time.Time) ringKey {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(r.keys[0].made) < keyLifetime {
		return r.keys[0]
	}
	if r.path == "" {
		r.keys = addKey(r.keys, now)
	} else {
		// Where the file cannot be written the old key goes on: a client that
		// comes back to another process must find its key there.
		_ = r.rotateFile(now)
	}
	return r.keys[0]
}

// addKey puts a new key before the others.
func addKey(keys []ringKey, now time.Time) []ringKey {
	out := append([]ringKey{newKey(now)}, keys...)
	return out[:min(len(out), maxKeys)]
}

// openingKey returns the key to open with. One that is not here may be in the
// file: another process has put it there.
func (r *Keyring) openingKey(id uint32) (ringKey, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for range 2 {
		for _, k := range r.keys {
			if k.id == id && time.Since(k.made) < maxKeys*keyLifetime {
				return k, true
			}
		}
		if r.path == "" || time.Since(r.checked) < time.Second { // no guesses at the cost of the disk
			return ringKey{}, false
		}
		r.checked = time.Now()
		if keys, err := readRing(r.path); err == nil {
			r.keys = keys
		}
	}
	return ringKey{}, false
}
