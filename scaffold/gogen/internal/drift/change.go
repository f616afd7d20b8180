// Package drift lists what changed between two states of a server: the one that
// code was generated from, in the lock file, and another, such as the live one.
// Each change is classified by its effect on that code ([Rules]).
package drift

import (
	"cmp"
	"slices"
)

// Class is the worst effect of a change.
type Class string

const (
	// Wire breaks programs: one built from the old code can fail, as a call that
	// the server accepted may be refused, or a result may not be understood.
	Wire Class = "wire-breaking"
	// Source breaks code: a program built from the old code goes on working, but
	// may not compile with a newly generated package.
	Source Class = "source-breaking"
	// Compatible breaks neither.
	Compatible Class = "compatible"
)

// Change is one difference.
type Change struct {
	// Kind of what changed: "tool", "prompt", "resource", "resourceTemplate",
	// "server".
	Kind string `json:"kind"`
	// Name is the tool's or prompt's name, the URI or URI template; "" for the
	// server.
	Name string `json:"name,omitempty"`
	// Pointer is the place inside it, such as "/inputSchema/properties/a"; "" is
	// the whole.
	Pointer string `json:"pointer,omitempty"`
	// Rule is the row of [Rules] that classified it.
	Rule string `json:"rule"`
	// Text is what changed, in a line.
	Text  string `json:"text"`
	Class Class  `json:"class"`
	// Wire and Source are the effects; Class is the worse.
	Wire   bool `json:"wire"`
	Source bool `json:"source"`
	// Notable changes break nothing but should be read: a tool that is no longer
	// read-only.
	Notable bool `json:"notable,omitempty"`
	// Go is what happens to the Go package where code may not compile.
	Go []string `json:"go,omitempty"`
}

// Title returns where the change is, for a reader.
func (c *Change) Title() string {
	title := c.Kind
	if c.Kind == KindTemplate {
		title = "resource template"
	}
	if c.Kind != KindServer {
		title += " " + c.Name
	}
	if c.Pointer != "" {
		title += " " + c.Pointer
	}
	return title
}

// String returns place and text in one line.
func (c *Change) String() string { return c.Title() + ": " + c.Text }

// Prose reports whether the change is in texts only.
func (c *Change) Prose() bool { return c.Rule == ruleProse }

// setClass sets the class.
func (c *Change) setClass() {
	switch {
	case c.Wire:
		c.Class = Wire
	case c.Source:
		c.Class = Source
	default:
		c.Class = Compatible
	}
}

// severity returns the rank of a change: the lowest is what breaks most.
func (c *Change) severity() int {
	switch {
	case c.Wire && c.Source:
		return 0
	case c.Wire:
		return 1
	case c.Source:
		return 2
	case c.Notable:
		return 3
	case c.Prose():
		return 5
	}
	return 4
}

func sortChanges(changes []Change) {
	order := []string{KindServer, KindTool, KindPrompt, KindResource, KindTemplate}
	slices.SortFunc(changes, func(a, b Change) int {
		return cmp.Or(
			cmp.Compare(a.severity(), b.severity()),
			cmp.Compare(slices.Index(order, a.Kind), slices.Index(order, b.Kind)),
			cmp.Compare(a.Name, b.Name), cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Text, b.Text),
		)
	})
}

// Counts of a list of changes.
type Counts struct {
	Wire       int `json:"wireBreaking"`
	Source     int `json:"sourceBreaking"`
	Compatible int `json:"compatible"`
	// Prose are those of Compatible in texts only.
	Prose int `json:"prose"`
}

// Count counts by class.
func Count(changes []Change) Counts {
	var n Counts
	for i := range changes {
		switch c := &changes[i]; c.Class {
		case Wire:
			n.Wire++
		case Source:
			n.Source++
		default:
			n.Compatible++
			if c.Prose() {
				n.Prose++
			}
		}
	}
	return n
}
