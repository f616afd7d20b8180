package revision

import (
	"bytes"
	"encoding/json"

	"github.com/mcpctl/mcpctl/internal/rawjson"
)

// Extensions of capabilities that we know how to carry (2026-07-28, Extensions).
const (
	ExtensionTasks = "io.modelcontextprotocol/tasks"
	ExtensionUI    = "io.modelcontextprotocol/ui"
)

// Offer returns what is declared to a server of revision to on behalf of a
// client of revision from that has declared capabilities; nil is nothing. The
// result is an object in a canonical order, {} for nothing, so that equal ones
// are equal text. Left out is what cannot be carried: core tasks, members that
// no revision knows, extensions other than those known here; and, for a modern
// server, roots.listChanged. elicitation:{} becomes {"form":{}}, its meaning
// (2025-11-25, Elicitation).
func Offer(capabilities json.RawMessage, from, to string) json.RawMessage {
	var c declared
	if len(capabilities) == 0 || string(capabilities) == `{}` || json.Unmarshal(capabilities, &c) != nil {
		return json.RawMessage(`{}`)
	}
	var out rawjson.Builder
	if rawjson.IsObject(c.Elicitation) && orLatest(from) >= sinceElicitation {
		out.Add("elicitation", offerElicitation(c.Elicitation, from))
	}
	if rawjson.IsObject(c.Sampling) {
		out.Add("sampling", offerSampling(c.Sampling, from))
	}
	if rawjson.IsObject(c.Roots) {
		roots := json.RawMessage(`{}`)
		if listChanged(c.Roots) && !IsModern(to) {
			roots = json.RawMessage(`{"listChanged":true}`)
		}
		out.Add("roots", roots)
	}
	if rawjson.IsObject(c.Experimental) && !bytes.Equal(bytes.TrimSpace(c.Experimental), []byte(`{}`)) {
		out.Add("experimental", c.Experimental)
	}
	var ext rawjson.Builder
	for _, name := range []string{ExtensionTasks, ExtensionUI} {
		if settings := c.Extensions[name]; rawjson.IsObject(settings) {
			ext.Add(name, settings)
		}
	}
	if !ext.Empty() {
		out.Add("extensions", ext.Object())
	}
	return rawjson.OneLine(out.Object())
}

// Asks reports whether a client with these capabilities can be asked something:
// elicitation, sampling or roots.
func Asks(capabilities json.RawMessage) bool {
	var c declared
	return json.Unmarshal(capabilities, &c) == nil &&
		(rawjson.IsObject(c.Elicitation) || rawjson.IsObject(c.Sampling) || rawjson.IsObject(c.Roots))
}

// declared are the members of a client's capabilities that we know.
type declared struct {
	Elicitation  json.RawMessage            `json:"elicitation"`
	Sampling     json.RawMessage            `json:"sampling"`
	Roots        json.RawMessage            `json:"roots"`
	Experimental json.RawMessage            `json:"experimental"`
	Extensions   map[string]json.RawMessage `json:"extensions"`
}

// sinceElicitation is the revision that brought elicitation, sinceURL the one
// that brought its mode url, and tools and several blocks in sampling.
const (
	sinceElicitation = "2025-06-18"
	sinceURL         = "2025-11-25"
)

// offerElicitation returns the modes that a client can be asked in.
func offerElicitation(raw json.RawMessage, from string) json.RawMessage {
	var e struct {
		Form json.RawMessage `json:"form"`
		URL  json.RawMessage `json:"url"`
	}
	_ = json.Unmarshal(raw, &e) // an object of other members declares the form
	var out rawjson.Builder
	url := rawjson.IsObject(e.URL) && orLatest(from) >= sinceURL
	if rawjson.IsObject(e.Form) || !url {
		if !rawjson.IsObject(e.Form) {
			e.Form = json.RawMessage(`{}`)
		}
		out.Add("form", e.Form)
	}
	if url {
		out.Add("url", e.URL)
	}
	return out.Object()
}

func offerSampling(raw json.RawMessage, from string) json.RawMessage {
	var s struct {
		Tools   json.RawMessage `json:"tools"`
		Context json.RawMessage `json:"context"`
	}
	_ = json.Unmarshal(raw, &s) // an object of other members declares no more
	var out rawjson.Builder
	if orLatest(from) >= sinceURL {
		if rawjson.IsObject(s.Tools) {
			out.Add("tools", s.Tools)
		}
		if rawjson.IsObject(s.Context) {
			out.Add("context", s.Context)
		}
	}
	return out.Object()
}

func listChanged(roots json.RawMessage) bool {
	var r struct {
		ListChanged bool `json:"listChanged"`
	}
	return json.Unmarshal(roots, &r) == nil && r.ListChanged
}

// MissingFor returns what a client lacks to answer a question of a server, such
// as {"elicitation":{"url":{}}}; nil where it lacks nothing. The client's
// capabilities may be those of any era; nil is nothing.
func MissingFor(method string, params, capabilities json.RawMessage) json.RawMessage {
	var c declared
	_ = json.Unmarshal(capabilities, &c) // what is no object declares nothing
	switch method {
	case MethodElicitationCreate:
		mode, ok := rawjson.FieldString(params, "mode")
		if !ok {
			mode = "form"
		}
		if rawjson.IsObject(c.Elicitation) && declaresMode(c.Elicitation, mode) {
			return nil
		}
		return rawjson.Wrap("elicitation", rawjson.Wrap(mode, json.RawMessage(`{}`)))
	case MethodSamplingCreateMessage:
		wanted := json.RawMessage(`{}`)
		if at, err := rawjson.Field(params, "tools"); err == nil && at.Present() {
			wanted = rawjson.Wrap("tools", json.RawMessage(`{}`))
			if rawjson.IsObject(c.Sampling) && hasObject(c.Sampling, "tools") {
				return nil
			}
		} else if rawjson.IsObject(c.Sampling) {
			return nil
		}
		return rawjson.Wrap("sampling", wanted)
	case MethodRootsList:
		if rawjson.IsObject(c.Roots) {
			return nil
		}
		return rawjson.Wrap("roots", json.RawMessage(`{}`))
	}
	return nil
}

// declaresMode reports whether an elicitation capability has a mode; one
// without any is for forms.
func declaresMode(elicitation json.RawMessage, mode string) bool {
	return hasObject(elicitation, mode) || mode == "form" && !hasObject(elicitation, "url")
}

func hasObject(object json.RawMessage, name string) bool {
	at, err := rawjson.Field(object, name)
	return err == nil && at.Present() && rawjson.IsObject(at.Of(object))
}

// HasExtension reports whether capabilities name an extension.
func HasExtension(capabilities json.RawMessage, extension string) bool {
	return Extensions(capabilities)[extension] != nil
}

// declaresOther reports whether capabilities name an extension that is not
// known here.
func declaresOther(capabilities json.RawMessage) bool {
	for name := range Extensions(capabilities) {
		if name != ExtensionTasks && name != ExtensionUI {
			return true
		}
	}
	return false
}

// Extensions returns those that capabilities name; one whose settings are null
// counts as absent.
func Extensions(capabilities json.RawMessage) map[string]json.RawMessage {
	if !bytes.Contains(capabilities, []byte(`"extensions"`)) && bytes.IndexByte(capabilities, '\\') < 0 {
		return nil
	}
	var c struct {
		Extensions map[string]json.RawMessage `json:"extensions"`
	}
	if json.Unmarshal(capabilities, &c) != nil {
		return nil
	}
	for name, settings := range c.Extensions {
		if string(settings) == "null" {
			delete(c.Extensions, name)
		}
	}
	return c.Extensions
}
