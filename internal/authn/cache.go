package authn

import "sync"

// maxCached bounds a cache.
const maxCached = 10_000

// cache has what was found for credentials that were seen before. Beyond its bound it forgets
// all: that is rare, and no look-up needs a lock for writing. The zero value is empty. It is
// safe for concurrent use.
type cache[K comparable, V any] struct {
	mu sync.RWMutex // guards of
	of map[K]V
}

// find returns the value of a key, false for none. It allocates nothing.
func (c *cache[K, V]) find(key K) (value V, ok bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	value, ok = c.of[key]
	return value, ok
}

// put sets the value of a key.
func (c *cache[K, V]) put(key K, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil || len(c.of) >= maxCached {
		c.of = map[K]V{}
	}
	c.of[key] = value
}
