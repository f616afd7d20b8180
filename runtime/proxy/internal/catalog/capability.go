package catalog

import (
	"encoding/json"
	"maps"
	"unicode/utf8"

	"github.com/mcpctl/mcpctl/internal/revision"
)

// Capabilities is a server's capabilities object as the proxy declares it.
type Capabilities struct {
	Tools       *listCapability            `json:"tools,omitempty"`
	Prompts     *listCapability            `json:"prompts,omitempty"`
	Resources   *listCapability            `json:"resources,omitempty"`
	Completions *struct{}                  `json:"completions,omitempty"`
	Logging     *struct{}                  `json:"logging,omitempty"`
	Extensions  map[string]json.RawMessage `json:"extensions,omitempty"`
}

// listCapability is a capability whose lists may change: those of a proxy always may.
type listCapability struct {
	Subscribe   bool `json:"subscribe,omitempty"`
	ListChanged bool `json:"listChanged"`
}

// EveryCapability returns all that a proxy can offer, for clients that are told once,
// when not all backends may be known. Lists may be empty.
func EveryCapability() Capabilities {
	return Capabilities{
		Tools: &listCapability{ListChanged: true}, Prompts: &listCapability{ListChanged: true},
		Resources: &listCapability{Subscribe: true, ListChanged: true}, Completions: &struct{}{}, Logging: &struct{}{},
		Extensions: map[string]json.RawMessage{revision.ExtensionUI: json.RawMessage(`{}`)},
	}
}

// Join adds what a server declares. Extensions are those that are carried
// whatever server has them.
func (o *Capabilities) Join(raw json.RawMessage) {
	var declared Capabilities
	if json.Unmarshal(raw, &declared) != nil {
		return
	}
	lists := func(all **listCapability, its *listCapability) {
		if its == nil {
			return
		}
		if *all == nil {
			*all = &listCapability{ListChanged: true}
		}
		(*all).Subscribe = (*all).Subscribe || its.Subscribe
	}
	lists(&o.Tools, declared.Tools)
	lists(&o.Prompts, declared.Prompts)
	lists(&o.Resources, declared.Resources)
	if declared.Completions != nil {
		o.Completions = declared.Completions
	}
	if declared.Logging != nil {
		o.Logging = declared.Logging
	}
	if declared.Extensions[revision.ExtensionUI] != nil {
		o.Extend(revision.ExtensionUI)
	}
}

// Extend adds an extension.
func (o *Capabilities) Extend(extension string) {
	if o.Extensions = maps.Clone(o.Extensions); o.Extensions == nil {
		o.Extensions = map[string]json.RawMessage{}
	}
	o.Extensions[extension] = json.RawMessage(`{}`)
}

// CutCapabilities shortens a text to a number of bytes, at a whole character.
func CutCapabilities(text string, most int) string {
	if len(text) <= most {
		return text
	}
	const mark = " […]"
	end := most - len(mark)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + mark
}
