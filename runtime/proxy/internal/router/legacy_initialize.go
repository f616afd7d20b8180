package router

import (
	"context"
	"encoding/json"

	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/catalog"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/client"
)

// initialize answers at once, whatever the state of the backends: it declares
// the full superset, and lists may be empty. A proxy that stands for one server answers
// with what that says, once it is connected.
func (r *Request) initialize(ctx context.Context) ([]byte, error) {
	version, _ := client.TermsIn(r.Line, r.Msg)
	offered, info := catalog.EveryCapability(), r.rt.o.Catalog.Info
	switch c, err := r.rt.only(ctx, r.From.Audience); {
	case err != nil:
		return nil, err
	case c != nil:
		offered = r.rt.Catalog.Capabilities(r.From.Audience)
		if c.Implementation != nil {
			info = c.Implementation
		}
	}
	if version < revision.Latest {
		offered.Extensions = nil // unknown to those revisions
	}
	return json.Marshal(struct {
		ProtocolVersion string               `json:"protocolVersion"`
		Capabilities    catalog.Capabilities `json:"capabilities"`
		ServerInfo      json.RawMessage      `json:"serverInfo"`
		Instructions    string               `json:"instructions,omitempty"`
	}{version, offered, info, r.rt.Catalog.Instructions(r.From.Audience)})
}
