package elicit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"time"

	"github.com/mcpctl/mcpctl/runtime/schema"
)

// Form holds the fields of a form, in the order of its schema.
type Form struct {
	Fields []Field
	schema *schema.Schema
}

// Kind is the kind of a field.
type Kind int

// The kinds of fields. Any other field is entered as JSON.
const (
	Text Kind = iota
	Number
	Boolean
	Choice  // one of Options
	Choices // several of Options
	JSON
)

// Field is one member of the answer.
type Field struct {
	Name        string
	Title       string // or ""
	Description string
	Kind        Kind
	Required    bool
	// Default is the raw default value, nil for none.
	Default json.RawMessage
	// Options are those of Choice and Choices.
	Options []Option
	// Format is "email", "uri", "date" or "date-time", else "".
	Format string

	schema *schema.Schema // of the value
}

// Option is one value to choose from and its title.
type Option struct{ Value, Title string }

// ParseForm reads a requestedSchema. A schema that cannot be used is the
// server's fault, a *schema.Error.
func ParseForm(raw json.RawMessage) (*Form, error) {
	s, err := schema.Parse(raw)
	if err != nil {
		return nil, err
	}
	var object struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &object); err != nil {
			return nil, &schema.Error{Err: err}
		}
	}
	f := &Form{schema: s}
	for _, p := range s.Root().Properties() {
		field, err := parseField(object.Properties[p.Name])
		if err != nil {
			return nil, &schema.Error{Err: fmt.Errorf("property %s: %w", p.Name, err)}
		}
		field.Name, field.Required, field.Format = p.Name, p.Required, p.Node.Format()
		field.Description = p.Node.Description()
		f.Fields = append(f.Fields, field)
	}
	return f, nil
}

// property is the schema of one field. Revisions differ in how choices get
// their titles: enumNames (2025-06-18), oneOf of const and title (2025-11-25).
type property struct {
	Type      string          `json:"type"`
	Title     string          `json:"title"`
	Default   json.RawMessage `json:"default"`
	Enum      []string        `json:"enum"`
	EnumNames []string        `json:"enumNames"`
	OneOf     []titled        `json:"oneOf"`
	AnyOf     []titled        `json:"anyOf"`
	Items     *property       `json:"items"`
}

type titled struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

func parseField(raw json.RawMessage) (Field, error) {
	s, err := schema.Parse(raw)
	if err != nil {
		return Field{}, err
	}
	f := Field{Kind: JSON, schema: s}
	var p property
	if err := json.Unmarshal(raw, &p); err != nil {
		return f, nil //nolint:nilerr // in no revision: entered as JSON
	}
	f.Title, f.Default = p.Title, p.Default
	if string(bytes.TrimSpace(f.Default)) == "null" {
		f.Default = nil
	}
	switch p.Type {
	case "string", "":
		if f.Options = p.options(); len(f.Options) > 0 {
			f.Kind = Choice
		} else if p.Type == "string" {
			f.Kind = Text
		}
	case "number", "integer":
		f.Kind = Number
	case "boolean":
		f.Kind = Boolean
	case "array":
		if p.Items != nil {
			if f.Options = p.Items.options(); len(f.Options) > 0 {
				f.Kind = Choices
			}
		}
	}
	return f, nil
}

func (p *property) options() []Option {
	var out []Option
	for i, v := range p.Enum {
		o := Option{Value: v, Title: v}
		if i < len(p.EnumNames) {
			o.Title = cmp.Or(p.EnumNames[i], v)
		}
		out = append(out, o)
	}
	for _, t := range append(p.OneOf, p.AnyOf...) {
		out = append(out, Option{Value: t.Const, Title: cmp.Or(t.Title, t.Const)})
	}
	return out
}

// Content returns the answer's content, in the order of the form: the given values
// of its fields, and the schema's defaults for others. Values that do not fit are a
// *schema.ValidationError.
func (f *Form) Content(given map[string]json.RawMessage) (json.RawMessage, error) {
	out := []byte{'{'}
	for _, field := range f.Fields {
		v, ok := given[field.Name]
		if !ok {
			v = field.Default
		}
		if v == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(out, schema.Quote(field.Name)...), ':')
		out = append(out, v...)
	}
	out = append(out, '}')
	if err := f.schema.Validate(out); err != nil {
		return nil, err
	}
	for _, field := range f.Fields {
		if v, ok := given[field.Name]; ok {
			if err := field.checkFormat(v); err != nil {
				return nil, &schema.ValidationError{Issues: []schema.Issue{{Pointer: schema.Pointer("", field.Name), Message: err.Error()}}}
			}
		}
	}
	return out, nil
}

// value parses the input for a field: JSON of the field's kind that fits its
// schema, nil for no input.
func (f *Field) value(typed string) (json.RawMessage, error) {
	if typed == "" {
		if f.Required && f.Kind != Text {
			return nil, errors.New("an answer is needed")
		}
		if !f.Required {
			return nil, nil
		}
	}
	raw := json.RawMessage(typed)
	if f.Kind == Text {
		raw = json.RawMessage(schema.Quote(typed))
	}
	if !json.Valid(raw) {
		if f.Kind == Number {
			return nil, errors.New("want a number")
		}
		return nil, errors.New("want JSON")
	}
	if err := f.fits(raw); err != nil {
		return nil, err
	}
	return raw, nil
}

// fits checks a value against the field's own schema.
func (f *Field) fits(raw json.RawMessage) error {
	err := f.schema.Validate(raw)
	var unfit *schema.ValidationError
	if errors.As(err, &unfit) && len(unfit.Issues) > 0 {
		return errors.New(unfit.Issues[0].Message)
	}
	if err != nil {
		return err
	}
	return f.checkFormat(raw)
}

// checkFormat checks the four formats of forms (2025-11-25, Elicitation, Supported
// Schema Types). Elsewhere a schema's format is an annotation; here it catches
// typing errors.
func (f *Field) checkFormat(raw json.RawMessage) error {
	if f.Kind != Text || f.Format == "" {
		return nil
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return err
	}
	switch f.Format {
	case "email":
		if a, err := mail.ParseAddress(s); err != nil || a.Address != s {
			return errors.New("want an e-mail address, such as me@example.com")
		}
	case "uri":
		if u, err := url.Parse(s); err != nil || u.Scheme == "" {
			return errors.New("want an address, such as https://example.com/")
		}
	case "date":
		if _, err := time.Parse(time.DateOnly, s); err != nil {
			return errors.New("want a date, such as 2026-01-31")
		}
	case "date-time":
		if _, err := time.Parse(time.RFC3339, s); err != nil {
			return errors.New("want a date and time, such as 2026-01-31T12:00:00Z")
		}
	}
	return nil
}
