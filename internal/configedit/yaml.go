package configedit

import (
	"encoding/json"

	"github.com/mcpctl/mcpctl/internal/yamledit"
)

// GetYAML returns the value under a path of names in a YAML text as JSON, nil for none.
func GetYAML(text []byte, path ...string) (json.RawMessage, error) {
	d, err := yamledit.Parse(text)
	if err != nil {
		return nil, err
	}
	return d.Value(path...), nil
}

// SetYAML writes a value under a path of names into a YAML text.
func SetYAML(text []byte, value any, path ...string) ([]byte, error) {
	return writeYAML(text, value, (*yamledit.Document).Set, path)
}

// AppendYAML writes a value at the end of the list under a path of names of a YAML text.
func AppendYAML(text []byte, value any, path ...string) ([]byte, error) {
	return writeYAML(text, value, (*yamledit.Document).Append, path)
}

func writeYAML(text []byte, value any, write func(*yamledit.Document, json.RawMessage, ...string) (*yamledit.Document, error), path []string) ([]byte, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return edited(text, func(d *yamledit.Document) (*yamledit.Document, error) { return write(d, raw, path...) })
}

// CommentYAML writes a comment above the value under a path of names of a YAML text.
func CommentYAML(text []byte, comment string, path ...string) ([]byte, error) {
	return edited(text, func(d *yamledit.Document) (*yamledit.Document, error) { return d.Comment(comment, path...) })
}

// edited returns a YAML text after an edit.
func edited(text []byte, edit func(*yamledit.Document) (*yamledit.Document, error)) ([]byte, error) {
	d, err := yamledit.Parse(text)
	if err != nil {
		return nil, err
	}
	if d, err = edit(d); err != nil {
		return nil, err
	}
	return d.Bytes(), nil
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
