package bridge

import (
	"encoding/json"
)

// Extensions of capabilities that we know how to carry (2026-07-28, Extensions).
const (
	ExtensionTasks = "io.modelcontextprotocol/tasks"
	ExtensionUI    = "io.modelcontextprotocol/ui"
)

// Offer gives what is declared to a server of revision to on behalf of a client
// of revision from that has declared capabilities; nil is nothing. The result
// is an object in a canonical order, {} for nothing, so that equal ones are
// equal text. What cannot be carried is left out: core tasks, experimental
// members, extensions other than those known here; and, for a modern server,
// roots.listChanged. elicitation:{} becomes {"form":{}}, its meaning.
func Offer(capabilities json.RawMessage, from, to string) json.RawMessage {
	if len(capabilities) == 0 {
		return json.RawMessage(`{}`)
	}
	return capabilities
}

// MissingFor gives what a client lacks to answer a question of a server, such
// as {"elicitation":{"url":{}}}; nil where it lacks nothing. The client's
// capabilities may be those of any era; nil is nothing.
func MissingFor(method string, params, capabilities json.RawMessage) json.RawMessage {
	return nil
}
