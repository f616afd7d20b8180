// Package views says what a client sees of all servers: a selection of their tools,
// prompts and resources, and a presentation of the tools. A view selects and never
// grants: policies decide about what it shows.
//
// The package does no I/O and knows no server. A caller asks a [View] about exposed names,
// which are those that clients would see without it.
package views

import (
	"encoding/json"
	"strings"
)

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

// ReadOnly is the value of [Config.Only] that leaves out the tools which may change
// something.
const ReadOnly = "read"

// Config is one view as it is configured.
type Config struct {
	// Tools and Prompts are patterns of exposed names, Resources of URIs; "*" stands for any
	// text. A pattern after "!" leaves out what it matches, wherever it stands. Patterns of
	// which all leave out leave the others. Nil is everything, an empty list nothing.
	Tools, Prompts, Resources []string
	// Clients are patterns of the names that clients say of themselves, Groups groups of
	// principals: who gets the view where nothing before that decides.
	Clients, Groups []string
	// Pin are the exposed names of tools that come first in lists.
	Pin []string
	// Only is "" or ReadOnly.
	Only string
	// List is the form of the list, "" for ListAll.
	List Form
	// Budget is how many tokens the definitions of tools may take, 0 where that is not said.
	Budget int
	// Expose is how many found tools may join the list of a session, 0 for none.
	Expose int
	// Instructions come before those of the servers.
	Instructions string
	// Describe is the description of each tool, with {server}, {name} and {description}
	// in it; "" leaves descriptions as they are.
	Describe string
	// Override is what is changed of single tools, by exposed name.
	Override map[string]Override
	// Results is what is done to the results of all tools, nil for nothing.
	Results *Result
	// Order is where several views are for one client: the lowest counts, and of equal ones
	// the first by name.
	Order int
}

// Override is what a view changes of one tool. What is zero stays.
type Override struct {
	Name, Title, Description string
	// Arguments are changed by their names.
	Arguments map[string]Argument
	// Result is what is done to results, in the place of [Config.Results].
	Result *Result
}

// Argument is what a view changes of one argument of a tool: one of Value, Default and Hide,
// or only the description.
type Argument struct {
	// Value is sent with each call. Clients neither see nor send the argument.
	Value json.RawMessage
	// Default is sent where a client sends none.
	Default json.RawMessage
	// Hide says that clients neither see nor send the argument, and that it is not sent.
	Hide bool
	// Description is what clients are told of the argument.
	Description string
}

// Result is what is done to the results of tools.
type Result struct {
	// MaxTokens is how long an answer may be, about, 0 for any length. Fields are the paths
	// that are kept of it, none for all.
	MaxTokens int
	Fields    []string
}

// Problem is a mistake in a configuration.
type Problem struct {
	// View is the name of the view, "" for none.
	View string
	// Path is where in the view, as in override, TOOL, name. It is empty for the view itself.
	Path []string
	// Text is what is wrong, Remedy what mends it.
	Text, Remedy string
}

// Error names the place and what is wrong.
func (p *Problem) Error() string {
	var b strings.Builder
	if p.View != "" {
		b.WriteString("view " + p.View + ": ")
	}
	if len(p.Path) > 0 {
		b.WriteString(strings.Join(p.Path, ".") + ": ")
	}
	return b.String() + p.Text
}

// Hint returns what mends it.
func (p *Problem) Hint() string { return p.Remedy }
