package proxy

import (
	"encoding/json"
	"log/slog"

	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
)

// StoredList returns one list of a catalogue that a proxy has stored: its entries as the
// server sent them. member is that of the list in a result, such as tools. It reports false
// for data that this version does not read, and for another member.
func StoredList(data []byte, member string) ([]json.RawMessage, bool) {
	if data == nil {
		return nil, false
	}
	cat, _, err := inventory.Decode(slog.New(slog.DiscardHandler), data)
	if err != nil {
		return nil, false
	}
	for k := range inventory.Kinds {
		if k.Listing().Member != member {
			continue
		}
		items := make([]json.RawMessage, len(cat.Items[k]))
		for i, it := range cat.Items[k] {
			items[i] = it.Raw
		}
		return items, true
	}
	return nil, false
}
