package ui

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/runtime"
)

// ToolResult writes the result of a tool: as JSON unchanged; for people its content,
// or structuredContent where there is no text. With save, images and other bytes are
// written to files in both cases.
func (u *UI) ToolResult(r *runtime.ToolResult, save *Saver) error {
	save = save.of(r)
	if u.WantJSON() {
		if err := u.PrintJSON(r.Raw); err != nil || save == nil {
			return err
		}
		for i := range r.Content {
			if err := u.saveOnly(&r.Content[i], save); err != nil {
				return err
			}
		}
		return nil
	}
	text, err := u.blocks(r.Content, save, r.IsError)
	switch {
	case err != nil:
		return err
	case r.Structured != nil && !text:
		return u.Indented(shown(r))
	case len(r.Content) == 0:
		u.Info("the result is empty")
	}
	return nil
}

// shown returns structuredContent with the size of bytes that a block shows already in
// their place. A few bytes stay: they may be another word.
func shown(r *runtime.ToolResult) json.RawMessage {
	const few = 32
	structured := r.Structured
	for i := range r.Content {
		if data, _ := bytesOf(&r.Content[i]); len(data) > few {
			structured = bytes.ReplaceAll(structured, []byte(base64.StdEncoding.EncodeToString(data)), []byte("["+Size(len(data))+"]"))
		}
	}
	return structured
}

// document writes a text. On a terminal, one that is an object or a list of JSON is indented and
// coloured; elsewhere it keeps its bytes.
func (u *UI) document(text string) error {
	t := strings.TrimSpace(text)
	if u.OutTTY && (strings.HasPrefix(t, "{") || strings.HasPrefix(t, "[")) && json.Valid([]byte(t)) {
		return u.Indented(json.RawMessage(t))
	}
	return u.paragraph(text)
}

// problem writes a text of an error of a tool, with its errors of validation one line a
// field.
func (u *UI) problem(text string) error {
	head, fields := FieldsIn(text)
	if fields == nil {
		return u.paragraph(text)
	}
	if head != "" {
		if err := u.paragraph(head); err != nil {
			return err
		}
	}
	_, err := io.WriteString(u.Out, Lines(fields, u.Palette()))
	return err
}

// saveOnly saves a block's bytes and names the file on standard error.
func (u *UI) saveOnly(c *runtime.Content, save *Saver) error {
	data, mimeType := bytesOf(c)
	if data == nil {
		return nil
	}
	path, err := save.Save(data, mimeType)
	if err != nil {
		return fmt.Errorf("save %s: %w", c.Type, err)
	}
	u.Info("%s saved as %s", c.Type, path)
	return nil
}

// Info writes a line on standard error, unless quiet.
func (u *UI) Info(format string, a ...any) {
	if !u.Quiet {
		u.Say(format, a...)
	}
}

// Say writes a line that belongs to a question on standard error, quiet or not.
func (u *UI) Say(format string, a ...any) {
	u.Note(Palette(u.ErrColor).Label(CleanLine(fmt.Sprintf(format, a...))) + "\n")
}

// Note writes lines for people on standard error, as they are.
func (u *UI) Note(lines string) {
	if u.notes != nil {
		u.live.mu.Lock()
		defer u.live.mu.Unlock()
		u.notes.WriteString(lines)
		return
	}
	u.live.print(u.Err, lines)
}

// PrintJSON writes JSON of a server, unchanged, and a newline. On a terminal it is
// indented, and control and invisible characters are written as \uXXXX.
func (u *UI) PrintJSON(raw []byte) error {
	b := bytes.TrimRight(raw, "\r\n")
	if u.Form != nil {
		return u.inForm(b)
	}
	if u.OutTTY {
		b = JSON(plain.Escape(b), u.Palette())
	}
	_, err := u.Out.Write(append(bytes.Clone(b), '\n'))
	return err
}

// EncodeJSON writes one of mcpctl's own objects as [UI.PrintJSON] does, with <, > and &
// unescaped. Members of type json.RawMessage keep their digits, but not their white
// space.
func (u *UI) EncodeJSON(v any) error {
	raw, err := plain.JSON(v)
	if err != nil {
		return err
	}
	return u.PrintJSON(append(raw, '\n'))
}
