package search

import (
	"iter"
	"slices"
	"strings"
)

const (
	// maxWords bounds the words of a phrasing; further ones are not looked at.
	maxWords = 40
	// saturation is how little a word counts more that a document has more of (k1 of BM25).
	saturation = 3
)

// ranking ranks the documents of one snapshot.
type ranking struct {
	now        *snapshot
	vocabulary *Vocabulary
}

// form is a term that a query has, or one that may stand for it.
type form struct {
	term  term
	count float32 // 1 for the term itself
}

// search returns the documents that have a word of a text, or one that may stand for it,
// best first. Each word of the text counts by the best of its forms that a document has,
// and by how few documents have any of them; what a document has nothing of counts
// against it.
func (r *ranking) search(text string) iter.Seq[Found] {
	scores := make([]float64, r.now.docs)
	matched := make([]float64, r.now.docs) // what is known of it, by weight
	weights := make([]float32, r.now.docs) // of one word
	all := 0.0
	for _, forms := range r.concepts(text) {
		var with []int32
		for _, f := range forms {
			r.each(f.term, func(doc int32, w float32) {
				if weights[doc] == 0 {
					with = append(with, doc)
				}
				weights[doc] = max(weights[doc], w*f.count)
			})
		}
		idf := r.now.idf(len(with))
		all += idf
		for _, doc := range with {
			w := weights[doc]
			scores[doc] += idf * float64(w/(w+saturation))
			matched[doc] += idf * float64(min(1, w))
			weights[doc] = 0
		}
	}
	h := &heap{now: r.now}
	name, means := names(text), r.meaning(text)
	for i, s := range r.now.segments {
		near := means.of(s)
		for n, d := range s.docs {
			doc := r.now.first[i] + int32(n)
			score := near(n)
			if scores[doc] == 0 && score < leastMeaning {
				continue
			}
			score *= ofMeaning
			if scores[doc] > 0 {
				score += scores[doc] * matched[doc] / (all * all)
			}
			h.of = append(h.of, ranked{score, name.has(s.compact, d), int32(i), int32(n)})
		}
	}
	return h.best
}

const (
	// ofMeaning is what the meaning of a document counts beside its words, ofGroup what
	// the meaning of its group beside its own.
	ofMeaning, ofGroup = 0.3, 0.2
	// leastMeaning is how near a document must be that has no word of the query.
	leastMeaning = 0.25
)

// meaning is what a query means: nothing if no word of it is known.
type meaning struct{ vector }

func (r *ranking) meaning(text string) meaning {
	if !r.vocabulary.vectors {
		return meaning{}
	}
	return meaning{directionOf(r.words(text))}
}

// of returns how near the documents of a segment are to a query, by number: 0 for not at all.
func (m *meaning) of(s *segment) func(n int) float64 {
	if s.vectors == nil {
		return func(int) float64 { return 0 }
	}
	all := ofGroup * max(0, m.dot(&s.all))
	return func(n int) float64 { return float64(max(0, m.dot(&s.vectors[n])) + all) }
}

// each calls f for the documents that have all words of a term.
func (r *ranking) each(t term, f func(doc int32, weight float32)) {
	for i, s := range r.now.segments {
		for _, p := range s.terms[t[0]] {
			w := p.weight
			for _, word := range t[1:] {
				w = min(w, s.weight(word, p.doc))
			}
			if w > 0 {
				f(r.now.first[i]+p.doc, w)
			}
		}
	}
}

// weight returns what a document has of a word, 0 for nothing.
func (s *segment) weight(word string, doc int32) float32 {
	postings := s.terms[word]
	i, ok := slices.BinarySearchFunc(postings, doc, func(p posting, doc int32) int { return int(p.doc - doc) })
	if !ok {
		return 0
	}
	return postings[i].weight
}

// has reports whether any document has a word.
func (r *ranking) has(stem string) bool {
	return slices.ContainsFunc(r.now.segments, func(s *segment) bool { return len(s.terms[stem]) > 0 })
}

// concepts returns the terms of a text, each with what may stand for it.
func (r *ranking) concepts(text string) (out [][]form) {
	words := r.words(text)
	stem := stems(words)
	seen := map[string]bool{}
	add := func(forms []form) {
		if key := strings.Join(forms[0].term, " "); !seen[key] {
			seen[key] = true
			out = append(out, forms)
		}
	}
	for i := 0; i < len(words); {
		forms := r.vocabulary.forms(stem[i:])
		n := len(forms[0].term)
		if n > 1 || !isStopWord(words[i]) {
			if !slices.ContainsFunc(forms, func(f form) bool { return r.has(f.term[0]) }) {
				forms = append(forms, r.vocabulary.kin(words[i])...)
			}
			add(forms)
		}
		// Two words may be one in a name, such as in hackernews.
		if i+1 < len(words) {
			if joined := stems([]string{words[i] + words[i+1]}); r.has(joined[0]) {
				add([]form{{joined, 1}})
			}
		}
		i += n
	}
	if len(out) == 0 { // nothing but stop words
		for _, s := range stem {
			add([]form{{term{s}, 1}})
		}
	}
	return out
}

// words returns the words of a query in their order. A word such as GitHub or listIssues
// is taken apart only if no document has it as a whole.
func (r *ranking) words(text string) (words []string) {
	for _, word := range strings.FieldsFunc(text, func(c rune) bool { return classOf(c) == other }) {
		if whole := strings.ToLower(word); r.has(stem(whole)) {
			words = append(words, whole)
		} else if parts := Split(word); len(parts) > 1 && parts[0] == whole {
			words = append(words, parts[1:]...)
		} else {
			words = append(words, parts...)
		}
		if len(words) >= maxWords {
			return words[:maxWords]
		}
	}
	return words
}

func isStopWord(w string) bool { return strings.Contains(stopWords, " "+w+" ") }

// named are the names that a query may have: the whole of it, and each part of it that
// looks like a name of several words.
type named map[string]bool

func names(text string) named {
	out := named{compact(text): true}
	for part := range strings.FieldsSeq(text) {
		if len(Split(part)) > 1 {
			out[compact(part)] = true
		}
	}
	return out
}

// has reports whether a document is named: with its name alone, or behind that of its group.
func (n named) has(group string, d entry) bool {
	return n[d.compact] || n[group+d.compact]
}
