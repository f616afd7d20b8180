package results

import (
	"bytes"
	"regexp"
	"slices"

	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/tokens"
)

// Query is which elements of texts are wanted.
type Query struct {
	// Most is how many tokens a page may be, about. Elements are counted by it, too: with
	// another Most there may be others.
	Most int
	// From is the first element, counted from 0.
	From int
	// Match is what elements have to match, nil for anything.
	Match *regexp.Regexp
	// Any says that the first element is wanted even if it alone is longer than Most.
	Any bool
	// Last says that the end is wanted, and not what begins at From.
	Last bool
}

// Page is a part of texts.
type Page struct {
	// Texts are what is shown of each text, nil for nothing. An array, or an object, of
	// which some is shown is JSON again.
	Texts [][]byte
	// From is the first element that is shown, Shown how many are, Of how many there are.
	From, Shown, Of int
	// Next is the first element after the page that would be shown, Of for none.
	Next int
	// Percent is how much of the bytes is shown.
	Percent int
	// Unit is what an element is, in the plural: lines, items, members, parts.
	Unit string
	// Overlong is how many tokens the element at Next is alone, where that is more than Most.
	Overlong int
}

// Page returns a part of the texts, of whole elements. Pages that each begin at the Next of
// the one before have all elements once.
func (t Texts) Page(q Query) Page {
	docs, n := split(t, q.Most)
	p := Page{Of: n, Next: n, From: min(max(q.From, 0), n), Unit: "parts", Texts: make([][]byte, len(t))}
	if len(docs) == 1 {
		p.Unit = docs[0].unit
	}
	f := filler{q: q, page: &p, docs: docs, taken: make([][]int, len(docs))}
	if q.Last {
		f.backwards()
	} else {
		f.forwards()
	}
	shown := 0
	for i := range docs {
		if len(f.taken[i]) > 0 {
			p.Texts[i] = docs[i].show(f.taken[i], f.whole(i))
			shown += len(p.Texts[i])
		}
	}
	const all = 100
	p.Percent = min(all, shown*all/max(1, t.Size()))
	if p.Shown < p.Of {
		p.Percent = min(p.Percent, all-1)
	}
	return p
}

// filler puts elements on a page.
type filler struct {
	q     Query
	page  *Page
	docs  []doc
	taken [][]int // elements of each text
	used  int     // tokens
}

// whole reports whether a text is shown with what stands around its elements: where it
// begins, unless elements are picked.
func (f *filler) whole(doc int) bool { return f.q.Match == nil && f.taken[doc][0] == 0 }

func (f *filler) forwards() {
	i := 0
	for d := range f.docs {
		for u := range f.docs[d].units {
			at := i
			i++
			unit := f.docs[d].units[u].Of(f.docs[d].text)
			if at < f.page.From || f.q.Match != nil && !f.q.Match.Match(unit) {
				continue
			}
			if !f.take(d, u, f.page.Shown == 0 && f.q.Any) {
				f.page.Next = at
				if alone := cost(unit); alone > f.q.Most {
					f.page.Overlong = alone
				}
				return
			}
		}
	}
}

func (f *filler) backwards() {
	i := f.page.Of
	for d, doc := range slices.Backward(f.docs) {
		for u := range slices.Backward(doc.units) {
			if !f.take(d, u, false) {
				f.page.From = i
				return
			}
			i--
		}
	}
	f.page.From = 0
}

// take puts an element on the page, and reports whether there is room.
func (f *filler) take(d, u int, anyway bool) bool {
	doc := &f.docs[d]
	more := cost(doc.units[u].Of(doc.text))
	if u == 0 && f.q.Match == nil {
		more += cost(doc.head()) + cost(doc.tail())
	}
	if f.used+more > f.q.Most && !anyway {
		return false
	}
	f.used += more
	f.page.Shown++
	if f.q.Last {
		f.taken[d] = append([]int{u}, f.taken[d]...)
	} else {
		f.taken[d] = append(f.taken[d], u)
	}
	return true
}

// cost estimates tokens. What is far too long for any page is not read.
func cost(text []byte) int {
	const far, perToken = 1 << 20, 4
	if len(text) > far {
		return len(text) / perToken
	}
	return tokens.Estimate(text)
}

