package bridge

import (
	"bytes"
	"encoding/json"

	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
)

// Extensions of capabilities that we know how to carry (2026-07-28, Extensions).
const (
	ExtensionTasks = "io.modelcontextprotocol/tasks"
	ExtensionUI    = "io.modelcontextprotocol/ui"
)

// Offer gives what is declared to a server of revision to on behalf of a client
// of revision from that has declared capabilities; nil is nothing. The result
// is an object in a canonical order, {} for nothing, so that equal ones are
// equal text. What cannot be carried is left out: core tasks, members that no
// revision knows, extensions other than those known here; and, for a modern
// server, roots.listChanged. elicitation:{} becomes {"form":{}}, its meaning
// (2025-11-25, Elicitation).
func Offer(capabilities json.RawMessage, from, to string) json.RawMessage {
	var c declared
	if len(capabilities) == 0 || string(capabilities) == `{}` || json.Unmarshal(capabilities, &c) != nil {
		return json.RawMessage(`{}`)
	}
	var out object
	if isObject(c.Elicitation) && orLatest(from) >= sinceElicitation {
		out.add("elicitation", offerElicitation(c.Elicitation, from))
	}
	if isObject(c.Sampling) {
		out.add("sampling", offerSampling(c.Sampling, from))
	}
	if isObject(c.Roots) {
		roots := json.RawMessage(`{}`)
		if changes(c.Roots) && !IsModern(to) {
			roots = json.RawMessage(`{"listChanged":true}`)
		}
		out.add("roots", roots)
	}
	if isObject(c.Experimental) && !bytes.Equal(bytes.TrimSpace(c.Experimental), []byte(`{}`)) {
		out.add("experimental", c.Experimental)
	}
	var ext object
	for _, name := range []string{ExtensionTasks, ExtensionUI} {
		if settings := c.Extensions[name]; isObject(settings) {
			ext.add(name, settings)
		}
	}
	if ext.members != nil {
		out.add("extensions", ext.close())
	}
	return rawjson.OneLine(out.close())
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

// offerElicitation gives the modes that a client can be asked in.
func offerElicitation(raw json.RawMessage, from string) json.RawMessage {
	var e struct {
		Form json.RawMessage `json:"form"`
		URL  json.RawMessage `json:"url"`
	}
	_ = json.Unmarshal(raw, &e) // an object of other members declares the form
	var out object
	url := isObject(e.URL) && orLatest(from) >= sinceURL
	if isObject(e.Form) || !url {
		if !isObject(e.Form) {
			e.Form = json.RawMessage(`{}`)
		}
		out.add("form", e.Form)
	}
	if url {
		out.add("url", e.URL)
	}
	return out.close()
}

func offerSampling(raw json.RawMessage, from string) json.RawMessage {
	var s struct {
		Tools   json.RawMessage `json:"tools"`
		Context json.RawMessage `json:"context"`
	}
	_ = json.Unmarshal(raw, &s) // an object of other members declares no more
	var out object
	if orLatest(from) >= sinceURL {
		if isObject(s.Tools) {
			out.add("tools", s.Tools)
		}
		if isObject(s.Context) {
			out.add("context", s.Context)
		}
	}
	return out.close()
}

func changes(roots json.RawMessage) bool {
	var r struct {
		ListChanged bool `json:"listChanged"`
	}
	return json.Unmarshal(roots, &r) == nil && r.ListChanged
}

// MissingFor gives what a client lacks to answer a question of a server, such
// as {"elicitation":{"url":{}}}; nil where it lacks nothing. The client's
// capabilities may be those of any era; nil is nothing.
func MissingFor(method string, params, capabilities json.RawMessage) json.RawMessage {
	var c declared
	_ = json.Unmarshal(capabilities, &c) // what is no object declares nothing
	switch method {
	case "elicitation/create":
		mode := "form"
		if at, err := rawjson.Field(params, "mode"); err == nil {
			if m, ok := rawjson.String(params, at); ok {
				mode = m
			}
		}
		if isObject(c.Elicitation) && declaresMode(c.Elicitation, mode) {
			return nil
		}
		return object{}.with("elicitation", object{}.with(mode, json.RawMessage(`{}`)))
	case "sampling/createMessage":
		wanted := object{}.close()
		if at, err := rawjson.Field(params, "tools"); err == nil && at.Present() {
			wanted = object{}.with("tools", json.RawMessage(`{}`))
			if isObject(c.Sampling) && has(c.Sampling, "tools") {
				return nil
			}
		} else if isObject(c.Sampling) {
			return nil
		}
		return object{}.with("sampling", wanted)
	case "roots/list":
		if isObject(c.Roots) {
			return nil
		}
		return object{}.with("roots", json.RawMessage(`{}`))
	}
	return nil
}

// declaresMode tells whether an elicitation capability holds a mode; one
// without any is for forms.
func declaresMode(elicitation json.RawMessage, mode string) bool {
	return has(elicitation, mode) || mode == "form" && !has(elicitation, "url")
}

func has(object json.RawMessage, name string) bool {
	at, err := rawjson.Field(object, name)
	return err == nil && at.Present() && isObject(at.Of(object))
}

// declares tells whether capabilities name an extension.
func declares(capabilities json.RawMessage, extension string) bool {
	return extensions(capabilities)[extension] != nil
}

// declaresOther tells whether capabilities name an extension that is not one of
// those known here.
func declaresOther(capabilities json.RawMessage) bool {
	for name := range extensions(capabilities) {
		if name != ExtensionTasks && name != ExtensionUI {
			return true
		}
	}
	return false
}

// extensions are those that capabilities name; one whose settings are null
// counts as not there.
func extensions(capabilities json.RawMessage) map[string]json.RawMessage {
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

func isObject(raw json.RawMessage) bool {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	return len(raw) > 0 && raw[0] == '{'
}

// object builds a JSON object member by member. The zero value is ready.
type object struct{ members []byte }

func (o *object) add(name string, value []byte) {
	if o.members != nil {
		o.members = append(o.members, ',')
	}
	o.members = append(append(rawjson.Quote(o.members, name), ':'), value...)
}

func (o object) with(name string, value []byte) json.RawMessage {
	o.add(name, value)
	return o.close()
}

func (o object) close() json.RawMessage {
	return append(append([]byte{'{'}, o.members...), '}')
}
