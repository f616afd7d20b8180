// Package lockfile compares what a server offers with what servers.lock.json says that
// it offered when somebody looked at it: its instructions, its name, its tools,
// prompts, resources and templates. It also reads and writes that file.
//
// A [Guard] is the one place that decides what of a server is held back. The proxy
// asks it whenever it has listed a server, and one-shot commands ask it for each
// list, so that both hold back the same.
//
// Locks: Guard.mu guards its maps and is held for memory work only.
package lockfile
