package elicit

import (
	"encoding/json"
	"errors"
	"net/mail"
	"net/url"
	"time"
)

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
