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

// vectorSaturation is saturation for what a document means: the words of a name do not
// drown those of its description.
const vectorSaturation = 1.5

// leadWords is how many words of a description its first sentence may have.
const leadWords = 30

// segment is the index of the documents of one group. It does not change.
type segment struct {
	group   string
	compact string
	docs    []entry
	terms   map[string][]posting // by stem
	// vectors are what the documents mean, by number, and all of them together; nil for
	// unknown.
	vectors []vector
	all     vector
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

// known is what is known of a word: its vector is nil for none.
type known struct {
	stem   string
	vector *vector
}

// newSegment returns the index of a group. withVectors says that what documents mean counts.
func newSegment(group string, docs []Doc, withVectors bool) *segment {
	s := &segment{group: group, compact: compact(group), docs: make([]entry, len(docs)), terms: map[string][]posting{}}
	words := map[string]known{}
	groupWords := Split(group)
	for i, d := range docs {
		s.docs[i] = entry{d.Name, compact(d.Name)}
		lead, rest := cutLead(Split(d.Text), d.Text)
		weights, byWord := map[string]float32{}, map[string]float32{}
		var order []string // of the words, so that sums are the same each time
		for field, text := range [fields][]string{groupWords, Split(d.Name), lead, rest, Split(d.Params)} {
			f := fieldOf[field]
			each := f.weight / (1 - f.length + f.length*float32(len(text))/f.average)
			for _, w := range text {
				k, ok := words[w]
				if !ok {
					k = known{stem: stem(w)}
					if withVectors {
						k.vector = vectorOf(w)
					}
					words[w] = k
				}
				weights[k.stem] += each
				if byWord[w] == 0 {
					order = append(order, w)
				}
				byWord[w] += each
			}
		}
		for st, w := range weights {
			s.terms[st] = append(s.terms[st], posting{int32(i), w})
		}
		if withVectors {
			var v vector
			for _, word := range order {
				if of := words[word].vector; of != nil {
					w := byWord[word]
					v.add(of, w/(w+vectorSaturation))
				}
			}
			s.vectors = append(s.vectors, v.direction())
			s.all.add(&s.vectors[i], 1)
		}
	}
	s.all = s.all.direction()
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
