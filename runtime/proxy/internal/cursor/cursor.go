// Package cursor is where the next page of a list begins. Clients get it sealed: it means the
// same to every process that has the keys and the same lists.
package cursor

import (
	"encoding/json"
	"errors"

	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/seal"
)

const (
	// TTL is how long a client may take from page to page.
	TTL = seal.StateTTL
	// purpose keeps cursors apart from other sealed texts; the list's method follows it, and
	// the audience.
	purpose = "cursor:"
)

// Place is what a cursor says.
type Place struct {
	Version string `json:"v"` // of the list; another has other pages
	Next    int    `json:"n"` // the item that the page begins with
}

// Seal returns an audience's cursor for a page of a list.
func Seal(ring *seal.Ring, k inventory.Kind, audience string, at Place) string {
	plain, _ := json.Marshal(at) // it always has a JSON form
	return ring.Seal(purpose+k.Listing().Method+" "+audience, plain, TTL)
}

// Open reads the cursor in the params of a request, false where there is none: null counts as
// none, the empty string does not (specification, Pagination). The error is for the client.
func Open(ring *seal.Ring, k inventory.Kind, audience string, params []byte) (at Place, given bool, err error) {
	span, err := rawjson.Field(params, "cursor")
	if err != nil || !span.Present() || string(span.Of(params)) == "null" {
		return at, false, nil //nolint:nilerr // params that are no object have no cursor
	}
	sealed, ok := rawjson.String(params, span)
	if !ok {
		return at, true, errors.New("it is not a string")
	}
	plain, err := ring.Open(purpose+k.Listing().Method+" "+audience, sealed)
	if err == nil {
		_ = json.Unmarshal(plain, &at) // what is no place is none of any list
	}
	return at, true, err
}
