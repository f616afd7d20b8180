package jwt

import (
	"hash/maphash"
	"sync"
	"time"
)

const (
	// maxRemembered bounds the tokens that are remembered; beyond it the older half is
	// forgotten.
	maxRemembered = 10_000
	// rememberTime bounds how long a token is remembered.
	rememberTime = 5 * time.Minute
)

// memory has tokens that have been accepted, by their keyed hashes.
type memory struct {
	seed maphash.Seed

	mu         *sync.RWMutex // guards what follows
	young, old map[uint64]*remembered
}

func newMemory() memory {
	return memory{seed: maphash.MakeSeed(), mu: new(sync.RWMutex), young: map[uint64]*remembered{}}
}

// find returns a token, nil for one that is not remembered.
func (m *memory) find(text string) *remembered {
	sum := maphash.String(m.seed, text)
	m.mu.RLock()
	r := m.young[sum]
	if r == nil {
		r = m.old[sum]
	}
	m.mu.RUnlock()
	if r == nil || !equal(r.text, text) {
		return nil
	}
	return r
}

// keep remembers a token.
func (m *memory) keep(text string, v *verified, now time.Time) *remembered {
	r := &remembered{verified: v, text: text, until: now.Add(rememberTime)}
	sum := maphash.String(m.seed, text)
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.young) >= maxRemembered/2 {
		m.young, m.old = map[uint64]*remembered{}, m.young
	}
	delete(m.old, sum)
	m.young[sum] = r
	return r
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

// latest returns the token of a principal that ends last, nil for none.
func (m *memory) latest(id string, now time.Time) (last *remembered) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for _, half := range []map[uint64]*remembered{m.old, m.young} {
		for _, r := range half {
			if r.principal.ID == id && !r.principal.Expired(now) && (last == nil || !r.principal.Expires.Before(last.principal.Expires)) {
				last = r
			}
		}
	}
	return last
}
