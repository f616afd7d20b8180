package ui

import "bytes"

// collected is what a command has written: its results and its notes.
type collected struct{ out, notes bytes.Buffer }

// collect runs show, with its results and notes kept. Results are made for the terminal that they
// would have gone to.
func (u *UI) collect(show func() error) (*collected, error) {
	c := &collected{}
	out, columns := u.Out, u.columns
	u.columns = u.width()
	u.Out, u.notes = &c.out, &c.notes
	defer func() { u.Out, u.columns, u.notes = out, columns, nil }()
	err := show()
	return c, err
}
