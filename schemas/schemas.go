// Package schemas holds the JSON Schemas that mcpctl publishes and uses. Each
// names its source and revision in $comment.
package schemas

import _ "embed"

//go:embed servers.schema.json
var servers string

// Servers is the schema of servers.json (JSON Schema 2020-12).
func Servers() []byte { return []byte(servers) }
