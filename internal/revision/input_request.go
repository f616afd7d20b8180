package revision

import (
	"bytes"

	"github.com/mcpctl/mcpctl/internal/rawjson"
)

// InputRequest is where a result that asks for input has its members.
type InputRequest struct{ Inputs, State rawjson.Span }

// ParseInputRequest reports whether a result asks for input. One without a
// resultType that has the members of such a result is of a server of the
// handshake era that has learned to ask this way.
func ParseInputRequest(result []byte) (a InputRequest, ok bool) {
	if !bytes.Contains(result, []byte("input_required")) && !bytes.Contains(result, []byte(`"inputRequests"`)) && !bytes.Contains(result, []byte(`"requestState"`)) {
		return a, false // the common case, without reading it all
	}
	var at [3]rawjson.Span
	if rawjson.Fields(result, at[:], "resultType", "inputRequests", "requestState") != nil {
		return a, false
	}
	a = InputRequest{at[1], at[2]}
	if at[0].Present() {
		kind, _ := rawjson.String(result, at[0])
		return a, kind == "input_required"
	}
	_, stated := rawjson.String(result, a.State)
	return a, rawjson.IsObject(a.Inputs.Of(result)) || stated
}
