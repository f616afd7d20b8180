package ui

import (
	"bytes"
	"encoding/json"
)

// PrintJSON writes what a server sent: its bytes as they are and a newline.
func (u *UI) PrintJSON(raw []byte) error {
	b := make([]byte, 0, len(raw)+1)
	b = append(b, bytes.TrimRight(raw, "\r\n")...)
	_, err := u.Out.Write(append(b, '\n'))
	return err
}

// EncodeJSON writes one of mcpctl's own objects, indented on a terminal and on
// one line elsewhere, with <, > and & as they are. Members of type
// json.RawMessage keep their digits, but not their white space.
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
	_, err := u.Out.Write(b.Bytes())
	return err
}
