package upstream

import (
	"encoding/json"

	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
)

// HasRoots reports whether the configuration has roots.
func (s *Set) HasRoots() bool { return len(s.o.Roots) > 0 }

// Roots answers a server that asks for roots outside any call, or for those of a
// client that has none.
func (s *Set) Roots() json.RawMessage {
	if !s.HasRoots() {
		return json.RawMessage(`{"roots":[]}`)
	}
	return append(append(json.RawMessage(`{"roots":`), s.o.Roots...), '}')
}

// WithRoots returns what a client can be asked with roots among it, where the
// configuration has some to answer with.
func (s *Set) WithRoots(capabilities json.RawMessage) json.RawMessage {
	if !s.HasRoots() {
		return capabilities
	}
	at, err := rawjson.Field(capabilities, "roots")
	if err != nil || at.Present() {
		return capabilities
	}
	out, err := rawjson.Set(capabilities, []rawjson.Member{{Name: "roots", Value: []byte(`{}`)}})
	if err != nil {
		return capabilities
	}
	return out
}
