// Package schemas holds the JSON Schemas that mcpctl publishes and uses. Each
// names its source and revision in $comment or $id.
package schemas

import "embed"

//go:embed servers.schema.json
var servers string

//go:embed config.schema.json
var config string

// meta has the schemas of schemas that json-schema.org defines, without annotations, each in
// the file that its address names.
//
//go:embed meta
var meta embed.FS

// Servers is the schema of servers.json (JSON Schema 2020-12).
func Servers() []byte { return []byte(servers) }

// Config is the schema of config.yaml (JSON Schema 2020-12), for a document in YAML.
func Config() []byte { return []byte(config) }

// Meta returns the document that JSON Schema itself has at a path of
// https://json-schema.org, such as draft/2020-12/schema. It reports false for
// any other path.
func Meta(path string) ([]byte, bool) {
	doc, err := meta.ReadFile("meta/" + path + ".json")
	return doc, err == nil
}
