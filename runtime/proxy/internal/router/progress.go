package router

import (
	"strconv"

	"github.com/mcpctl/mcpctl/internal/rawjson"
)

// progressGate is the progress of one call. The zero value is ready.
type progressGate struct {
	last  float64
	begun bool
}

// Restore returns a backend's progress params with the client's own token, nil
// if there is none to replace or nothing has progressed: "the progress value
// MUST increase with each notification" (2025-11-25, Progress).
func (g *progressGate) Restore(params, token []byte) []byte {
	var at [2]rawjson.Span
	if len(token) == 0 || rawjson.Fields(params, at[:], "progressToken", "progress") != nil || !at[0].Present() {
		return nil
	}
	n, err := strconv.ParseFloat(string(at[1].Of(params)), 64)
	if err != nil || g.begun && n <= g.last {
		return nil
	}
	g.last, g.begun = n, true
	return rawjson.Splice(nil, params, rawjson.Edit{Span: at[0], New: token})
}
