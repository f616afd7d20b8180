package finder

import (
	"bytes"
	"container/list"
	"crypto/rand"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/internal/access/gate"
	"github.com/mcpctl/mcpctl/internal/results"
	"github.com/mcpctl/mcpctl/internal/views"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// Bounds of what is kept, in bytes, and for how long.
const (
	MaxAll = 64 << 20
	MaxOne = 8 << 20
	TTL    = 15 * time.Minute

	overhead = 1 << 10 // what a result takes beside its texts, about
)

// resultScheme begins the URI of a result.
const resultScheme = "mcpctl+result://"

// ResultURI returns that of a result.
func ResultURI(id string) string { return resultScheme + id }

// ResultID returns the id in the URI of a result, false for another URI.
func ResultID(uri string) (string, bool) { return strings.CutPrefix(uri, resultScheme) }

// ResultOwner is whose a result is: nobody else reads it. A view that is configured again is another
// one.
type ResultOwner struct {
	Who  string // the key of the principal
	View *views.View
}

// StoredResult is a result that is kept. What is exported of it is immutable.
type StoredResult struct {
	ID    string
	Owner ResultOwner
	Texts results.Texts
	Most  int // how many tokens a page may be
	// Server and Tool are where it comes from: who may not use that any more does not read it.
	Server *upstream.Backend
	Tool   string
	// Call is the call as policies have read it, nil where that is not known, as of a task.
	Call *gate.Use
	// Task is the task that has come to it, "" for none. Of a task one result is kept.
	Task string

	until time.Time // guarded by the store
}

// ResultCache keeps results. The zero value is ready, and all methods may be called
// concurrently. No other lock is taken under its own.
type ResultCache struct {
	mu    sync.Mutex // guards what follows
	of    map[string]*list.Element
	tasks map[taskLife]*list.Element
	all   list.List // of *Result, the oldest first
	size  int
	held  map[string]int // bytes, by Owner.Who
	timer *time.Timer    // drops what is too old; nil where nothing is kept
}

// task is a task of an owner.
type taskLife struct {
	owner ResultOwner
	id    string
}

// Put keeps a result and gives it its id. False is for one that is too long. Where there is no
// room, the oldest ones of the principal who has the most leave. What a task has come to keeps its id, for another TTL; if that
// has changed, the former leaves.
func (s *ResultCache) Put(r StoredResult) (id string, ok bool) {
	size := r.size()
	if size > MaxOne {
		return "", false
	}
	r.ID, r.until = strings.ToLower(rand.Text()), time.Now().Add(TTL)
	of := taskLife{r.Owner, r.Task}
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.tasks[of]; e != nil {
		if before := resultIn(e); slices.EqualFunc(before.Texts, r.Texts, bytes.Equal) {
			before.until = r.until
			s.all.MoveToBack(e)
			return before.ID, true
		}
		s.drop(e)
	}
	if s.of == nil {
		s.of, s.tasks, s.held = map[string]*list.Element{}, map[taskLife]*list.Element{}, map[string]int{}
	}
	for s.size+size > MaxAll {
		s.drop(s.oldest(limits.Payer(s.held, r.Owner.Who)))
	}
	s.held[r.Owner.Who] += size
	s.of[r.ID] = s.all.PushBack(&r)
	if r.Task != "" {
		s.tasks[of] = s.of[r.ID]
	}
	s.size += size
	if s.timer == nil {
		s.timer = time.AfterFunc(TTL, s.expire)
	}
	return r.ID, true
}

func (r *StoredResult) size() int {
	n := r.Texts.Size() + overhead*max(1, len(r.Texts)/8)
	if r.Call != nil {
		n += len(r.Call.Arguments)
	}
	return n
}

// Get returns a result of an owner, nil for one that is unknown, another's, or gone.
func (s *ResultCache) Get(o ResultOwner, id string) *StoredResult {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.of[id]
	if e == nil {
		return nil
	}
	r := resultIn(e)
	if r.Owner != o || !time.Now().Before(r.until) {
		return nil
	}
	return r
}

// Size returns how many bytes are kept.
func (s *ResultCache) Size() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size
}

func resultIn(e *list.Element) *StoredResult { return e.Value.(*StoredResult) } //nolint:forcetypeassert // it has nothing else

// oldest returns the oldest result of a principal who has one. The caller holds the lock.
func (s *ResultCache) oldest(principal string) *list.Element {
	e := s.all.Front()
	for resultIn(e).Owner.Who != principal {
		e = e.Next()
	}
	return e
}

// drop forgets a result. The caller holds the lock.
func (s *ResultCache) drop(e *list.Element) {
	r := resultIn(e)
	s.all.Remove(e)
	delete(s.of, r.ID)
	delete(s.tasks, taskLife{r.Owner, r.Task})
	n := r.size()
	s.size -= n
	if s.held[r.Owner.Who] -= n; s.held[r.Owner.Who] == 0 {
		delete(s.held, r.Owner.Who)
	}
}

// expire drops what is too old.
func (s *ResultCache) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for e := s.all.Front(); e != nil; e = s.all.Front() {
		if left := resultIn(e).until.Sub(now); left > 0 {
			s.timer.Reset(left)
			return
		}
		s.drop(e)
	}
	s.timer = nil
}

// Close forgets all.
func (s *ResultCache) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	s.of, s.tasks, s.held, s.size = nil, nil, nil, 0
	s.all.Init()
}
