package gate

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"sync"
	"time"
)

const (
	// TTL is how long a person has to answer, and how long the call passes that they have
	// allowed.
	TTL = 5 * time.Minute
	// MaxArguments bounds the arguments of a call that a person is asked about, in bytes:
	// they are to read them.
	MaxArguments = 16 << 10

	// maxRequests bounds what is remembered, and what of one principal. Beyond it nobody
	// is asked.
	maxRequests     = 1000
	maxPerPrincipal = 20
)

// ApprovalRequest is a call that a person is asked about.
type ApprovalRequest struct {
	// Principal is the ID of who calls, and who is asked; Name is for people.
	Principal, Name string
	// Server and Item are the server's names, Arguments the raw object, nil for none.
	Server, Item string
	Arguments    []byte
	// Text is what is asked, IDs the policies that ask.
	Text string
	IDs  []string
}

// digest stands for who calls what, with what, and what is asked of that.
func (r *ApprovalRequest) digest() [sha256.Size]byte {
	h := sha256.New()
	for _, part := range append([]string{r.Principal, r.Server, r.Item, string(r.Arguments), r.Text}, r.IDs...) {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		h.Write([]byte(part))
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// Approvals has calls that people are asked about. The zero value is ready. All methods may be
// called concurrently.
type Approvals struct {
	mu   sync.Mutex // guards what follows
	of   map[[sha256.Size]byte]*entry
	byID map[string]*entry
}

type entry struct {
	ApprovalRequest
	id      string
	until   time.Time
	allowed bool // once
}

// Ask returns the id under which a person is asked about a call, the same one for the same
// call; "" where the arguments are too long or too many calls wait.
func (t *Approvals) Ask(now time.Time, r ApprovalRequest) (id string) {
	if len(r.Arguments) > MaxArguments || r.Principal == "" {
		return ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.expire(now)
	digest := r.digest()
	if e := t.of[digest]; e != nil {
		e.until = now.Add(TTL)
		return e.id
	}
	others := 0
	for _, e := range t.of {
		if e.Principal == r.Principal {
			others++
		}
	}
	if len(t.of) >= maxRequests || others >= maxPerPrincipal {
		return ""
	}
	if t.of == nil {
		t.of, t.byID = map[[sha256.Size]byte]*entry{}, map[string]*entry{}
	}
	r.Arguments, r.IDs = slices.Clone(r.Arguments), slices.Clone(r.IDs)
	e := &entry{ApprovalRequest: r, id: rand.Text(), until: now.Add(TTL)}
	t.of[digest], t.byID[e.id] = e, e
	return e.id
}

// Find returns the call with an id that waits for a person's answer. One of another
// principal is not found.
func (t *Approvals) Find(now time.Time, id, principal string) (ApprovalRequest, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.expire(now)
	e := t.byID[id]
	if e == nil || e.Principal != principal || e.allowed {
		return ApprovalRequest{}, false
	}
	return e.ApprovalRequest, true
}

// Answer takes a person's answer to what [Approvals.Find] has found, and reports whether the
// call was still waiting for it.
func (t *Approvals) Answer(now time.Time, id, principal string, yes bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.expire(now)
	e := t.byID[id]
	switch {
	case e == nil || e.Principal != principal || e.allowed:
		return false
	case yes:
		e.allowed, e.until = true, now.Add(TTL)
	default:
		t.remove(e)
	}
	return true
}

// Take reports whether a call was allowed, which counts for one call.
func (t *Approvals) Take(now time.Time, r ApprovalRequest) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.expire(now)
	if len(t.of) == 0 {
		return false
	}
	e := t.of[r.digest()]
	if e == nil || !e.allowed {
		return false
	}
	t.remove(e)
	return true
}

func (t *Approvals) expire(now time.Time) {
	for _, e := range t.of {
		if !now.Before(e.until) {
			t.remove(e)
		}
	}
}

func (t *Approvals) remove(e *entry) {
	delete(t.of, e.digest())
	delete(t.byID, e.id)
}
