package elicit

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Mode is who answers.
type Mode int

// Modes. Unset is Ask where there is a terminal, and else nobody.
const (
	Unset Mode = iota
	Ask
	Defaults
	Decline
	Given
)

// Policy is what --elicit says.
type Policy struct {
	Mode Mode
	// Values are what Given answers with, by field.
	Values map[string]json.RawMessage
}

// ParsePolicy reads the text of --elicit: ask, defaults, decline, or a JSON
// object; "" is the zero Policy. The error completes a sentence that begins
// with the flag.
func ParsePolicy(text string) (Policy, error) {
	switch text {
	case "":
		return Policy{}, nil
	case "ask":
		return Policy{Mode: Ask}, nil
	case "defaults":
		return Policy{Mode: Defaults}, nil
	case "decline":
		return Policy{Mode: Decline}, nil
	}
	p := Policy{Mode: Given}
	if raw := bytes.TrimSpace([]byte(text)); !bytes.HasPrefix(raw, []byte("{")) || json.Unmarshal(raw, &p.Values) != nil {
		return Policy{}, errors.New("want ask, defaults, decline or a JSON object")
	}
	return p, nil
}

// Capability is the raw elicitation capability of who answers by the policy:
// what a server may ask, and no more. Nil is nothing. A page can be opened, or
// refused, by a person alone.
func (p Policy) Capability(terminal bool) json.RawMessage {
	switch {
	case p.Mode == Unset && !terminal:
		return nil
	case p.Mode == Defaults, p.Mode == Given:
		return json.RawMessage(`{"form":{}}`)
	}
	return json.RawMessage(`{"form":{},"url":{}}`)
}
