// Package config reads and edits servers.json, the file that says which MCP
// servers there are and how each is reached.
//
// The file is JSON with comments and trailing commas. Its root key
// "mcpServers" maps aliases to entries:
//
//	{ "mcpServers": {
//	  "fs": { "command": "npx", "args": ["-y", "server-filesystem", "${HOME}/notes"] },
//	  "gh": { "url": "https://api.example.com/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"} },
//	  "k8s": { "command": "kubectl", "cli": true, "cliOnly": ["get"] } } }
//
// Three promises:
//
//   - A fault in one entry affects that entry only. [Load] fails when the text is
//     not JSON or has no usable mcpServers object; anything wrong inside an
//     entry is in its [Entry.Fault], which [Entry.Expand] returns, so a broken
//     entry cannot be used by accident and the others work.
//   - An edit leaves every byte outside its entry alone: comments, order,
//     indentation, line ends, trailing commas, byte order mark. See [File.Set],
//     [File.Remove] and [Update].
//   - Placeholders stay placeholders on disk. Values are expanded in memory, by
//     [Entry.Expand], for the server in use.
package config
