package proxy

import (
	"encoding/json"
	"slices"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
)

// initialize answers at once, whatever the state of the backends: what it
// declares is the full superset, and lists may be empty.
func (p *Proxy) initialize(r request) ([]byte, error) {
	version, _ := greeting(r.line, r.msg)
	type change struct {
		ListChanged bool `json:"listChanged"`
		Subscribe   bool `json:"subscribe,omitempty"`
	}
	return json.Marshal(struct {
		ProtocolVersion string                 `json:"protocolVersion"`
		Capabilities    map[string]any         `json:"capabilities"`
		ServerInfo      runtime.Implementation `json:"serverInfo"`
		Instructions    string                 `json:"instructions,omitempty"`
	}{
		version,
		map[string]any{
			"tools": change{ListChanged: true}, "prompts": change{ListChanged: true}, "resources": change{true, true},
			"completions": struct{}{}, "logging": struct{}{},
		},
		p.o.Info,
		p.instructions(),
	})
}

// greeting reads what an initialize request settles: the revision to speak, the
// newest where the client's is not ours, and what the client can be asked.
func greeting(line []byte, m *rawjson.Message) (version string, capabilities json.RawMessage) {
	version, _ = rawjson.String(line, m.ProtocolVersion)
	if !slices.Contains(versions(), version) {
		version = versions()[0]
	}
	if at, err := rawjson.Field(m.Params.Of(line), "capabilities"); err == nil && at.Present() {
		capabilities = clone(at.Of(m.Params.Of(line)))
	}
	return version, capabilities
}
