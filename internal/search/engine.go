package search

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// Engine ranks the tools of servers, or other named documents in groups, in memory. There
// is one for all who search: what somebody may not see is left out of what is found. A
// search never fails: of what is not indexed yet, names are searched for the words as they
// are.
// Its zero value is empty, with no vocabulary, and ready. It is safe for concurrent use.
// Searches rank on half of the processors at most, of all engines together.
type Engine struct {
	// Vocabulary says which words mean nearly the same; nil is none. It is set before
	// the first Build.
	Vocabulary *Vocabulary
	// Meanings ranks documents by what they mean, beside their words; nil is by words
	// alone. It is set before the first Build.
	Meanings Meanings

	mu sync.Mutex // guards what follows
	// now is what is indexed; nil is nothing.
	now *snapshot
	// waiting are the groups that are not indexed yet.
	waiting map[string][]Doc
	// idle is closed when nothing is waiting; nil if nothing ever was.
	idle chan struct{}
}

// Meanings ranks documents by what their texts mean. It may be called concurrently.
type Meanings interface {
	// Learn puts documents in the place of those of a group. It returns at once.
	Learn(group string, docs []Doc)
	// Nearest returns documents, those nearest in meaning to a text first. It returns
	// nil if that is not known, or not in a short time.
	Nearest(ctx context.Context, text string) []Found
}

// snapshot is what is indexed at one time. It does not change.
type snapshot struct {
	segments []*segment // by group
	first    []int32    // the number of each segment's first document
	docs     int
}

func newSnapshot(segments []*segment) *snapshot {
	s := &snapshot{segments: segments, first: make([]int32, len(segments))}
	for i, seg := range segments {
		s.first[i] = int32(s.docs) //nolint:gosec // no machine has so many tools
		s.docs += len(seg.docs)
	}
	return s
}

// Query is one search.
type Query struct {
	// Phrasings say in words what is looked for, each in another way. What one of them
	// finds counts, what several find counts more.
	Phrasings []string
	// Limit is how many documents are returned at most; 0 is all that match. Those whose
	// name is in the query are returned beyond it.
	Limit int
}

// Found is a document that was found.
type Found struct {
	Group, Name string
	// Named says that its name is in the query.
	Named bool
	// Score is greater for a better match. Scores of two searches cannot be compared.
	Score float64
}

// places bounds the searches that rank at one time, so that processors are left for others.
var places = make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)) //nolint:gochecknoglobals // there is one machine

// patience is how long a search waits for what is not indexed yet.
const patience = 500 * time.Millisecond

// Build puts the documents of a group in the place of those that are there. It returns at
// once; the work is done in the background. Until it is done, searches know the new
// documents by their names only.
func (e *Engine) Build(group string, docs []Doc) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.remove(group)
	if len(docs) == 0 {
		delete(e.waiting, group)
		if e.Meanings != nil {
			e.Meanings.Learn(group, nil)
		}
		return
	}
	if e.waiting == nil {
		e.waiting = map[string][]Doc{}
	}
	idle := len(e.waiting) == 0 && !e.working()
	e.waiting[group] = docs
	if idle {
		e.idle = make(chan struct{})
		go e.work(e.idle) // ends when nothing is waiting
	}
}

// working reports whether a goroutine is at work. e.mu is held.
func (e *Engine) working() bool {
	if e.idle == nil {
		return false
	}
	select {
	case <-e.idle:
		return false
	default:
		return true
	}
}

// Drop removes the documents of a group. No search that begins after it finds them.
func (e *Engine) Drop(group string) { e.Build(group, nil) }

// work indexes what is waiting, one group after the other.
func (e *Engine) work(idle chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(e.waiting) > 0 {
		for group, docs := range e.waiting {
			e.mu.Unlock()
			read := readDefinitions(docs)
			s := newSegment(group, read, e.Vocabulary.withVectors())
			e.mu.Lock()
			// In the meantime the group may have been replaced or dropped.
			if waiting := e.waiting[group]; len(waiting) > 0 && &waiting[0] == &docs[0] {
				delete(e.waiting, group)
				if e.Meanings != nil {
					e.Meanings.Learn(group, read)
				}
				e.add(s)
			}
		}
	}
	close(idle)
}

// readDefinitions returns documents with all that is searched of them.
func readDefinitions(docs []Doc) []Doc {
	out := slices.Clone(docs)
	for i, d := range out {
		if d.Definition == nil {
			continue
		}
		if read, ok := OfTool(d.Group, d.Definition); ok {
			out[i] = read
		}
	}
	return out
}

// remove publishes a snapshot without a group. e.mu is held.
func (e *Engine) remove(group string) {
	old := e.now
	if old == nil {
		return
	}
	if i, ok := old.find(group); ok {
		e.now = newSnapshot(slices.Concat(old.segments[:i], old.segments[i+1:]))
	}
}

// add publishes a snapshot with a group that is not in the last. e.mu is held.
func (e *Engine) add(s *segment) {
	old := e.now
	if old == nil {
		old = &snapshot{}
	}
	i, _ := old.find(s.group)
	e.now = newSnapshot(slices.Insert(slices.Clone(old.segments), i, s))
}

func (s *snapshot) find(group string) (int, bool) {
	return slices.BinarySearchFunc(s.segments, group, func(s *segment, g string) int { return strings.Compare(s.group, g) })
}

