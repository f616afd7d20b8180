package router

import (
	"encoding/json"

	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/catalog"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

const metaServerInfo = "io.modelcontextprotocol/serverInfo"

// complete2026 gives a result of the proxy's own with what every result of the
// stateless era carries (2026-07-28, Overview and Caching). What has come from a
// backend, and lists, have it already.
func (rt *Router) complete2026(method string, result []byte) ([]byte, error) {
	if at, err := rawjson.Field(result, "resultType"); err == nil && at.Present() {
		return result, nil
	}
	c := revision.Conversion{From: revision.Latest, To: revision.Modern, Method: method, Server: rt.o.Catalog.Info}
	return c.Result(result)
}

// Discovery answers server/discover, at once.
func (rt *Router) Discovery() []byte {
	raw, err := json.Marshal(struct {
		ResultType        string                     `json:"resultType"`
		SupportedVersions []string                   `json:"supportedVersions"`
		Capabilities      catalog.Capabilities       `json:"capabilities"`
		Instructions      string                     `json:"instructions,omitempty"`
		TTL               int                        `json:"ttlMs"`
		CacheScope        string                     `json:"cacheScope"`
		Meta              map[string]json.RawMessage `json:"_meta"`
	}{
		"complete", revision.Versions(),
		rt.Catalog.Capabilities().WithTasks(rt.Catalog),
		rt.Catalog.Instructions(), discoveryTTL, "private",
		map[string]json.RawMessage{metaServerInfo: rt.o.Catalog.Info},
	})
	if err != nil {
		panic("proxy: what a proxy says of itself has no JSON form: " + err.Error())
	}
	return raw
}

// discoveryTTL is for how long a client may keep what server/discover says, in
// milliseconds: what is offered, and instructions, change as backends become
// known.
const discoveryTTL = 60_000
