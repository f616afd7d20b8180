package upstream

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mcpctl/mcpctl/runtime"
)

// Ends of a request that are no server's doing.
var (
	ErrCancelled    = errors.New("cancelled by the client")
	ErrProxyClosed  = errors.New("the proxy is shutting down")
	ErrSessionEnded = errors.New("the session has ended")
	ErrNoStream     = errors.New("the client listens on no stream")
)

// Invalid returns an error for params that are not as they must be.
func Invalid(format string, a ...any) error {
	return &runtime.Error{Code: runtime.CodeInvalidParams, Message: fmt.Sprintf(format, a...)}
}

// Error is a failure of a backend or of the way to it, as opposed to an answer of
// it.
type Error struct {
	Server string
	Err    error
	// Single says that the proxy stands for the server: clients get the failure as the
	// error of a bridge.
	Single bool
}

// Fail returns a failure of the backend or of the way to it.
func (b *Backend) Fail(err error) *Error {
	return &Error{Server: b.Name, Err: err, Single: b.Set.o.Single}
}

// Error names the server, once: why it could not be connected often does already.
func (e *Error) Error() string {
	why := e.Err.Error()
	if strings.HasPrefix(why, e.Server+": ") {
		return why
	}
	return e.Server + ": " + why
}

func (e *Error) Unwrap() error { return e.Err }