// doc is one text and its elements.
type doc struct {
	text  []byte
	units []rawjson.Span
	unit  string
	// brackets stand around elements where they are not shown with the text around them;
	// "" for lines, which nothing stands around.
	brackets string
}

// head and tail are what stands before and after the elements.
func (d *doc) head() []byte { return d.text[:d.units[0].Start] }
func (d *doc) tail() []byte { return d.text[d.units[len(d.units)-1].End:] }

// show returns some elements, in their order.
func (d *doc) show(taken []int, whole bool) []byte {
	out := []byte{}
	switch {
	case whole:
		out = append(out, d.head()...)
	case d.brackets != "":
		out = append(out, d.brackets[0])
	}
	for i, u := range taken {
		if i > 0 && d.brackets != "" {
			between := []byte{','}
			if taken[i-1] == u-1 { // with the white space that is there
				between = d.text[d.units[u-1].End:d.units[u].Start]
			}
			out = append(out, between...)
		}
		out = append(out, d.units[u].Of(d.text)...)
	}
	switch {
	case whole:
		out = append(out, d.tail()...)
	case d.brackets != "":
		out = append(out, d.brackets[1])
	}
	return out
}

// split finds the elements of texts. Where there are several, one that is short enough is one
// element.
func split(t Texts, most int) (docs []doc, n int) {
	for _, text := range t {
		d := doc{text: text, units: []rawjson.Span{rawjson.Whole(text)}, unit: "parts"}
		if len(t) == 1 || len(text) > most && cost(text) > most {
			d = docOf(text, most)
		}
		docs = append(docs, d)
		n += len(d.units)
	}
	return docs, n
}

// Bounds of memory: a longer text is lines, and lines beyond maxLines are one element.
const (
	maxDocument = 16 << 20
	maxLines    = 1 << 20
)

func docOf(text []byte, most int) doc {
	if len(text) <= maxDocument && IsDocument(text) {
		if d, ok := elements(text, most); ok {
			return d
		}
	}
	d := doc{text: text, unit: "lines"}
	for at := 0; at < len(text); {
		end := len(text)
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 && len(d.units) < maxLines {
			end = at + i + 1
		}
		d.units = append(d.units, rawjson.Span{Start: at, End: end})
		at = end
	}
	if d.units == nil {
		d.units = []rawjson.Span{{}}
	}
	return d
}

// maxDepth bounds how deep elements are looked for.
const maxDepth = 8

// elements finds the elements of a document: of the array that it is, or that is the most of
// it; else the members of its object. False is for one without any.
func elements(text []byte, most int) (d doc, ok bool) {
	at := rawjson.Span{Start: len(text) - len(bytes.TrimLeft(text, " \t\r\n")), End: len(bytes.TrimRight(text, " \t\r\n"))}
	for depth := 0; ; depth++ {
		d = doc{text: text}
		var values []rawjson.Span
		if text[at.Start] == '[' {
			d.unit, d.brackets = "items", "[]"
			d.units, _ = rawjson.ElementsAt(text, at)
			values = d.units
			if len(d.units) > 1 {
				return d, true
			}
		} else {
			d.unit, d.brackets = "members", "{}"
			if o, err := rawjson.ObjectAt(text, at); err == nil {
				for _, e := range o.Entries {
					values = append(values, e.Value)
					d.units = append(d.units, rawjson.Span{Start: e.Key.Start, End: e.Value.End})
				}
			}
		}
		if len(values) == 0 {
			return d, false
		}
		largest := values[0]
		for _, v := range values {
			if v.End-v.Start > largest.End-largest.Start {
				largest = v
			}
		}
		rest := cost(text[:largest.Start]) + cost(text[largest.End:])
		if c := text[largest.Start]; c != '[' && c != '{' || depth == maxDepth || rest > most/2 || !hasElements(text, largest) {
			return d, true
		}
		at = largest
	}
}

// hasElements reports whether an array or object has any.
func hasElements(text []byte, at rawjson.Span) bool {
	return len(bytes.Trim(at.Of(text), "[]{} \t\r\n")) > 0
}
