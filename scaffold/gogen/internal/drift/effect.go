package drift

import (
	"slices"
	"strings"
)

// The kinds of things that change.
const (
	KindServer   = "server"
	KindTool     = "tool"
	KindPrompt   = "prompt"
	KindResource = "resource"
	KindTemplate = "resourceTemplate"
)

// Place is where something changes: see the fields of [Change].
type Place struct{ Kind, Name, Pointer string }

// Where returns the change's place.
func (c *Change) Where() Place { return Place{c.Kind, c.Name, c.Pointer} }

// Effect is a change of the Go package that code may not compile with.
type Effect struct {
	Place Place
	Text  string
}

// AddEffects assigns each effect to the change it comes from, the one at the
// nearest place of the same tool, and classifies and sorts the changes again. An
// effect without such a change is a change of its own.
func AddEffects(changes []Change, effects []Effect) []Change {
	for _, e := range effects {
		best, least := -1, 0
		for i := range changes {
			c := &changes[i]
			if c.Kind != e.Place.Kind || c.Name != e.Place.Name || c.Prose() || c.Rule == ruleHints {
				continue
			}
			if d, ok := distance(c.Pointer, e.Place.Pointer); ok && (best < 0 || d < least) {
				best, least = i, d
			}
		}
		if best < 0 {
			changes = append(changes, Change{
				Kind: e.Place.Kind, Name: e.Place.Name, Pointer: e.Place.Pointer, Rule: ruleGo, Text: "the Go package changes",
			})
			best = len(changes) - 1
		}
		c := &changes[best]
		c.Source = true
		c.Go = append(c.Go, e.Text)
	}
	for i := range changes {
		slices.Sort(changes[i].Go)
		changes[i].setClass()
	}
	sortChanges(changes)
	return changes
}

// A place on neither side of a tool is near to both, and a place beside another
// is further away than all that contain it or that it contains.
const (
	sideless = 1
	apart    = 1000
)

// distance returns how many steps of a pointer are between two places; false
// where one is in the arguments and the other in the result.
func distance(a, b string) (int, bool) {
	x, y := steps(a), steps(b)
	if len(x) > 0 && len(y) > 0 && x[0] != y[0] {
		return 0, false
	}
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	d := len(x) + len(y) - 2*n
	if len(x) == 0 || len(y) == 0 {
		d += sideless
	} else if n < len(x) && n < len(y) {
		d += apart
	}
	return d, true
}

func steps(pointer string) []string {
	if pointer == "" {
		return nil
	}
	return strings.Split(pointer[1:], "/")
}
