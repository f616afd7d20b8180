package lockfile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpctl/mcpctl/internal/codec"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/internal/rawjson"
)

func count(n int) string { return strconv.Itoa(n) + " more" }

// Difference is one place in which an entry has changed.
type Difference struct {
	// Where is the place: a member, and below it a JSON Pointer, such as
	// inputSchema/properties/path/type.
	Where string
	// Was and Is are the parts that differ, with some words around them where they
	// are texts; "" where there is nothing. What is invisible in them is spelled out.
	Was, Is string
}

// Differences returns the places in which an entry, or what a server says of itself,
// has changed. Of something new or gone it is each member.
func (c *Change) Differences() []Difference {
	if !c.Entry() {
		was, now := around(string(c.Was), string(c.Is))
		return []Difference{{c.What, was, now}}
	}
	was, now := flatten(c.list, c.Was), flatten(c.list, c.Is)
	var places []string
	for place := range was {
		places = append(places, place)
	}
	for place := range now {
		if _, both := was[place]; !both {
			places = append(places, place)
		}
	}
	slices.SortFunc(places, comparePlaces)
	var out []Difference
	for _, place := range places {
		a, b := was[place], now[place]
		if a == b {
			continue
		}
		d := Difference{Where: plain.EscapeInvisible(place), Was: short(plain.EscapeInvisible(a.value)), Is: short(plain.EscapeInvisible(b.value))}
		if a.text && b.text {
			d.Was, d.Is = around(a.value, b.value)
		}
		out = append(out, d)
	}
	return out
}

// comparePlaces puts the description, which a model reads first, at the beginning.
func comparePlaces(a, b string) int {
	rank := func(place string) int {
		return slices.Index([]string{"", "title", "description"}, place)
	}
	if r := rank(b) - rank(a); r != 0 {
		return r
	}
	return strings.Compare(a, b)
}

// value is a value that holds no other.
type value struct {
	value string
	text  bool // a string, unescaped; else JSON
}

// flatten returns the values of an entry by their place. An empty object or array is
// a value.
func flatten(l List, raw []byte) map[string]value {
	out := map[string]value{}
	if raw == nil {
		return out
	}
	flattenInto(out, "", normal(l, raw), 0)
	delete(out, l.Key()) // the change has it
	return out
}

// deepest bounds how deep a value is taken apart: what lies deeper is compared as text.
const deepest = 64

func flattenInto(out map[string]value, place string, raw []byte, depth int) {
	below := func(name string) string {
		if place == "" {
			return name
		}
		return place + codec.Pointer(name)
	}
	if entries, err := rawjson.Entries(raw); err == nil && len(entries) > 0 && depth < deepest {
		for _, e := range entries {
			flattenInto(out, below(e.Name), e.Value.Of(raw), depth+1)
		}
		return
	}
	if items, err := rawjson.Elements(raw); err == nil && len(items) > 0 && depth < deepest {
		for i, at := range items {
			flattenInto(out, below(strconv.Itoa(i)), at.Of(raw), depth+1)
		}
		return
	}
	if text, ok := rawjson.String(raw, rawjson.Whole(raw)); ok {
		out[place] = value{text, true}
		return
	}
	out[place] = value{string(raw), false}
}

const (
	// shared is how many characters of what two texts have in common are shown on
	// either side of what differs.
	shared = 40
	// longest is how many characters are shown of one side.
	longest = 2000
)

// around returns the parts in which two texts differ, with some of what they share
// around them, cut at words.
func around(was, now string) (string, string) {
	a, b := []rune(was), []rune(now)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	// The words in which they differ are shown whole.
	for head > 0 && a[head-1] != ' ' && a[head-1] != '\n' {
		head--
	}
	for tail > 0 && a[len(a)-tail] != ' ' && a[len(a)-tail] != '\n' {
		tail--
	}
	from, left := max(head-shared, 0), ""
	if from > 0 {
		for from < head && a[from-1] != ' ' {
			from++
		}
		left = "…"
	}
	shown := func(text []rune) string {
		if len(text) == 0 {
			return ""
		}
		to, right := len(text)-tail+shared, ""
		if to < len(text) {
			for to > len(text)-tail && text[to] != ' ' {
				to--
			}
			right = "…"
		} else {
			to = len(text)
		}
		return short(left + plain.EscapeInvisible(string(text[from:to])) + right)
	}
	return shown(a), shown(b)
}

func short(text string) string {
	r := []rune(text)
	if len(r) <= longest {
		return text
	}
	return string(r[:longest]) + fmt.Sprintf("… (%d more characters)", len(r)-longest)
}
