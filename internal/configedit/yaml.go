package configedit

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/mcpctl/mcpctl/internal/yamledit"
)

// SetYAML writes a value under a path of names into a YAML text.
func SetYAML(text []byte, value any, path ...string) ([]byte, error) {
	d, err := yamledit.Parse(text)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	comment := trailing(d, path)
	if d, err = d.Set(raw, path...); err != nil {
		return nil, err
	}
	if comment == "" {
		return d.Bytes(), nil
	}
	out := strings.SplitAfter(string(d.Bytes()), "\n")
	at := d.Line(path...) - 1
	line := strings.TrimRight(out[at], "\r\n")
	out[at] = line + comment + out[at][len(line):]
	again, err := yamledit.Parse([]byte(strings.Join(out, "")))
	if err != nil || string(again.Value(path...)) != string(d.Value(path...)) {
		return nil, errors.New("the comment behind the value is in the way; edit the file by hand")
	}
	return again.Bytes(), nil
}

// trailing returns the comment behind a value that is a plain text in one line, with the
// space before it.
func trailing(d *yamledit.Document, path []string) string {
	at := d.Line(path...)
	if at == 0 || strings.ContainsAny(string(d.Value(path...)[:1]), "[{") {
		return ""
	}
	line := strings.TrimRight(strings.Split(string(d.Bytes()), "\n")[at-1], "\r")
	_, value, _ := strings.Cut(line, path[len(path)-1]+":")
	value = strings.TrimLeft(value, " ")
	i := strings.Index(value, " #")
	if value != "" && strings.ContainsAny(value[:1], `"'`) {
		i = quotedEnd(value)
	}
	if i < 0 || !strings.HasPrefix(strings.TrimLeft(value[i:], " "), "#") {
		return ""
	}
	return value[len(strings.TrimRight(value[:i], " ")):]
}

// quotedEnd returns where the quoted text ends that a text begins with, -1 if it goes on
// in the next line.
func quotedEnd(text string) int {
	quote := text[0]
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote == '"', text[i] == quote && strings.HasPrefix(text[i+1:], "'") && quote == '\'':
			i++
		case text[i] == quote:
			return i + 1
		}
	}
	return -1
}

// UnsetYAML removes the value under a path of names from a YAML text, and reports whether
// it was there.
func UnsetYAML(text []byte, path ...string) (after []byte, found bool, err error) {
	d, err := yamledit.Parse(text)
	if err != nil {
		return nil, false, err
	}
	found = d.Value(path...) != nil
	if d, err = d.Remove(path...); err != nil {
		return nil, false, err
	}
	return d.Bytes(), found, nil
}
