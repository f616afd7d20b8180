package search

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
)

var (
	//go:embed vocabulary.txt
	vocabularyText string
	//go:embed wordnet.txt
	wordnetText string
)

// What a word of a group counts in the place of another: WordNet's are of all subjects, the
// others of those that tools are about.
const (
	ofVocabulary = 0.5
	ofWordNet    = 0.4
)

// Vocabulary says which words mean nearly the same. Its zero value knows none. It does not
// change and is safe for concurrent use.
type Vocabulary struct {
	groups []group
	// vectors says that what words mean counts, too.
	vectors bool
	// of leads from the first word of a term to the groups that have it, by stem.
	of map[string][]int
}

// group are terms that may stand for one another.
type group struct {
	terms []term
	count float32 // what one counts in the place of another
}

// term is one word or several that stand one after another, each by its stem.
type term []string

// Default returns the vocabulary that is built in.
var Default = sync.OnceValue(func() *Vocabulary { //nolint:gochecknoglobals // made once, never changed
	v := &Vocabulary{of: map[string][]int{}, vectors: true}
	for text, count := range map[string]float32{vocabularyText: ofVocabulary, wordnetText: ofWordNet} {
		if err := v.add(text, count); err != nil {
			panic(err) // a test reads the same texts
		}
	}
	return v
})

// With returns a vocabulary that has the groups of a text, too: one group of words a line,
// with underscores between the words of one term. What stands behind # is a comment.
func (v *Vocabulary) With(text string) (*Vocabulary, error) {
	out := &Vocabulary{groups: slices.Clip(v.groups), of: map[string][]int{}, vectors: v.vectors}
	for first, groups := range v.of {
		out.of[first] = slices.Clip(groups)
	}
	return out, out.add(text, ofVocabulary)
}

// withVectors reports whether what words mean counts. v may be nil.
func (v *Vocabulary) withVectors() bool { return v != nil && v.vectors }

func (v *Vocabulary) add(text string, count float32) error {
	number := 0
	for line := range strings.Lines(text) {
		number++
		line, _, _ = strings.Cut(line, "#")
		g := group{count: count}
		for member := range strings.FieldsSeq(line) {
			if t := stems(Split(strings.ReplaceAll(member, "_", " "))); len(t) > 0 {
				g.terms = append(g.terms, t)
			}
		}
		if len(g.terms) == 1 {
			return fmt.Errorf("vocabulary, line %d: one word is no group", number)
		}
		for _, t := range g.terms {
			if !slices.Contains(v.of[t[0]], len(v.groups)) {
				v.of[t[0]] = append(v.of[t[0]], len(v.groups))
			}
		}
		if len(g.terms) > 0 {
			v.groups = append(v.groups, g)
		}
	}
	return nil
}

// forms returns the longest term at the beginning of some words with all that may stand for
// it. A word that no group has stands alone.
func (v *Vocabulary) forms(words []string) []form {
	out, length := []form{{words[:1], 1}}, 0
	for _, g := range v.of[words[0]] {
		for _, t := range v.groups[g].terms {
			if len(t) < length || len(t) > len(words) || !slices.Equal(t, term(words[:len(t)])) {
				continue
			}
			if len(t) > length {
				out, length = []form{{t, 1}}, len(t)
			}
			for _, other := range v.groups[g].terms {
				out = with(out, form{other, v.groups[g].count})
			}
		}
	}
	return out
}

const (
	// shared is how many letters two words must have in common to be kin.
	shared = 4
	// ofKin is what a word of the same family counts in the place of another.
	ofKin = 0.4
)

// kin returns the words that have most letters of a word at its beginning (short for
// shortest) or at its end (karte for Landkarte), and what may stand for these.
func (v *Vocabulary) kin(word string) (out []form) {
	best := shared
	for known := range v.of {
		n := 0
		for n < min(len(word), len(known)) && word[n] == known[n] {
			n++
		}
		switch {
		case strings.HasSuffix(word, known):
			n = len(known)
		case n < len(known)-2 || n < len(word)*3/5:
			n = 0
		}
		if n > best {
			best, out = n, nil
		}
		if n >= best {
			out = append(out, form{term{known}, ofKin})
		}
	}
	for _, f := range out {
		for _, other := range v.forms(f.term)[1:] {
			out = with(out, form{other.term, other.count * ofKin})
		}
	}
	return out
}

// with returns forms with one more. A term that is there counts as the greater of both.
func with(forms []form, f form) []form {
	for i := range forms {
		if slices.Equal(forms[i].term, f.term) {
			forms[i].count = max(forms[i].count, f.count)
			return forms
		}
	}
	return append(forms, f)
}

func stems(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = stem(w)
	}
	return out
}
