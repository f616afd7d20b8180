package front

import (
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/router"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"

	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// Sender is a client of the handshake era that sends notifications.
type Sender struct {
	Client *upstream.Client
	// InProgress are its requests that have a goroutine, Owns tells which of the others
	// are its.
	InProgress *InProgress
	Owns       func(router.ReplyTo) bool
}

// Notification takes a notification of a client: what has changed at the client, or
// what it does not want any more. All others are ignored.
func (f *Set) Notification(from *Sender, text []byte, m *rawjson.Message) {
	switch string(m.Method.Of(text)) {
	case `"` + revision.NotificationRootsListChanged + `"`:
		f.Router.RootsChanged(from.Client)
	case `"` + revision.NotificationCancelled + `"`:
		id := m.RequestID.Of(text)
		if len(id) > 0 && !from.InProgress.cancel(id) {
			f.Router.CancelFastCall(from.Owns, id)
		}
	}
}
