package catalog

import (
	"encoding/json"
	"errors"

	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/seal"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
)

const (
	// TTL is how long a client may take from page to page.
	TTL = seal.StateTTL
	// purpose keeps cursors apart from other sealed texts; the list's method follows it, and
	// the audience.
	purpose = "cursor:"
)

// CursorPlace is what a cursor says: where a list goes on, whatever it has become meanwhile.
type CursorPlace struct {
	// After is the name behind which the next page begins, in the order of names; "" is
	// the beginning.
	After string `json:"after"`
	// Shown are names behind that which an earlier page had.
	Shown []string `json:"shown,omitempty"`
}

// SealCursor returns an audience's cursor for a page of a list.
func SealCursor(ring *seal.Keyring, k inventory.Kind, audience string, at CursorPlace) string {
	plain, _ := json.Marshal(at) // it always has a JSON form
	return ring.Seal(purpose+k.Listing().Method+" "+audience, plain, TTL)
}

// OpenCursor reads the cursor in the params of a request, false where there is none: null counts as
// none, the empty string does not (specification, Pagination). The error is for the client.
func OpenCursor(ring *seal.Keyring, k inventory.Kind, audience string, params []byte) (at CursorPlace, given bool, err error) {
	span, err := rawjson.Field(params, "cursor")
	if err != nil || !span.Present() || string(span.Of(params)) == "null" {
		return at, false, nil //nolint:nilerr // params that are no object have no cursor
	}
	sealed, ok := rawjson.String(params, span)
	if !ok {
		return at, true, errors.New("it is not a string")
	}
	plain, err := ring.Open(purpose+k.Listing().Method+" "+audience, sealed)
	if err == nil && (json.Unmarshal(plain, &at) != nil || at.After == "" && len(at.Shown) == 0) {
		err = errors.New("it is of another version of mcpctl")
	}
	return at, true, err
}
