package tomledit

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// ErrInline is the error of an edit below a value that is written as one expression.
var ErrInline = errors.New("the table around it is written on one line, in braces")

// Set writes a JSON object as the table at a path: in place of the table that is there, or
// behind the last table beside it. Every other byte stays. Members that are null are left
// out.
//
// The error is [ErrInline], or says that the value has no form in TOML.
func (d *Document) Set(value json.RawMessage, path ...string) (*Document, error) {
	text, err := table(path, value, d.newline())
	if err != nil {
		return nil, err
	}
	cuts, err := d.cuts(path)
	if err != nil {
		return nil, err
	}
	at := d.behind(path[:len(path)-1])
	if len(cuts) > 0 {
		cuts[0].start = d.headerLine(cuts[0]) // comments above it stay
		at = cuts[0].start
	} else {
		text = d.separated(at, text)
	}
	return d.apply(cuts, at, text, path)
}

// Remove deletes the table at a path and those below it, with the comments right above
// them. A path that leads nowhere returns the document itself.
func (d *Document) Remove(path ...string) (*Document, error) {
	cuts, err := d.cuts(path)
	if err != nil || len(cuts) == 0 {
		return d, err
	}
	return d.apply(cuts, 0, "", path)
}

// span is text[start:end].
type span struct{ start, end int }

// cuts returns the lines of what is at a path or below it.
func (d *Document) cuts(path []string) ([]span, error) {
	var cuts []span
	for i := 0; i < len(d.exprs); i++ {
		x := d.exprs[i]
		if !below(x.path, path) {
			if !x.header && below(path, x.path) && lookup(d.values, path) != nil {
				return nil, ErrInline
			}
			continue
		}
		c := span{d.own(i), x.end}
		if x.header {
			for i+1 < len(d.exprs) && !d.exprs[i+1].header {
				i++
				c.end = d.exprs[i].end
			}
			c.end = blank(d.text, c.end)
		}
		cuts = append(cuts, c)
	}
	for _, x := range d.exprs {
		if !x.header && len(x.path) < len(path) && below(path, x.path) {
			return nil, ErrInline
		}
	}
	return cuts, nil
}

// own returns where an expression begins with the comment lines right above it.
func (d *Document) own(i int) int {
	limit := 0
	if i > 0 {
		limit = d.exprs[i-1].end
	}
	at := d.exprs[i].start
	for at > limit {
		line := bytes.LastIndexByte(d.text[:at-1], '\n') + 1
		if line < limit || !bytes.HasPrefix(bytes.TrimLeft(d.text[line:at], " \t"), []byte("#")) {
			break
		}
		at = line
	}
	return at
}

// headerLine returns where the expression of a cut begins, behind its comments.
func (d *Document) headerLine(c span) int {
	for _, x := range d.exprs {
		if x.start >= c.start {
			return x.start
		}
	}
	return c.start
}

// blank returns the offset behind the blank lines that follow one.
func blank(text []byte, at int) int {
	for at < len(text) {
		end := len(text)
		if n := bytes.IndexByte(text[at:], '\n'); n >= 0 {
			end = at + n + 1
		}
		if len(bytes.TrimSpace(text[at:end])) > 0 {
			break
		}
		at = end
	}
	return at
}

// behind returns where a new table goes: behind the last one below a path, or the end.
func (d *Document) behind(parent []string) int {
	at := len(d.text)
	for i, x := range d.exprs {
		if !below(x.path, parent) {
			continue
		}
		at = x.end
		if i+1 == len(d.exprs) {
			at = len(d.text)
		} else if next := d.own(i + 1); d.exprs[i+1].header {
			at = next
		}
	}
	return at
}

// separated returns a table's text with the blank lines that keep it apart from the text
// around an offset.
func (d *Document) separated(at int, text string) string {
	nl := d.newline()
	before := string(d.text[:at])
	switch {
	case strings.TrimSpace(before) == "":
	case !strings.HasSuffix(before, "\n"):
		text = nl + nl + text
	case !strings.HasSuffix(strings.ReplaceAll(before, "\r", ""), "\n\n"):
		text = nl + text
	}
	if at < len(d.text) {
		text += nl
	}
	return text
}

func (d *Document) newline() string {
	if i := bytes.IndexByte(d.text, '\n'); i > 0 && d.text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// apply cuts and inserts, and verifies that only what the path leads to has changed.
func (d *Document) apply(cuts []span, at int, text string, path []string) (*Document, error) {
	// A text replaces the first cut, and keeps the blank lines behind it.
	if text != "" && len(cuts) > 0 {
		last := cuts[0].end
		for last > cuts[0].start && len(bytes.TrimSpace(d.text[lineStart(d.text, last-1):last])) == 0 {
			last = lineStart(d.text, last-1)
		}
		cuts[0].end = last
	}
	out := slices.Clone(d.raw[:len(d.raw)-len(d.text)])
	done := 0
	emit := func(to int) {
		if done <= at && at <= to && text != "" {
			out = append(append(out, d.text[done:at]...), text...)
			done, text = at, ""
		}
		out = append(out, d.text[done:to]...)
	}
	for _, c := range cuts {
		emit(c.start)
		done = c.end
	}
	emit(len(d.text))
	edited, err := Parse(out)
	if err != nil {
		return nil, errors.New("the edit would break the file")
	}
	if !d.unchanged(edited, path) {
		return nil, errors.New("the edit would change something else")
	}
	return edited, nil
}

func lineStart(text []byte, at int) int { return bytes.LastIndexByte(text[:at], '\n') + 1 }
