package search

import "cmp"

// heap are documents of a snapshot, which it gives best first. Few are wanted of many, so
// they are not sorted.
type heap struct {
	now *snapshot
	of  []ranked
}

// ranked is a document by the numbers of its segment and in it.
type ranked struct {
	score        float64
	named        bool
	segment, doc int32
}

// best yields the documents, best first, and among equal ones by group and name. It can be
// ranged over once.
func (h *heap) best(yield func(Found) bool) {
	for i := len(h.of)/2 - 1; i >= 0; i-- {
		h.sink(i)
	}
	for len(h.of) > 0 {
		top := h.of[0]
		s := h.now.segments[top.segment]
		if !yield(Found{Group: s.group, Name: s.docs[top.doc].name, Named: top.named, Score: top.score}) {
			return
		}
		last := len(h.of) - 1
		h.of[0] = h.of[last]
		h.of = h.of[:last]
		h.sink(0)
	}
}

// sink moves a document down to its place.
func (h *heap) sink(i int) {
	for {
		child := 2*i + 1
		if child+1 < len(h.of) && h.before(child+1, child) {
			child++
		}
		if child >= len(h.of) || !h.before(child, i) {
			return
		}
		h.of[i], h.of[child] = h.of[child], h.of[i]
		i = child
	}
}

func (h *heap) before(i, k int) bool {
	a, b := h.of[i], h.of[k]
	if a.named != b.named {
		return a.named
	}
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.segment, b.segment), cmp.Compare(a.doc, b.doc)) < 0
}
