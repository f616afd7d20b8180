package search

import "strings"

// Fields of a document. A word counts more in a short field than in a long one, and what a
// description begins with more than the rest.
const (
	fieldGroup = iota
	fieldName
	fieldLead // the title and the first sentence of the description
	fieldText
	fieldParams
	fields
)

// fieldOf says what a word counts in each field, how long the field is on the average, in
// words, and how much its length counts. The lengths are constants, so that a segment does
// not depend on others.
var fieldOf = [fields]struct{ weight, average, length float32 }{ //nolint:gochecknoglobals // constant
	fieldGroup:  {4, 2, 0},
	fieldName:   {4, 3, 0.4},
	fieldLead:   {3, 10, 0.5},
	fieldText:   {1, 40, 0.6},
	fieldParams: {1, 6, 0.7},
}

// leadWords is how many words of a description its first sentence may have.
const leadWords = 30

// segment is the index of the documents of one group. It does not change.
type segment struct {
	group   string
	compact string
	docs    []entry
	terms   map[string][]posting // by stem
}

type entry struct {
	name    string
	compact string // see compact
}

// posting says that a document has a word, and how much it has of it.
type posting struct {
	doc    int32
	weight float32
}

func newSegment(group string, docs []Doc) *segment {
	s := &segment{group: group, compact: compact(group), docs: make([]entry, len(docs)), terms: map[string][]posting{}}
	known := map[string]string{} // stems of words
	groupWords := Split(group)
	for i, d := range docs {
		s.docs[i] = entry{d.Name, compact(d.Name)}
		lead, rest := cutLead(Split(d.Text), d.Text)
		weights := map[string]float32{}
		for field, words := range [fields][]string{groupWords, Split(d.Name), lead, rest, Split(d.Params)} {
			f := fieldOf[field]
			each := f.weight / (1 - f.length + f.length*float32(len(words))/f.average)
			for _, w := range words {
				st, ok := known[w]
				if !ok {
					st = stem(w)
					known[w] = st
				}
				weights[st] += each
			}
		}
		for st, w := range weights {
			s.terms[st] = append(s.terms[st], posting{int32(i), w})
		}
	}
	return s
}

// cutLead divides the words of a text behind its first sentence.
func cutLead(words []string, text string) (lead, rest []string) {
	end := len(text)
	for _, mark := range []string{". ", ".\n", "\n", "。", "; "} {
		if i := strings.Index(text, mark); i >= 0 && strings.TrimSpace(text[:i]) != "" {
			end = min(end, i)
		}
	}
	n := min(len(words), leadWords, len(Split(text[:end])))
	return words[:n], words[n:]
}

// compact returns the letters and digits of a name in lower case: what is left of it
// whatever separates its words.
func compact(name string) string {
	return strings.Map(func(r rune) rune {
		if classOf(r) == other {
			return -1
		}
		return r
	}, strings.ToLower(name))
}
