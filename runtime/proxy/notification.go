package proxy

import (
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// sender is a client of the handshake era that sends notifications.
type sender struct {
	peer *Client
	// slow are its requests that have a goroutine, owns tells which of the others
	// are its.
	slow *inProgress
	owns func(ReplyTo) bool
}

// notification takes a notification of a client: what has changed at the client, or
// what it does not want any more. All others are ignored.
func (f *frontSet) notification(from *sender, text []byte, m *rawjson.Message) {
	switch string(m.Method.Of(text)) {
	case `"` + revision.NotificationRootsListChanged + `"`:
		f.rt.rootsChanged(from.peer)
	case `"` + revision.NotificationCancelled + `"`:
		id := m.RequestID.Of(text)
		if len(id) > 0 && !from.slow.cancel(id) {
			f.rt.cancelFastCall(from.owns, id)
		}
	}
}
