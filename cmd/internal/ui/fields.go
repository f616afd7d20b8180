package ui

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/mcpctl/mcpctl/internal/plain"
)

// maxFields bounds how many lines errors of validation get.
const maxFields = 50

// Fields returns errors of validation, one line a field, as servers write them:
// {"errors":{"field":[…]}}, {"detail":[{"loc","msg"}]}, [{"path","message"}] and
// {"field":[…]}. It returns nil for anything else.
func Fields(raw []byte) []string {
	raw = bytes.TrimSpace(raw)
	var lines []string
	switch {
	case len(raw) == 0:
		return nil
	case raw[0] == '[':
		lines = issues(raw)
	case raw[0] == '{':
		lines = fieldsOf(raw)
	}
	if len(lines) > maxFields {
		lines = append(lines[:maxFields:maxFields], "…+"+strconv.Itoa(len(lines)-maxFields))
	}
	return lines
}

// fieldsOf reads an object: one of issues, or of fields with what is wrong with them.
func fieldsOf(raw []byte) []string {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return nil
	}
	for _, name := range []string{"errors", "detail", "issues"} {
		inner := bytes.TrimSpace(members[name])
		if len(inner) == 0 {
			continue
		}
		if inner[0] == '{' {
			return fieldsOf(inner)
		}
		if lines := issues(inner); lines != nil {
			return lines
		}
	}
	var lines []string
	for _, name := range order(raw) {
		texts, ok := texts(members[name])
		if !ok {
			return nil
		}
		for _, text := range texts {
			lines = append(lines, plain.Line(name)+": "+plain.Line(text))
		}
	}
	return lines
}

// texts reads a text or a list of texts.
func texts(raw json.RawMessage) ([]string, bool) {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}, true
	}
	var all []string
	err := json.Unmarshal(raw, &all)
	return all, err == nil
}

// order returns the names of an object's members as they stand.
func order(raw []byte) []string {
	d := json.NewDecoder(bytes.NewReader(raw))
	var names []string
	if _, err := d.Token(); err != nil {
		return nil
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return nil
		}
		if text, ok := name.(string); ok {
			names = append(names, text)
		}
	}
	return names
}

// issues reads a list of {"path" or "loc" or "field", "message" or "msg"}.
func issues(raw []byte) []string {
	var all []struct {
		Path, Loc, Field json.RawMessage
		Message, Msg     string
	}
	if json.Unmarshal(raw, &all) != nil {
		return nil
	}
	lines := make([]string, 0, len(all))
	for _, i := range all {
		text := i.Message
		if text == "" {
			text = i.Msg
		}
		if text == "" {
			return nil
		}
		where := ""
		for _, p := range []json.RawMessage{i.Path, i.Loc, i.Field} {
			if where == "" {
				where = place(p)
			}
		}
		if where != "" {
			text = where + ": " + text
		}
		lines = append(lines, plain.Line(text))
	}
	return lines
}

// place writes where in the arguments something is: a text, or steps as in a[0].b.
func place(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var steps []any
	if json.Unmarshal(raw, &steps) != nil {
		return ""
	}
	var b strings.Builder
	for _, s := range steps {
		switch v := s.(type) {
		case string:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(v)
		case float64:
			b.WriteString("[" + strconv.Itoa(int(v)) + "]")
		}
	}
	return b.String()
}

// FieldsIn finds errors of validation at the end of a text, which servers put behind
// words of their own. It returns the words before them, and nil without any.
func FieldsIn(text string) (head string, fields []string) {
	text = strings.TrimSpace(text)
	const tries = 20 // brackets in the words before
	from := 0
	for range tries {
		i := strings.IndexAny(text[from:], "[{")
		if i < 0 {
			return text, nil
		}
		from += i
		if rest := []byte(text[from:]); json.Valid(rest) {
			if fields := Fields(rest); fields != nil {
				return strings.TrimSpace(text[:from]), fields
			}
		}
		from++
	}
	return text, nil
}

// Failure is an error as a person reads it.
type Failure struct {
	// Server is the server whose error it is, "" where Message names it or none has one.
	Server  string
	Message string
	// Details are further lines, such as the fields that do not fit.
	Details []string
	Hint    string
}

// Render returns the lines of standard error.
func (f Failure) Render(p Palette) string {
	head := plain.Text(strings.TrimRight(f.Message, "\r\n"))
	if f.Server != "" {
		head = plain.Line(f.Server) + ": " + head
	}
	var b strings.Builder
	b.WriteString(p.Label("mcpctl: "+hang(head)) + "\n")
	for _, d := range f.Details {
		b.WriteString("  " + p.field(plain.Line(d)) + "\n")
	}
	if f.Hint != "" {
		b.WriteString(p.Label("hint: "+plain.Line(f.Hint)) + "\n")
	}
	return b.String()
}

// field colours the name of a field: what is before the first colon and a space.
func (p Palette) field(line string) string {
	name, rest, ok := strings.Cut(line, ": ")
	if !ok {
		return line
	}
	return p.Yellow(name) + ": " + rest
}

// Lines returns fields as indented lines, without what could change a terminal.
func Lines(fields []string, p Palette) string {
	var b strings.Builder
	for _, f := range fields {
		b.WriteString("  " + p.field(plain.Line(f)) + "\n")
	}
	return b.String()
}

// hang indents further lines, so that a server's message cannot imitate one of ours.
func hang(text string) string {
	first, rest, more := strings.Cut(text, "\n")
	if !more {
		return text
	}
	lines := strings.Split(rest, "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, "  ") {
			lines[i] = "  " + line
		}
	}
	return first + "\n" + strings.Join(lines, "\n")
}
