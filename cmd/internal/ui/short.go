package ui

import (
	"encoding/json"
	"strings"

	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/runtime"
)

// ShortTool is a tool as lists in a pipe have it: what one needs to choose and to call it. Its
// signature has the names, types and values of arguments, optional ones with a question mark.
type ShortTool struct {
	Name        string   `json:"name"`
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	Signature   string   `json:"signature"`
	Hints       []string `json:"hints,omitempty"`
}

// ShortTools returns tools in the short form. A tool that is none is left out.
func ShortTools(items []json.RawMessage) []ShortTool {
	out := make([]ShortTool, 0, len(items))
	for _, raw := range items {
		var t runtime.Tool
		if json.Unmarshal(raw, &t) == nil && t.Name != "" {
			out = append(out, ShortTool{t.Name, Title(&t), FirstSentence(t.Description), SignatureOf(&t), Hints(t.Annotations)})
		}
	}
	return out
}

// FirstSentence returns the first sentence of a text, clean: up to a full stop before white space,
// and within the first line that is not blank.
func FirstSentence(text string) string {
	line := FirstLine(text)
	for at := 0; ; {
		i := strings.IndexAny(line[at:], ".!?")
		if i < 0 {
			return line
		}
		at += i + 1
		if at == len(line) {
			return line
		}
		if before := line[:at]; line[at] == ' ' && !strings.HasSuffix(before, "e.g.") && !strings.HasSuffix(before, "i.e.") {
			return plain.Line(before)
		}
	}
}

// WantShort reports whether lists of tools are short: those in a pipe that no form was asked for,
// and those of -o json-compact.
func (u *UI) WantShort() bool { return u.Short || u.WantJSON() && !u.JSON }

// EncodeTools writes a list of tools as JSON, under the member tools: with the definitions as the
// server sent them, or short.
func (u *UI) EncodeTools(items []json.RawMessage, withSchema bool) error {
	if !u.WantShort() || withSchema {
		return u.EncodeJSON(map[string]any{"tools": items})
	}
	return u.EncodeShortTools(items, nil)
}

// EncodeShortTools writes a list of tools in the short form, with what its server, or mcpctl, says
// of the list; nil is nothing.
func (u *UI) EncodeShortTools(items []json.RawMessage, meta json.RawMessage) error {
	err := u.EncodeJSON(struct {
		Tools []ShortTool     `json:"tools"`
		Meta  json.RawMessage `json:"_meta,omitempty"`
	}{ShortTools(items), meta})
	if err == nil {
		u.NoteShort()
	}
	return err
}

// NoteShort says how to get the whole of what is short in a pipe. It is for the first version that
// has short lists.
func (u *UI) NoteShort() {
	if !u.Short {
		u.Info("note: the list is short; --schema or --json has the definitions, -o json-compact drops this note")
	}
}
