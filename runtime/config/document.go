package config

import (
	"errors"

	"github.com/mcpctl/mcpctl/internal/jsonedit"
)

// document is the text of a file, for errors to name their place in it.
type document struct {
	path string
	doc  *jsonedit.Document
}

func (d *document) problemAt(offset int, server, message, remedy string) *Problem {
	line, column := d.doc.Position(offset)
	return &Problem{File: d.path, Line: line, Column: column, Server: server, Message: message, Remedy: remedy}
}

// syntaxProblem returns the problem of a text that is not JSON.
func syntaxProblem(path string, err error) error {
	e, ok := errors.AsType[*jsonedit.Error](err)
	if !ok {
		return err
	}
	return &Problem{File: path, Line: e.Line, Column: e.Column, Message: e.Message, Remedy: e.Remedy}
}
