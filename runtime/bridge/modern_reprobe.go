package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// reprobePause is how long a server is not probed again after an unexpected
// answer had it probed.
const reprobePause = 10 * time.Second

// reprobes is when a server was last asked whether it is still modern.
type reprobes struct {
	mu   sync.Mutex // guards last
	last time.Time
}

func (d *reprobes) due() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if time.Since(d.last) < reprobePause {
		return false
	}
	d.last = time.Now()
	return true
}

// reprobe returns the error of a request, or another one where it turns out
// that the server is no longer a modern one: released servers get replaced by
// others behind one URL (2026-07-28, Versioning, Caching).
func (m *modernTransport) reprobe(ctx context.Context, r *runtime.Request, err error) error {
	var rpc *runtime.Error
	switch {
	case r.Method == revision.MethodDiscover || ctx.Err() != nil || !m.isUnexpected(r.Method, err):
		return err
	case errors.As(err, &rpc) && unsupported(rpc) && !slices.Contains(supportedVersions(rpc), revision.Modern):
		return m.o.eraChanged(err)
	case !m.reprobes.due():
		return err
	}
	a := m.o.discover(ctx, m.Transport)
	switch {
	case a.err == nil && slices.Contains(a.versions, revision.Modern),
		a.err != nil && !isAnswer(a.err), // nothing is learned from that
		errors.As(a.err, &rpc) && (wantsCapability(rpc) || rpc.Code == runtime.CodeHeaderMismatch):
		return err
	}
	return m.o.eraChanged(err)
}

// isUnexpected reports whether a modern server would not answer a method that
// it offers with this error.
func (m *modernTransport) isUnexpected(method string, err error) bool {
	var rpc *runtime.Error
	isRPC := errors.As(err, &rpc)
	switch status := statusOf(err); {
	case isRPC && unsupported(rpc):
		return true
	case isRPC && rpc.Code == runtime.CodeMethodNotFound:
		return m.offers(method)
	case isAuth(err):
		return false
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed, status == http.StatusNotAcceptable:
		return !isRPC
	case status == http.StatusBadRequest: // such as for want of a session
		return !isRPC || rpc.Code >= -32019 && rpc.Code <= -32000
	}
	return false
}

// offers reports whether the server's capabilities promise a method.
func (m *modernTransport) offers(method string) bool {
	kind, _, _ := strings.Cut(method, "/")
	if kind == "completion" {
		kind = "completions"
	}
	var c map[string]json.RawMessage
	return json.Unmarshal(m.capabilities, &c) == nil && c[kind] != nil
}
