// Package elicit answers a server's elicitations during a call (2025-11-25, Client
// features, Elicitation): a form described by a flat JSON Schema, or a page to open.
// A [Policy] says who answers: the user at the terminal, the schema's defaults, a
// given object, or nobody.
//
//	{"message":"Which board?","requestedSchema":{"type":"object",
//	  "properties":{"kind":{"type":"string","enum":["oak","pine"],"default":"oak"}}}}
//	→ {"action":"accept","content":{"kind":"oak"}}
package elicit

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Mode is who answers.
type Mode int

// Modes. Unset is Ask with a terminal, otherwise nobody.
const (
	Unset Mode = iota
	Ask
	Defaults
	Decline
	Given
)

// Policy is the value of --elicit.
type Policy struct {
	Mode Mode
	// Values are the answers of mode Given, by field.
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

// Capability returns the raw elicitation capability of the policy, nil for none.
// Only a user can open, or refuse to open, a page.
func (p Policy) Capability(terminal bool) json.RawMessage {
	switch {
	case p.Mode == Unset && !terminal:
		return nil
	case p.Mode == Defaults, p.Mode == Given:
		return json.RawMessage(`{"form":{}}`)
	}
	return json.RawMessage(`{"form":{},"url":{}}`)
}
