package proxy

import (
	"encoding/json"

	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
)

// hasRoots reports whether the configuration has roots.
func (s *Set) hasRoots() bool { return len(s.o.Roots) > 0 }

// roots answers a server that asks for roots outside any call, or for those of a
// client that has none.
func (s *Set) roots() json.RawMessage {
	if !s.hasRoots() {
		return json.RawMessage(`{"roots":[]}`)
	}
	return append(append(json.RawMessage(`{"roots":`), s.o.Roots...), '}')
}

// withRoots returns what a client can be asked with roots among it, where the
// configuration has some to answer with.
func (s *Set) withRoots(capabilities json.RawMessage) json.RawMessage {
	if !s.hasRoots() {
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
