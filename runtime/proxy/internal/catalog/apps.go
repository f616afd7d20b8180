package catalog

import (
	"bytes"
	"encoding/json"
)

// app is what a tool's definition says of a user interface (MCP Apps,
// 2026-01-26).
type app struct {
	uris []string // the interface's, "" none
	// only tells that the tool is for apps alone, hidden from the model.
	only bool
}

// appOf reads a tool's definition.
func appOf(definition []byte) app {
	if !bytes.Contains(definition, []byte(`"ui`)) {
		return app{}
	}
	var tool struct {
		Meta struct {
			UI struct {
				URI        string   `json:"resourceUri"`
				Visibility []string `json:"visibility"`
			} `json:"ui"`
			Flat string `json:"ui/resourceUri"`
		} `json:"_meta"`
	}
	if json.Unmarshal(definition, &tool) != nil {
		return app{}
	}
	var a app
	for _, uri := range []string{tool.Meta.UI.URI, tool.Meta.Flat} {
		if uri != "" {
			a.uris = append(a.uris, uri)
		}
	}
	v := tool.Meta.UI.Visibility
	a.only = len(v) == 1 && v[0] == "app"
	return a
}

// alias finds a tool of a server with apps by the name that its server gives
// it: apps have that name in their pages. It is taken where one server alone has
// it, or has ever had it; a tool for apps alone only where no other server has
// apps, since nothing tells whose app is calling.
func (s *Catalog) alias(name string) *Route {
	r := s.bareTools()[name]
	if r == nil || !s.apps[r.Backend] || appOf(r.Definition).only && len(s.apps) > 1 {
		return nil
	}
	return r
}
