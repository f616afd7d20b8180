package client

import (
	"encoding/json"

	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime"
)

// Describe returns a program's name and version as JSON, nil where it has not said.
func Describe(i runtime.Implementation) json.RawMessage {
	if i.Name == "" {
		return nil
	}
	raw, err := json.Marshal(i)
	if err != nil {
		panic("proxy: strings have no JSON form: " + err.Error())
	}
	return raw
}

// WithRoots returns what a client can be asked with roots among it.
func WithRoots(capabilities json.RawMessage) json.RawMessage {
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
