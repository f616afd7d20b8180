package transport

import (
	"strings"

	"github.com/mcpctl/mcpctl/internal/revision"
)

// gzipAbove is how large an answer is from which on the next ones are asked for in
// compressed form, in bytes.
const gzipAbove = 64 << 10

// wantsGzip reports whether the answer to a request is asked for in compressed form:
// where it may be large. Calls of tools are many and small, so theirs is once the server
// has given a large one: the header costs each. A client that is not ours decides itself.
func (w *wire) wantsGzip(method string) bool {
	if w.own == nil {
		return false
	}
	switch method {
	case revision.MethodToolsCall:
		return w.large.Load()
	case revision.MethodResourcesRead, revision.MethodPromptsGet:
		return true
	}
	return strings.HasSuffix(method, "/list")
}
