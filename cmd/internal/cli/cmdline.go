package cli

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// lineFlags are the flags that words may hold.
type lineFlags []*pflag.FlagSet

// linePiece is a part of a command line: one word, or a flag with its value.
type linePiece struct {
	at    int // index of the first word
	words []string
	// flag reports a dash, known that it is a flag of the sets.
	flag, known bool
}

// Pieces returns the parts of a command line up to "--", and the index of that, -1 for
// none.
func (s lineFlags) Pieces(words []string) (out []linePiece, dash int) {
	for i := 0; i < len(words); i++ {
		w := words[i]
		if w == "--" {
			return out, i
		}
		p := linePiece{at: i, words: words[i : i+1]}
		if len(w) > 1 && w[0] == '-' {
			takesNext := false
			p.flag = true
			if p.known, takesNext = s.flag(w); takesNext && i+1 < len(words) {
				i++
				p.words = words[p.at : i+1]
			}
		}
		out = append(out, p)
	}
	return out, -1
}

// flag reports whether a word with a dash is a known flag, and whether the next word
// is its value.
func (s lineFlags) flag(w string) (known, takesNext bool) {
	if name, long := strings.CutPrefix(w, "--"); long {
		name, _, hasValue := strings.Cut(name, "=")
		if name == "help" {
			return true, false
		}
		f := s.find((*pflag.FlagSet).Lookup, name)
		return f != nil, f != nil && !hasValue && f.NoOptDefVal == ""
	}
	for i := 1; i < len(w); i++ {
		if w[i] == 'h' && s.find((*pflag.FlagSet).ShorthandLookup, "h") == nil {
			continue
		}
		f := s.find((*pflag.FlagSet).ShorthandLookup, w[i:i+1])
		if f == nil {
			return false, false
		}
		if f.NoOptDefVal == "" {
			return true, i+1 == len(w) // the rest of the word is the value
		}
	}
	return true, false
}

// find returns the flag that look finds in one of the sets, nil for none.
func (s lineFlags) find(look func(set *pflag.FlagSet, name string) *pflag.Flag, name string) *pflag.Flag {
	for _, set := range s {
		if f := look(set, name); f != nil {
			return f
		}
	}
	return nil
}

// Split separates flags from words. After the first fixed words, an unknown word
// with a dash is an argument if it is --name, has a "=" or is a negative number.
func (s lineFlags) Split(words []string, fixed int) (flags, after []string) {
	pieces, dash := s.Pieces(words)
	for _, p := range pieces {
		w := p.words[0]
		argument := !p.known && len(after) >= fixed && len(w) > 1 && (w[1] == '-' || strings.Contains(w, "=") || w[1] >= '0' && w[1] <= '9')
		if p.flag && !argument {
			flags = append(flags, p.words...)
		} else {
			after = append(after, w)
		}
	}
	if dash >= 0 {
		after = append(after, words[dash+1:]...)
	}
	return flags, after
}

// Behind returns the known flags behind the first fixed words, without their values.
func (s lineFlags) Behind(words []string, fixed int) (flags []string) {
	pieces, _ := s.Pieces(words)
	for _, p := range pieces {
		switch {
		case !p.flag:
			fixed--
		case fixed <= 0 && p.known:
			flag, _, _ := strings.Cut(p.words[0], "=")
			flags = append(flags, flag)
		}
	}
	return flags
}

// First returns the index of the first word that is not a flag, or -1.
func (s lineFlags) First(words []string) int {
	pieces, _ := s.Pieces(words)
	for _, p := range pieces {
		if !p.flag {
			return p.at
		}
	}
	return -1
}

// Has reports whether one of some flags is among the words.
func (s lineFlags) Has(words []string, flags ...string) bool {
	pieces, _ := s.Pieces(words)
	return slices.ContainsFunc(pieces, func(p linePiece) bool { return p.flag && slices.Contains(flags, p.words[0]) })
}

// Only returns those words that are flags of the sets, and their values.
func (s lineFlags) Only(words []string) (out []string) {
	pieces, _ := s.Pieces(words)
	for _, p := range pieces {
		if p.known {
			out = append(out, p.words...)
		}
	}
	return out
}

// Given reports whether a flag is among the words.
func (s lineFlags) Given(words []string, name string) bool {
	_, ok := s.Value(words, name)
	return ok
}

// Value returns the last value of a flag among the words.
func (s lineFlags) Value(words []string, name string) (value string, ok bool) {
	pieces, _ := s.Pieces(words)
	for _, p := range pieces {
		if v, found := strings.CutPrefix(p.words[0], "--"+name+"="); found {
			value, ok = v, true
		} else if p.words[0] == "--"+name && len(p.words) > 1 {
			value, ok = p.words[1], true
		}
	}
	return value, ok
}
