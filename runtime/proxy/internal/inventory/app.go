package inventory

import (
	"bytes"
	"encoding/json"

	"github.com/mcpctl/mcpctl/internal/rawjson"
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

// alwaysLoad is the mark of tools that hosts load from the start which load the others when
// they are needed.
const alwaysLoad = "anthropic/alwaysLoad"

// AlwaysLoaded returns the definition of a tool with that mark, unless its server says itself.
func AlwaysLoaded(tool []byte) ([]byte, error) {
	if meta, err := rawjson.Field(tool, "_meta"); err == nil && meta.Present() {
		if mark, err := rawjson.Field(meta.Of(tool), alwaysLoad); err != nil || mark.Present() {
			return tool, nil //nolint:nilerr // a _meta that is no object is the server's
		}
	}
	return rawjson.SetNested(tool, "_meta", []rawjson.Member{{Name: alwaysLoad, Value: []byte("true")}})
}
