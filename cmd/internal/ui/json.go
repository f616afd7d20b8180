package ui

import (
	"bytes"
	"encoding/json"

	"github.com/mcpctl/mcpctl/runtime/plain"
)

// PrintJSON writes JSON of a server, unchanged, and a newline. On a terminal,
// control and invisible characters are written as \uXXXX.
func (u *UI) PrintJSON(raw []byte) error {
	b := make([]byte, 0, len(raw)+1)
	b = append(b, bytes.TrimRight(raw, "\r\n")...)
	return u.writeJSON(append(b, '\n'))
}

func (u *UI) writeJSON(b []byte) error {
	if u.OutTTY {
		b = plain.Escape(b)
	}
	_, err := u.Out.Write(b)
	return err
}

// EncodeJSON writes one of mcpctl's own objects, indented on a terminal and on
// one line elsewhere, with <, > and & unescaped. Members of type json.RawMessage
// keep their digits, but not their white space. A terminal gets \uXXXX as with
// [UI.PrintJSON].
func (u *UI) EncodeJSON(v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if u.OutTTY {
		enc.SetIndent("", "  ")
	}
	if err := enc.Encode(v); err != nil {
		return err
	}
	return u.writeJSON(b.Bytes())
}
