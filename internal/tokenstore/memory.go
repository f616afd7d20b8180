package tokenstore

import (
	"sync"
	"time"
)

// maxMemory bounds the tokens of a [Memory]. Beyond it one goes.
const maxMemory = 10000

// Memory remembers tokens in this process alone. The zero value has none. Its methods
// may be called concurrently.
type Memory struct {
	mu     sync.Mutex // guards tokens; held for memory work only
	tokens map[string]Token
}

// Get returns the token under a key, false for none. One that is not usable is
// forgotten.
func (m *Memory) Get(key string, usable func(Token) bool) (Token, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t, ok := m.tokens[key]
	if ok && !usable(t) {
		delete(m.tokens, key)
		return Token{}, false
	}
	return t, ok
}

// Put remembers a token in the place of the one before it.
func (m *Memory) Put(key string, t Token) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.tokens == nil {
		m.tokens = map[string]Token{}
	}
	now := time.Now()
	if len(m.tokens) >= maxMemory {
		for old, t := range m.tokens {
			if len(m.tokens) >= maxMemory || !t.Expires.IsZero() && now.After(t.Expires) {
				delete(m.tokens, old)
			}
		}
	}
	m.tokens[key] = t
}

// Forget forgets the tokens of a principal.
func (m *Memory) Forget(principal string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, t := range m.tokens {
		if t.Principal == principal {
			delete(m.tokens, key)
		}
	}
}
