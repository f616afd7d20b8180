package revision

import (
	"strings"
)

// Bounds of what ParamHeaders returns.
const (
	maxParamHeaders     = 32
	maxParamHeaderBytes = 8 << 10
)

// ParamHeaders returns the Mcp-Param headers of a request, which its server may
// know more about than the proxy does: "MUST be passed on" by those that do not
// recognise them (2026-07-28, Streamable HTTP, Request Metadata). Nil for none;
// beyond the bounds all are left out.
func ParamHeaders(header map[string][]string) map[string]string {
	var out map[string]string
	size := 0
	for name, lines := range header {
		if !strings.HasPrefix(name, ParamPrefix) || len(lines) != 1 {
			continue
		}
		if size += len(name) + len(lines[0]); size > maxParamHeaderBytes || len(out) == maxParamHeaders {
			return nil
		}
		if out == nil {
			out = map[string]string{}
		}
		out[name] = lines[0]
	}
	return out
}
