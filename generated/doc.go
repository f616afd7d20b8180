// Package generated holds sample clients of three reference servers. Each
// folder has what the server listed (mcpctl.lock.json), and the client
// made from that (client_gen.go); docs/generated has a program for each.
//
// make generate makes them anew from the lock files, without a network: each
// package says how by itself.
package generated
