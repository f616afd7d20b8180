package proxy

import (
	"encoding/json"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// initialize answers at once, whatever the state of the backends: what it
// declares is the full superset, and lists may be empty.
func (rt *Router) initialize(r Request) ([]byte, error) {
	version, _ := initializeTerms(r.line, r.msg)
	offered := allCapabilities()
	if version < revision.Latest {
		offered.Extensions = nil // nobody has heard of them
	}
	return json.Marshal(struct {
		ProtocolVersion string                 `json:"protocolVersion"`
		Capabilities    capabilities           `json:"capabilities"`
		ServerInfo      runtime.Implementation `json:"serverInfo"`
		Instructions    string                 `json:"instructions,omitempty"`
	}{
		version,
		offered,
		rt.o.Info,
		rt.catalog.instructions(),
	})
}
