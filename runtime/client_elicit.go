package runtime

import (
	"context"
	"encoding/json"
)

const (
	// codeURLElicitation is the error of revision 2025-11-25 that requires pages
	// to be opened before its request can be served. 2026-07-28 has no such code.
	codeURLElicitation = -32042
	// maxElicitations bounds the elicitations of one error.
	maxElicitations = 16
)

// elicit passes the elicitations of an error of code -32042 (2025-11-25,
// Elicitation, URL elicitation required) to the handler, one after the other, and
// reports whether all were accepted.
func (c *Client) elicit(ctx context.Context, e *Error) bool {
	var data struct {
		Elicitations []json.RawMessage `json:"elicitations"`
	}
	if json.Unmarshal(e.Data, &data) != nil || len(data.Elicitations) == 0 || len(data.Elicitations) > maxElicitations {
		return false
	}
	for _, params := range data.Elicitations {
		var p struct {
			Mode string `json:"mode"`
		}
		if json.Unmarshal(params, &p) != nil || p.Mode != "url" {
			return false // the revision allows no other
		}
		raw, err := c.o.Handler.Request(ctx, nil, "elicitation/create", params)
		var answer struct {
			Action string `json:"action"`
		}
		if err != nil || json.Unmarshal(raw, &answer) != nil || answer.Action != "accept" {
			return false
		}
	}
	return true
}
