package revision

import (
	"encoding/json"

	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
)

// Plain converts plain results of tools/call from a server of the handshake era
// to modern clients, for those who cannot afford a general [Conversion]: what
// is missing from such a result is always the same, and goes first. It is
// immutable.
type Plain struct{ mark []byte }

// NewPlain returns that of a server, from a conversion to a modern client.
func NewPlain(c Conversion) (*Plain, error) {
	c.Method = MethodToolsCall
	out, err := c.Result(json.RawMessage(`{}`))
	if err != nil {
		return nil, err
	}
	return &Plain{out[1 : len(out)-1]}, nil
}

// Len is how much longer a result becomes.
func (p *Plain) Len() int { return len(p.mark) + 1 }

// Append appends a result in the client's revision to dst, as Conversion.Result
// would return it, and does not allocate. It reports false, and has appended
// nothing, where the result is not plain.
func (p *Plain) Append(dst, result []byte) ([]byte, bool) {
	members, plain := 0, true
	var once [plainOnce]bool
	err := rawjson.Walk(result, func(name []byte, _ rawjson.Span) {
		members++
		i := 0
		switch string(name) {
		case MemberResultType, "_meta", MemberInputRequests, MemberRequestState, "task":
			plain = false
			return
		case "content":
		case "structuredContent":
			i = 1
		case "messages":
			i = 2
		case MemberTTL:
			i = 3
		case MemberCacheScope:
			i = 4
		default:
			return
		}
		plain = plain && !once[i] // see twice
		once[i] = true
	})
	if err != nil || !plain {
		return dst, false
	}
	at := rawjson.Bracket(result) + 1
	dst = append(append(dst, result[:at]...), p.mark...)
	if members > 0 {
		dst = append(dst, ',')
	}
	return append(dst, result[at:]...), true
}

// plainOnce is how many names Append counts.
const plainOnce = 5
