package secret

import (
	"cmp"
	"slices"
	"strings"
)

// prefix is how many bytes of a secret that is cut off are needed to recognise it.
const prefix = 4

// needles are texts to find, without line breaks, by their first bytes. One pass
// over a text, which may have 64 MiB, finds all of them.
type needles struct {
	byStart       map[string][]string // longest first
	first, second [256]bool           // the bytes that any begins with
	longest       int
}

func newNeedles(all []string) *needles {
	n := &needles{byStart: map[string][]string{}}
	for _, s := range all {
		if s = withoutBreaks(s); len(s) < MinLength || slices.Contains(n.byStart[s[:prefix]], s) {
			continue
		}
		n.byStart[s[:prefix]] = append(n.byStart[s[:prefix]], s)
		n.first[s[0]], n.second[s[1]] = true, true
		n.longest = max(n.longest, len(s))
	}
	for _, list := range n.byStart {
		slices.SortFunc(list, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	}
	return n
}

func withoutBreaks(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r", ""), "\n", "")
}

// span is a part of a text.
type span struct{ start, end int }

// spans finds the needles in a text, in order; what overlaps or touches is one.
// With open, the beginning of a needle at the end counts as well.
func (n *needles) spans(text string, open bool) []span {
	compact, at := text, func(i int) int { return i }
	if strings.ContainsAny(text, "\r\n") {
		compact = withoutBreaks(text)
		at = offsets(text, len(compact))
	}
	var out []span
	for i := 0; i+prefix <= len(compact); i++ {
		if !n.first[compact[i]] || !n.second[compact[i+1]] {
			continue
		}
		end := n.endAt(compact, i, open)
		switch last := len(out) - 1; {
		case end == 0:
		case last >= 0 && i <= out[last].end:
			out[last].end = max(out[last].end, end)
		default:
			out = append(out, span{i, end})
		}
	}
	for i, s := range out {
		out[i] = span{at(s.start), at(s.end-1) + 1}
	}
	return out
}

// endAt returns the end of the longest needle that begins at i, 0 for none.
func (n *needles) endAt(text string, i int, open bool) int {
	rest := text[i:]
	for _, s := range n.byStart[rest[:prefix]] {
		switch {
		case strings.HasPrefix(rest, s):
			return i + len(s)
		case open && strings.HasPrefix(s, rest):
			return len(text)
		}
	}
	return 0
}

// offsets maps the n bytes of a text without its line breaks to those of the text.
func offsets(text string, n int) func(int) int {
	list := make([]int, 0, n)
	for i := range len(text) {
		if text[i] != '\r' && text[i] != '\n' {
			list = append(list, i)
		}
	}
	return func(i int) int { return list[i] }
}
