package search

import (
	_ "embed"
	"math"
	"strings"
	"sync"
)

// vectorsData are the words that have a vector, sorted, on one line, and behind it the vectors:
// a byte for the length of each, and four bits for each of its numbers. See
// test/tools/vectors.py, which makes it from the model all-MiniLM-L6-v2 (Apache-2.0), WordNet
// 3.0 (its licence is in wordnet.txt) and the words of GloVe (public domain).
//
//go:embed vectors.bin
var vectorsData string

const (
	dimensions = 96
	vectorSize = 1 + dimensions/2
	// nibble is the number that four bits of zero stand for, negated.
	nibble = 8
)

// vector is what a word or a text means: those of words that occur in texts about the same
// have nearly one direction. Its length is how much a word says.
type vector [dimensions]float32

// vectors are those of words.
type vectors struct {
	words string
	start []int32 // of each word
	of    string
}

var wordVectors = sync.OnceValue(func() *vectors { //nolint:gochecknoglobals // made once, never changed
	v := &vectors{}
	v.words, v.of, _ = strings.Cut(vectorsData, "\n")
	for at := 0; at < len(v.words); at++ {
		v.start = append(v.start, int32(at))
		n := strings.IndexByte(v.words[at:], ' ')
		if n < 0 {
			break
		}
		at += n
	}
	return v
})

// find returns the number of a word.
func (v *vectors) find(word string) (int, bool) {
	from, to := 0, len(v.start)
	for from < to {
		middle := (from + to) / 2
		known, _, _ := strings.Cut(v.words[v.start[middle]:], " ")
		switch {
		case known == word:
			return middle, true
		case known < word:
			from = middle + 1
		default:
			to = middle
		}
	}
	return 0, false
}

// vectorOf returns what a word means, nil for unknown.
func vectorOf(word string) *vector {
	all := wordVectors()
	n, ok := all.find(word)
	if !ok {
		return nil
	}
	raw := all.of[n*vectorSize:][:vectorSize]
	var v, out vector
	for i := range dimensions / 2 {
		pair := raw[1+i]
		v[2*i], v[2*i+1] = float32(pair>>4)-nibble, float32(pair&(1<<4-1))-nibble
	}
	out.add(&v, float32(raw[0])/v.length())
	return &out
}

// add adds another vector, many times longer.
func (v *vector) add(o *vector, times float32) {
	for i, f := range o {
		v[i] += f * times
	}
}

func (v *vector) dot(o *vector) (sum float32) {
	for i, f := range v {
		sum += f * o[i]
	}
	return sum
}

func (v *vector) length() float32 { return float32(math.Sqrt(float64(v.dot(v)))) }

// direction returns the vector in the length one, or nothing for nothing.
func (v *vector) direction() vector {
	out := *v
	if length := v.length(); length > 0 {
		for i := range out {
			out[i] /= length
		}
	}
	return out
}

// directionOf returns the direction of a text: nothing if no word of it is known.
func directionOf(words []string) vector {
	var v vector
	for _, w := range words {
		if of := vectorOf(w); of != nil {
			v.add(of, 1)
		}
	}
	return v.direction()
}
