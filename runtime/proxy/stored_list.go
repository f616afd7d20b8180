package proxy

import (
	"encoding/json"
	"log/slog"

	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
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

// CatalogueOf returns a catalogue, as a proxy stores it, of some lists of a server that another
// program has seen, by their members. What else the server offers is not known; a proxy that
// finds the catalogue in its store lists it at once, and looks at the server. Nil is nothing
// of use.
func CatalogueOf(lists map[string][]json.RawMessage) []byte {
	cat := &inventory.Inventory{
		Capabilities: json.RawMessage(`{"tools":{},"prompts":{},"resources":{},"completions":{}}`), Resources: true,
	}
	for k := range inventory.Kinds {
		items, ok := lists[k.Listing().Member]
		if !ok {
			continue
		}
		page, err := json.Marshal(map[string][]json.RawMessage{k.Listing().Member: items})
		if err != nil {
			return nil
		}
		if cat.Items[k], err = inventory.Parse(slog.New(slog.DiscardHandler), page, k.Listing()); err != nil {
			return nil
		}
		cat.Offered[k] = true
	}
	return cat.Encode(inventory.Head{})
}

// StoredResults returns of how many results of tools a proxy has stored the sizes, in
// [store.Usage.Results], and the numbers of bytes that half of them and 99 % did not exceed,
// within 3 %.
func StoredResults(sizes string) (n uint64, p50, p99 int) {
	n, q := upstream.Quantiles(sizes, 0.5, 0.99)
	return n, q[0], q[1]
}
