// Package views says what a client sees of all servers: a selection of their tools,
// prompts and resources, and a presentation of the tools. A view selects and never
// grants: policies decide about what it shows.
//
// The package does no I/O and knows no server. A caller asks a [View] about exposed names,
// which are those that clients would see without it.
package views

// Kind is what an item of a list is.
type Kind int

// The kinds of items.
const (
	Tool Kind = iota
	Prompt
	Resource // and resource templates, by URI
)

// Form is how a view lists tools.
type Form string

// The forms of a list.
const (
	// ListAll has all tools of the view. It is the default.
	ListAll Form = "all"
	// ListSearch has the pinned tools, and tools that find and call the others.
	ListSearch Form = "search"
	// ListAuto is ListAll as long as the definitions cost less than the budget, or the
	// client searches by itself, and else ListSearch.
	ListAuto Form = "auto"
)
