package router

import (
	"encoding/json"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/catalog"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/client"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// initialize answers at once, whatever the state of the backends: it declares
// the full superset, and lists may be empty.
func (r Request) initialize() ([]byte, error) {
	version, _ := client.TermsIn(r.Line, r.Msg)
	offered := catalog.EveryCapability()
	if version < revision.Latest {
		offered.Extensions = nil // unknown to those revisions
	}
	return json.Marshal(struct {
		ProtocolVersion string                 `json:"protocolVersion"`
		Capabilities    catalog.Capabilities   `json:"capabilities"`
		ServerInfo      runtime.Implementation `json:"serverInfo"`
		Instructions    string                 `json:"instructions,omitempty"`
	}{version, offered, r.rt.o.Info, r.rt.Catalog.Instructions()})
}
