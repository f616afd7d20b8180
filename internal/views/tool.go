package views

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/results"
)

// ToolEdit is what a view changes of one tool. It is immutable. Nil changes nothing.
type ToolEdit struct {
	name, title, description string // "" stays
	arguments                []argument
	rewrites                 bool // some argument is more than described
	result                   *results.Shape
}

// argument is what is changed of one argument.
type argument struct {
	name        string
	kind        argumentKind
	value       []byte // of a fixed or defaulted one, JSON without line breaks
	description string // "" stays
}

type argumentKind int

const (
	described argumentKind = iota // only
	fixed
	defaulted
	hidden
)

// gone reports whether clients do not see the argument.
func (a *argument) gone() bool { return a.kind == fixed || a.kind == hidden }

// Name returns the name that a tool has in the view.
func (t *ToolEdit) Name(exposed string) string {
	if t == nil || t.name == "" {
		return exposed
	}
	return t.name
}

// Rewrites reports whether [ToolEdit.Rewrite] has to look at the arguments of calls.
func (t *ToolEdit) Rewrites() bool { return t != nil && t.rewrites }

// Result returns what is done to the results of the tool, nil for nothing.
func (t *ToolEdit) Result() *results.Shape {
	if t == nil {
		return nil
	}
	return t.result
}

// Looks reports whether the arguments or the result of a call are looked at.
func (t *ToolEdit) Looks() bool { return t != nil && (t.rewrites || t.result != nil) }

// Rewrite returns the arguments of a call as the server gets them: fixed and default values are
// added at the end of the object, and all other bytes stay. No arguments, and null, are an empty
// object. The text of an error is for the client: an argument is sent that is fixed or hidden,
// one is there twice, or the arguments are no object.
func (t *ToolEdit) Rewrite(arguments []byte) ([]byte, error) {
	if !t.Rewrites() {
		return arguments, nil
	}
	text := arguments
	if len(text) == 0 || string(text) == "null" {
		text = []byte("{}")
	}
	entries, err := rawjson.Entries(text)
	if err != nil {
		return nil, errors.New("arguments are not a JSON object")
	}
	seen := make(map[string]bool, len(entries))
	for _, e := range entries {
		if seen[e.Name] {
			return nil, fmt.Errorf("argument %q is there twice: send it once", e.Name)
		}
		seen[e.Name] = true
		if err := t.admit(e.Name); err != nil {
			return nil, err
		}
	}
	var add []byte
	for _, a := range t.arguments {
		if a.kind == fixed || a.kind == defaulted && !seen[a.name] {
			if len(entries) > 0 || add != nil {
				add = append(add, ',')
			}
			add = append(append(rawjson.Quote(add, a.name), ':'), a.value...)
		}
	}
	if add == nil {
		return arguments, nil
	}
	end := bytes.LastIndexByte(text, '}')
	return rawjson.Splice(nil, text, rawjson.Edit{Span: rawjson.Span{Start: end, End: end}, New: add}), nil
}

// admit refuses an argument that a client must not send. Several servers read names without
// regard to case, so one that differs from a name only in case is refused, too.
func (t *ToolEdit) admit(name string) error {
	for _, a := range t.arguments {
		if a.kind == described || !strings.EqualFold(a.name, name) {
			continue
		}
		switch {
		case a.kind == fixed:
			return fmt.Errorf("argument %q is set already: leave it out", name)
		case a.kind == hidden:
			return fmt.Errorf("argument %q cannot be sent: leave it out", name)
		case a.name != name:
			return fmt.Errorf("argument %q is not known: its name is %q", name, a.name)
		}
	}
	return nil
}
