package gate

import (
	"container/list"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// Forget is after how long without a request a conversation is forgotten, where the
	// configuration does not say.
	Forget = time.Hour

	// maxOwn bounds the conversations of one owner that have labels. While so many are known,
	// others of this owner begin with all labels; nothing that denies is forgotten early.
	maxOwn = 10_000
	// maxFlows is the same for those of all owners.
	maxFlows = 200_000
	// maxLabels and maxYes bound what is remembered of each. One with more labels has all
	// labels; further questions are asked each time.
	maxLabels = 16
	maxYes    = 16
	// maxKey bounds a key, in bytes: clients choose parts of it.
	maxKey = 128
)

// FlowKey returns the name of a conversation, of what tells it apart: the principal's ID, and
// the session or what else there is. No parts are nobody's in particular.
func FlowKey(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(strconv.Itoa(len(p)) + ":" + p)
	}
	if b.Len() <= maxKey {
		return b.String()
	}
	sum := sha256.Sum256([]byte(b.String()))
	return "#" + hex.EncodeToString(sum[:])
}

// Flows has conversations, by their keys. The zero value is not ready: see New. All
// methods may be called concurrently.
type Flows struct {
	mu     sync.Mutex // guards what follows
	forget time.Duration
	flows  map[string]*list.Element // of *conversation
	recent *list.List               // the one with the latest request first
	all    []string                 // every label that a conversation was ever to have
	lost   time.Time                // when there was last no room for one
	owners map[string]*owner
}

// owner is whoever has conversations, until those are forgotten.
type owner struct {
	flows int
	lost  time.Time // when there was last no room for one more of theirs
}

type conversation struct {
	key, owner string
	last       time.Time
	// labels are replaced, never changed: readers hold them.
	labels   []string
	overfull bool // has more labels
	yes      []string
}

// NewFlows returns an empty table. forget is after how long without a request a conversation
// is forgotten; 0 is [Forget].
func NewFlows(forget time.Duration) *Flows {
	t := &Flows{flows: map[string]*list.Element{}, recent: list.New(), owners: map[string]*owner{}}
	t.SetForget(forget)
	return t
}

// SetForget changes after how long conversations are forgotten.
func (t *Flows) SetForget(forget time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.forget = forget; forget == 0 {
		t.forget = Forget
	}
}

// Seen returns the labels of a conversation that has a request now. They must not be
// changed. In this method and the others, principal is whose share of the table the
// conversation takes.
func (t *Flows) Seen(now time.Time, principal, key string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.find(now, key)
	if c == nil && (t.full(principal) || t.losing(now, principal)) {
		if c = t.begin(now, principal, key); c == nil {
			return t.all
		}
	}
	switch {
	case c == nil:
		return nil
	case c.overfull:
		return t.all
	}
	return c.labels
}

// full reports whether there is no room for one more conversation of an owner. The caller
// holds the lock.
func (t *Flows) full(principal string) bool {
	o := t.owners[principal]
	return len(t.flows) >= maxFlows || o != nil && o.flows >= maxOwn
}

// losing reports whether a conversation that is not known may be one that there was no
// room for. The caller holds the lock.
func (t *Flows) losing(now time.Time, principal string) bool {
	recently := func(lost time.Time) bool { return !lost.IsZero() && now.Sub(lost) < t.forget }
	o := t.owners[principal]
	return recently(t.lost) || o != nil && recently(o.lost)
}

// Add adds labels to a conversation.
func (t *Flows) Add(now time.Time, principal, key string, labels []string) {
	if len(labels) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = union(t.all, labels)
	c := t.find(now, key)
	if c == nil {
		if c = t.begin(now, principal, key); c == nil {
			return // see lost
		}
	}
	if more := union(c.labels, labels); len(more) <= maxLabels {
		c.labels = more
	} else {
		c.overfull = true
	}
}

// Agree notes that a person has said yes to a question for the rest of a conversation.
func (t *Flows) Agree(now time.Time, principal, key, question string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.find(now, key)
	if c == nil {
		c = t.begin(now, principal, key)
	}
	if c != nil && len(c.yes) < maxYes && !slices.Contains(c.yes, question) {
		c.yes = append(c.yes, question)
	}
}

// Agreed reports whether a person has said yes to a question in a conversation.
func (t *Flows) Agreed(now time.Time, key, question string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.find(now, key)
	return c != nil && slices.Contains(c.yes, question)
}

// find returns a conversation that has a request now, nil where none is known. The caller
// holds the lock.
func (t *Flows) find(now time.Time, key string) *conversation {
	for e := t.recent.Back(); e != nil; e = t.recent.Back() {
		c := of(e)
		if now.Sub(c.last) < t.forget {
			break
		}
		t.recent.Remove(e)
		delete(t.flows, c.key)
		if o := t.owners[c.owner]; o.flows > 1 || now.Sub(o.lost) < t.forget {
			o.flows--
		} else {
			delete(t.owners, c.owner)
		}
	}
	e := t.flows[key]
	if e == nil {
		return nil
	}
	c := of(e)
	c.last = now
	t.recent.MoveToFront(e)
	return c
}

// begin returns a new conversation, nil where there are too many. The caller holds the
// lock, and has not found it.
func (t *Flows) begin(now time.Time, principal, key string) *conversation {
	o := t.owners[principal]
	switch {
	case o != nil && o.flows >= maxOwn:
		o.lost = now
		return nil
	case len(t.flows) >= maxFlows:
		t.lost = now
		return nil
	case o == nil:
		o = &owner{}
		t.owners[principal] = o
	}
	o.flows++
	c := &conversation{key: key, owner: principal, last: now, overfull: t.losing(now, principal)}
	t.flows[key] = t.recent.PushFront(c)
	return c
}

func of(e *list.Element) *conversation {
	c, _ := e.Value.(*conversation) // there is nothing else
	return c
}

// union returns the labels of both, sorted; the first where it has the others.
func union(have, more []string) []string {
	out := have
	for _, label := range more {
		if i, found := slices.BinarySearch(out, label); !found {
			out = slices.Insert(slices.Clip(slices.Clone(out)), i, label)
		}
	}
	return out
}
