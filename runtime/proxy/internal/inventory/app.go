package inventory

import (
	"bytes"
	"encoding/json"
)

// App is what a tool's definition says of a user interface (MCP Apps,
// 2026-01-26).
type App struct {
	URIs []string // the interface's
	Only bool     // the tool is for apps alone, hidden from the model
}

// AppOf reads a tool's definition.
func AppOf(definition []byte) (a App) {
	if !bytes.Contains(definition, []byte(`"ui`)) {
		return a
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
		return a
	}
	for _, uri := range []string{tool.Meta.UI.URI, tool.Meta.Flat} {
		if uri != "" {
			a.URIs = append(a.URIs, uri)
		}
	}
	v := tool.Meta.UI.Visibility
	a.Only = len(v) == 1 && v[0] == "app"
	return a
}
