// Package generated holds sample clients of three reference servers. Each
// folder has the tools as the server listed them (tools.json) and the client
// made from that (client_gen.go); docs/generated has a program for each.
//
// go generate makes them anew from tools.json, without a network.
package generated

//go:generate go run ../cmd/mcpctl generate everything --out everything --from everything/tools.json
//go:generate go run ../cmd/mcpctl generate filesystem --out filesystem --from filesystem/tools.json
//go:generate go run ../cmd/mcpctl generate memory --out memory --from memory/tools.json
