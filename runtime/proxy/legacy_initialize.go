package proxy

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// initialize answers at once, whatever the state of the backends: what it
// declares is the full superset, and lists may be empty.
func (rt *router) initialize(r request) ([]byte, error) {
	version, _ := greeting(r.line, r.msg)
	offered := superset()
	if version < revision.Latest {
		offered.Extensions = nil // nobody has heard of them
	}
	return json.Marshal(struct {
		ProtocolVersion string                 `json:"protocolVersion"`
		Capabilities    offer                  `json:"capabilities"`
		ServerInfo      runtime.Implementation `json:"serverInfo"`
		Instructions    string                 `json:"instructions,omitempty"`
	}{
		version,
		offered,
		rt.o.Info,
		rt.catalog.instructions(),
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
		capabilities = bytes.Clone(at.Of(m.Params.Of(line)))
	}
	return version, capabilities
}
