package jwt

import (
	"hash/maphash"
	"sync"
)

// maxTokens bounds a table; beyond it the older half is forgotten.
const maxTokens = 10_000

// TokenCache has values of tokens, by their keyed hashes. It is safe for concurrent use.
type TokenCache[V any] struct {
	seed maphash.Seed

	mu         sync.RWMutex // guards what follows
	young, old map[uint64]entry[V]
}

type entry[V any] struct {
	token string
	value V
}

// NewTokenCache returns an empty table.
func NewTokenCache[V any]() *TokenCache[V] {
	return &TokenCache[V]{seed: maphash.MakeSeed(), young: map[uint64]entry[V]{}}
}

// Find returns the value of a token, false for one that is not there. It allocates
// nothing.
func (t *TokenCache[V]) Find(token string) (value V, ok bool) {
	sum := maphash.String(t.seed, token)
	t.mu.RLock()
	e, ok := t.young[sum]
	if !ok {
		e, ok = t.old[sum]
	}
	t.mu.RUnlock()
	if !ok || !equal(e.token, token) {
		return value, false
	}
	return e.value, true
}

// Keep sets the value of a token.
func (t *TokenCache[V]) Keep(token string, value V) {
	sum := maphash.String(t.seed, token)
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.young) >= maxTokens/2 {
		t.young, t.old = map[uint64]entry[V]{}, t.young
	}
	delete(t.old, sum)
	t.young[sum] = entry[V]{token, value}
}

// Each calls f for each token. The table cannot be changed meanwhile.
func (t *TokenCache[V]) Each(f func(token string, value V)) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, half := range []map[uint64]entry[V]{t.old, t.young} {
		for _, e := range half {
			f(e.token, e.value)
		}
	}
}

// equal reports whether two texts are equal. How long it takes depends on their lengths
// alone. Unlike subtle.ConstantTimeCompare it needs no copies of texts.
func equal(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	var differ uint64
	i := 0
	for ; i+8 <= len(a); i += 8 {
		differ |= word(a[i:i+8]) ^ word(b[i:i+8])
	}
	for ; i < len(a); i++ {
		differ |= uint64(a[i] ^ b[i])
	}
	return differ == 0
}

// word returns 8 bytes, which the compiler reads as one.
func word(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
