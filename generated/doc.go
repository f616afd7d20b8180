// Package generated holds sample clients of three reference servers. Each
// folder has what the server listed (mcpctl.lock.json), and the client
// made from that (client_gen.go); docs/generated has a program for each.
//
// go generate makes them anew from the lock file, without a network.
package generated

//go:generate go run ../cmd/mcpctl generate everything --out everything --from everything/mcpctl.lock.json
//go:generate go run ../cmd/mcpctl generate filesystem --out filesystem --from filesystem/mcpctl.lock.json
//go:generate go run ../cmd/mcpctl generate memory --out memory --from memory/mcpctl.lock.json
