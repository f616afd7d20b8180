package gateway

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
)

const (
	// maxVisitors bounds who is counted. A new one takes the place of who has not been
	// seen for the longest time.
	maxVisitors = 1000
	// maxShown bounds who is in a list.
	maxShown = 100
	// maxReasons bounds the reasons of refusals; further ones are counted as "other".
	maxReasons = 100
)

// VisitorBook counts principals and refusals. It is safe for concurrent use.
type VisitorBook struct {
	mu       sync.RWMutex // guards what follows
	visitors map[string]*visitor
	refused  map[string]uint64
}

type visitor struct {
	principal atomic.Pointer[access.Principal]
	requests  atomic.Uint64
	seen      atomic.Int64 // nanoseconds since 1970
}

// Visitor is one principal in the output of mcpctl status --json.
type Visitor struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Provider string    `json:"provider"`
	Groups   []string  `json:"groups,omitempty"`
	Client   string    `json:"client,omitempty"`
	Expires  time.Time `json:"expires,omitzero"`
	Requests uint64    `json:"requests"`
	LastSeen time.Time `json:"lastSeen"`
}

// NewVisitorBook returns an empty book.
func NewVisitorBook() *VisitorBook {
	return &VisitorBook{visitors: map[string]*visitor{}, refused: map[string]uint64{}}
}

// Came counts a request of a principal, and reports whether it was not counted yet. It
// allocates nothing for one who is.
func (b *VisitorBook) Came(principal *access.Principal) (first bool) {
	b.mu.RLock()
	v := b.visitors[principal.ID]
	b.mu.RUnlock()
	if v == nil {
		v, first = b.add(principal.ID), true
	}
	if v.principal.Load() != principal {
		v.principal.Store(principal)
	}
	v.requests.Add(1)
	v.seen.Store(time.Now().UnixNano())
	return first
}

// Who returns the principal of an ID as it has come last, nil for one who is not counted.
func (b *VisitorBook) Who(id string) *access.Principal {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if v := b.visitors[id]; v != nil {
		return v.principal.Load()
	}
	return nil
}

// add returns the entry of a principal, which it makes if there is none.
func (b *VisitorBook) add(id string) *visitor {
	b.mu.Lock()
	defer b.mu.Unlock()
	if v := b.visitors[id]; v != nil {
		return v
	}
	if len(b.visitors) >= maxVisitors {
		oldest, at := "", int64(0)
		for id, v := range b.visitors {
			if seen := v.seen.Load(); oldest == "" || seen < at {
				oldest, at = id, seen
			}
		}
		delete(b.visitors, oldest)
	}
	v := &visitor{}
	b.visitors[id] = v
	return v
}

// Refused counts a request that was not let in, by a word for the reason.
func (b *VisitorBook) Refused(reason string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.refused[reason]; !ok && len(b.refused) >= maxReasons {
		reason = "other"
	}
	b.refused[reason]++
}

// Refusals returns how many requests were not let in, by reason.
func (b *VisitorBook) Refusals() map[string]uint64 {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return maps.Clone(b.refused)
}

// Visitors returns up to 100 principals, who was seen last first, and how many there are.
func (b *VisitorBook) Visitors() (recent []Visitor, all int) {
	b.mu.RLock()
	entries := slices.Collect(maps.Values(b.visitors))
	b.mu.RUnlock()
	recent = []Visitor{}
	for _, v := range entries {
		if principal := v.principal.Load(); principal != nil { // else it is being added
			recent = append(recent, Visitor{
				ID: principal.ID, Name: principal.Name, Provider: principal.Provider, Groups: principal.Groups, Client: principal.Client, Expires: principal.Expires,
				Requests: v.requests.Load(), LastSeen: time.Unix(0, v.seen.Load()),
			})
		}
	}
	slices.SortFunc(recent, func(a, b Visitor) int { return cmp.Or(b.LastSeen.Compare(a.LastSeen), cmp.Compare(a.ID, b.ID)) })
	return recent[:min(len(recent), maxShown)], len(recent)
}
