package proxy

import (
	"encoding/json"

	"github.com/mcpctl/mcpctl/runtime/bridge"
)

const metaServerInfo = "io.modelcontextprotocol/serverInfo"

// complete2026 gives a result of the proxy's own with what every result of the
// stateless era carries (2026-07-28, Overview and Caching).
func (p *Proxy) complete2026(method string, result []byte) ([]byte, error) {
	c := bridge.Conversion{From: bridge.Latest, To: bridge.Modern, Method: method, Server: p.info}
	return c.Result(result)
}

// discovery answers server/discover, at once: what is declared is the full
// superset, as in initialize, and lists may be empty.
func (p *Proxy) discovery() []byte {
	type change struct {
		ListChanged bool `json:"listChanged"`
		Subscribe   bool `json:"subscribe,omitempty"`
	}
	raw, err := json.Marshal(struct {
		ResultType        string                     `json:"resultType"`
		SupportedVersions []string                   `json:"supportedVersions"`
		Capabilities      map[string]any             `json:"capabilities"`
		Instructions      string                     `json:"instructions,omitempty"`
		TTL               int                        `json:"ttlMs"`
		CacheScope        string                     `json:"cacheScope"`
		Meta              map[string]json.RawMessage `json:"_meta"`
	}{
		"complete", bridge.Versions(),
		map[string]any{
			"tools": change{ListChanged: true}, "prompts": change{ListChanged: true}, "resources": change{true, true},
			"completions": struct{}{}, "logging": struct{}{},
		},
		p.instructions(), discoveryTTL, "private",
		map[string]json.RawMessage{metaServerInfo: p.info},
	})
	if err != nil {
		panic("proxy: what a proxy says of itself has no JSON form: " + err.Error())
	}
	return raw
}

// discoveryTTL is for how long a client may keep what server/discover says, in
// milliseconds: instructions change with the configuration, which takes a
// restart.
const discoveryTTL = 60_000
