package search

import "strings"

// stem returns what the forms of an English word have in common: connect for connected,
// connecting and connections. It is the algorithm of M. F. Porter, "An algorithm for suffix
// stripping", Program 14 (1980), by which FTS5 compares words, too. Words with other
// characters than a to z are returned as they are.
func stem(word string) string {
	if len(word) < 3 || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") != "" {
		return word
	}
	s := stemmer(word)
	s = s.plural().pastTense()
	if s.ends("y") && s[:len(s)-1].hasVowel() {
		s = s[:len(s)-1] + "i"
	}
	s = s.replace(secondSuffixes, 1).replace(thirdSuffixes, 1).cut()
	return string(s.last())
}

type stemmer string

func (s stemmer) ends(suffix string) bool { return strings.HasSuffix(string(s), suffix) }

// vowel reports whether a letter is one: y is behind a consonant.
func (s stemmer) vowel(i int) bool {
	switch s[i] {
	case 'a', 'e', 'i', 'o', 'u':
		return true
	case 'y':
		return i > 0 && !s.vowel(i-1)
	}
	return false
}

func (s stemmer) hasVowel() bool {
	for i := range len(s) {
		if s.vowel(i) {
			return true
		}
	}
	return false
}

// measure counts the runs of vowels that consonants follow.
func (s stemmer) measure() (m int) {
	for i := 1; i < len(s); i++ {
		if s.vowel(i-1) && !s.vowel(i) {
			m++
		}
	}
	return m
}

// double reports whether the last two letters are the same consonant.
func (s stemmer) double() bool {
	n := len(s)
	return n > 1 && s[n-1] == s[n-2] && !s.vowel(n-1)
}

// short reports whether the end is consonant, vowel, consonant, such as in hop.
func (s stemmer) short() bool {
	n := len(s)
	return n > 2 && !s.vowel(n-3) && s.vowel(n-2) && !s.vowel(n-1) && strings.IndexByte("wxy", s[n-1]) < 0
}

func (s stemmer) plural() stemmer {
	switch {
	case s.ends("sses"), s.ends("ies"):
		return s[:len(s)-2]
	case s.ends("s") && !s.ends("ss"):
		return s[:len(s)-1]
	}
	return s
}

func (s stemmer) pastTense() stemmer {
	if s.ends("eed") {
		if s[:len(s)-3].measure() > 0 {
			return s[:len(s)-1]
		}
		return s
	}
	for _, suffix := range []string{"ed", "ing"} {
		if !s.ends(suffix) {
			continue
		}
		t := s[:len(s)-len(suffix)]
		switch {
		case !t.hasVowel():
			return s
		case t.ends("at"), t.ends("bl"), t.ends("iz"), t.measure() == 1 && t.short():
			return t + "e"
		case t.double() && strings.IndexByte("lsz", t[len(t)-1]) < 0:
			return t[:len(t)-1]
		}
		return t
	}
	return s
}

// The suffixes of the second and the third step, and what stands in their place.
const (
	secondSuffixes = "ational:ate tional:tion enci:ence anci:ance izer:ize bli:ble alli:al entli:ent eli:e ousli:ous ization:ize ation:ate ator:ate" +
		" alism:al iveness:ive fulness:ful ousness:ous aliti:al iviti:ive biliti:ble logi:log"
	thirdSuffixes  = "icate:ic ative: alize:al iciti:ic ical:ic ful: ness:"
	fourthSuffixes = "al ance ence er ic able ible ant ement ment ent ou ism ate iti ous ive ize"
)

// replace puts the first suffix of a list that fits into other words.
func (s stemmer) replace(list string, least int) stemmer {
	for pair := range strings.FieldsSeq(list) {
		suffix, other, _ := strings.Cut(pair, ":")
		if s.ends(suffix) {
			if t := s[:len(s)-len(suffix)]; t.measure() >= least {
				return t + stemmer(other)
			}
			return s
		}
	}
	return s
}

// cut removes a suffix of the fourth step.
func (s stemmer) cut() stemmer {
	if t := s[:max(0, len(s)-3)]; s.ends("ion") && (t.ends("s") || t.ends("t")) && t.measure() > 1 {
		return t
	}
	for suffix := range strings.FieldsSeq(fourthSuffixes) {
		if s.ends(suffix) {
			if t := s[:len(s)-len(suffix)]; t.measure() > 1 {
				return t
			}
			return s
		}
	}
	return s
}

// last removes an e, and one of two l.
func (s stemmer) last() stemmer {
	if s.ends("e") {
		if t := s[:len(s)-1]; t.measure() > 1 || t.measure() == 1 && !t.short() {
			s = t
		}
	}
	if s.ends("ll") && s.measure() > 1 {
		s = s[:len(s)-1]
	}
	return s
}
