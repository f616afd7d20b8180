package revision

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime"
)

// CodeURLElicitation is the error of a server that wants its user to visit URLs
// first (2025-11-25, Elicitation, URL Elicitation Required Error). No other
// revision knows it.
const CodeURLElicitation = -32042

// Error converts a server's error to the client's revision. A resource that is
// not there is -32602 in the stateless era and -32002 before it. What only we
// could have done wrong (headers, revision) becomes an internal error, as does
// a code that the client's revision does not know; a capability that the client
// lacks is named to those whose revision knows that error, and only what it
// does lack. The message stays, and so do data and unknown members. Any other
// error is returned as it is.
func (c *Conversion) Error(e *runtime.Error) *runtime.Error {
	modern := IsModern(c.To)
	switch e.Code {
	case runtime.CodeResourceNotFound:
		switch {
		case modern && c.Method == MethodResourcesRead:
			return recode(e, runtime.CodeInvalidParams, nil)
		case modern:
			return recode(e, runtime.CodeInternalError, nil)
		}
	case runtime.CodeInvalidParams:
		if !modern && IsModern(c.From) && c.Method == MethodResourcesRead {
			return recode(e, runtime.CodeResourceNotFound, nil)
		}
	case runtime.CodeHeaderMismatch, runtime.CodeUnsupportedVersion:
		if IsModern(c.From) || modern {
			return recode(e, runtime.CodeInternalError, nil)
		}
	case runtime.CodeMissingCapability:
		return c.missing(e)
	case CodeURLElicitation:
		if c.to() != Latest {
			return recode(e, runtime.CodeInternalError, nil)
		}
	}
	return e
}

// missing converts the error of a server that needs what the client has not
// declared.
func (c *Conversion) missing(e *runtime.Error) *runtime.Error {
	if !IsModern(c.To) {
		if !IsModern(c.From) {
			return e // a number without meaning there
		}
		return recode(e, runtime.CodeInternalError, nil)
	}
	var d struct {
		Required json.RawMessage `json:"requiredCapabilities"`
	}
	if json.Unmarshal(e.Data, &d) != nil || !rawjson.IsObject(d.Required) {
		return e
	}
	lacks := undeclared(d.Required, c.Capabilities)
	if lacks == nil {
		// The client has all of it: it was us who did not pass it on.
		return recode(e, runtime.CodeInternalError, nil)
	}
	if string(lacks) == string(d.Required) {
		return e
	}
	return recode(e, e.Code, lacks)
}

// recode returns an error with another code and, unless required is nil, other
// required capabilities; every other byte stays.
func recode(e *runtime.Error, code int64, required json.RawMessage) *runtime.Error {
	out := *e
	out.Code = code
	if required != nil {
		if data, err := rawjson.Set(e.Data, []rawjson.Member{{Name: "requiredCapabilities", Value: required}}); err == nil {
			out.Data = data
		}
	}
	if e.Raw == nil {
		return &out
	}
	set := []rawjson.Member{{Name: "code", Value: strconv.AppendInt(nil, code, 10)}}
	if required != nil {
		set = append(set, rawjson.Member{Name: "data", Value: out.Data})
	}
	raw, err := rawjson.Set(e.Raw, set)
	if err != nil { // no object: ParseError has made one of it
		raw = nil
	}
	out.Raw = raw
	return &out
}

// undeclared returns what of required capabilities is not declared, nil where
// all is. Both are objects of objects; a member that is declared as {} covers
// only an empty one, but for elicitation, where it means forms.
func undeclared(required, declared json.RawMessage) json.RawMessage {
	entries, err := rawjson.Entries(required)
	if err != nil {
		return nil
	}
	var out rawjson.Builder
	for _, e := range entries {
		want := e.Value.Of(required)
		at, err := rawjson.Field(declared, e.Name)
		have := json.RawMessage(at.Of(declared))
		switch {
		case err != nil || !at.Present() || string(have) == "null":
			out.Add(e.Name, want)
		case e.Name == "elicitation" && rawjson.IsObject(have):
			modes, err := rawjson.Entries(want)
			if err != nil {
				continue
			}
			var lacks rawjson.Builder
			for _, m := range modes {
				if !declaresMode(have, m.Name) {
					lacks.Add(m.Name, m.Value.Of(want))
				}
			}
			if !lacks.Empty() {
				out.Add(e.Name, lacks.Object())
			}
		case rawjson.IsObject(want) && rawjson.IsObject(have):
			if lacks := undeclared(want, have); lacks != nil {
				out.Add(e.Name, lacks)
			}
		}
	}
	if out.Empty() {
		return nil
	}
	return out.Object()
}

// URLElicitations returns the entries of an error that wants its user to visit
// URLs first, each the raw params of an elicitation; nil for any other error.
func URLElicitations(e *runtime.Error) []json.RawMessage {
	if e.Code != CodeURLElicitation {
		return nil
	}
	var d struct {
		Elicitations []json.RawMessage `json:"elicitations"`
	}
	if json.Unmarshal(e.Data, &d) != nil {
		return nil
	}
	return d.Elicitations
}

// Sentence returns an error that a client's revision cannot express in words,
// for a model or a person: the message, the URLs that are to be visited first,
// and the capabilities that are missing.
func Sentence(e *runtime.Error) string {
	var text strings.Builder
	text.WriteString(e.Message)
	for _, raw := range URLElicitations(e) {
		var u struct {
			Message string `json:"message"`
			URL     string `json:"url"`
		}
		if json.Unmarshal(raw, &u) == nil && u.URL != "" {
			text.WriteString("\n" + strings.TrimSpace(u.Message+" "+u.URL))
		}
	}
	var d struct {
		Required map[string]json.RawMessage `json:"requiredCapabilities"`
	}
	if e.Code == runtime.CodeMissingCapability && json.Unmarshal(e.Data, &d) == nil && d.Required != nil {
		if raw, err := json.Marshal(d.Required); err == nil {
			text.WriteString(": the server needs a client with " + string(raw))
		}
	}
	return text.String()
}