// Search returns the documents that match best, best first; those that are named in the
// query before all others. keep says which documents count; nil is all. It is asked for
// what has been found, before the limit counts. A search waits half a second at most for
// what is not indexed yet, and not longer than ctx.
func (e *Engine) Search(ctx context.Context, q Query, keep func(group, name string) bool) []Found {
	now, waiting := e.wait(ctx)
	r := &ranking{now: now, vocabulary: e.Vocabulary}
	if r.vocabulary == nil {
		r.vocabulary = &Vocabulary{}
	}
	if keep == nil {
		keep = func(string, string) bool { return true }
	}
	most := q.Limit
	if most <= 0 {
		most = math.MaxInt
	}
	near := e.nearest(ctx, q.Phrasings)
	select {
	case places <- struct{}{}:
		defer func() { <-places }()
	case <-ctx.Done(): // it is answered all the same
	}
	if len(q.Phrasings) == 1 && len(near) == 0 {
		return first(r.search(q.Phrasings[0]), plain(waiting, q.Phrasings[0]), keep, most)
	}
	var lists [][]Found
	for _, text := range q.Phrasings {
		lists = append(lists, first(r.search(text), plain(waiting, text), keep, depth))
	}
	for _, list := range near {
		lists = append(lists, first(r.now.among(list), nil, keep, depth))
	}
	found := fuse(lists)
	named := 0
	for named < len(found) && found[named].Named {
		named++
	}
	return found[:min(len(found), max(most, named))]
}

// nearest returns a list for each phrasing whose meaning is known. They are asked for all
// at once, since each may have to wait.
func (e *Engine) nearest(ctx context.Context, phrasings []string) (lists [][]Found) {
	if e.Meanings == nil {
		return nil
	}
	lists = make([][]Found, len(phrasings))
	var all sync.WaitGroup
	for i, text := range phrasings {
		all.Go(func() { lists[i] = e.Meanings.Nearest(ctx, text) })
	}
	all.Wait()
	return slices.DeleteFunc(lists, func(l []Found) bool { return len(l) == 0 })
}

// among yields those of a list that are indexed: the others have been removed, or are not
// there yet.
func (s *snapshot) among(list []Found) iter.Seq[Found] {
	return func(yield func(Found) bool) {
		for _, f := range list {
			i, ok := s.find(f.Group)
			if ok && slices.ContainsFunc(s.segments[i].docs, func(d entry) bool { return d.name == f.Name }) && !yield(f) {
				return
			}
		}
	}
}

// first returns the documents at the beginning of two lists that count: most of them, and
// more if they are named.
func first(ranked iter.Seq[Found], plain []Found, keep func(group, name string) bool, most int) (out []Found) {
	for _, list := range []iter.Seq[Found]{ranked, slices.Values(plain)} {
		for f := range list {
			if len(out) >= most && !f.Named {
				break
			}
			if keep(f.Group, f.Name) {
				out = append(out, f)
			}
		}
	}
	return out
}

// Wait waits until all is indexed, or ctx is done.
func (e *Engine) Wait(ctx context.Context) {
	e.mu.Lock()
	idle := e.idle
	working := e.working()
	e.mu.Unlock()
	if working {
		select {
		case <-idle:
		case <-ctx.Done():
		}
	}
}

// wait waits for a while until all is indexed, and returns what is and what is not: both of
// one time, so that nothing is in both.
func (e *Engine) wait(ctx context.Context) (*snapshot, map[string][]Doc) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	e.Wait(ctx)
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.now
	if now == nil {
		now = &snapshot{}
	}
	return now, maps.Clone(e.waiting)
}

// plain returns the documents that have a word of a text in their name.
func plain(groups map[string][]Doc, text string) (found []Found) {
	words := Words(text)
	for group, docs := range groups {
		for _, d := range docs {
			name, n := strings.ToLower(d.Name), 0
			for _, w := range words {
				if strings.Contains(name, w) {
					n++
				}
			}
			if n > 0 {
				found = append(found, Found{Group: group, Name: d.Name, Named: compact(text) == compact(d.Name), Score: float64(n)})
			}
		}
	}
	slices.SortFunc(found, Better)
	return found
}

// Better orders documents, the best first.
func Better(a, b Found) int {
	if a.Named != b.Named {
		if a.Named {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.Group, b.Group), strings.Compare(a.Name, b.Name))
}

// depth is how many documents of a phrasing count if there are several, and steepness how
// little the first rank is worth more than the second (reciprocal rank fusion).
const (
	depth     = 200
	steepness = 20
)

// fuse makes one list of several by rank, since scores of two searches cannot be compared.
func fuse(lists [][]Found) []Found {
	at := map[[2]string]*Found{}
	for _, list := range lists {
		for rank, f := range list {
			id := [2]string{f.Group, f.Name}
			if at[id] == nil {
				at[id] = &Found{Group: f.Group, Name: f.Name}
			}
			at[id].Named = at[id].Named || f.Named
			at[id].Score += 1 / float64(steepness+rank+1)
		}
	}
	out := make([]Found, 0, len(at))
	for _, f := range at {
		out = append(out, *f)
	}
	slices.SortFunc(out, Better)
	return out
}

// idf is how much a word says that so many documents have.
func (s *snapshot) idf(docs int) float64 {
	return math.Log(1 + (float64(s.docs)-float64(docs)+0.5)/(float64(docs)+0.5))
}
