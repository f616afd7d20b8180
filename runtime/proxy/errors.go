package proxy

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mcpctl/mcpctl/runtime/internal/ability"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/internal/jsonrpc"
)

var errCancelled = errors.New("cancelled by the client")

func invalid(format string, a ...any) error {
	return &runtime.Error{Code: runtime.CodeInvalidParams, Message: fmt.Sprintf(format, a...)}
}

var errProxyClosed = errors.New("the proxy is shutting down")

// backendError is a failure of a backend or of the way to it, as opposed to an
// answer of it.
type backendError struct {
	server string
	err    error
}

// Error names the server, once: why it could not be connected often does already.
func (e *backendError) Error() string {
	why := e.err.Error()
	if strings.HasPrefix(why, e.server+": ") {
		return why
	}
	return e.server + ": " + why
}

func (e *backendError) Unwrap() error { return e.err }

// kindOf gives the kind of a failure of a backend or of the way to it, as the
// command line's error objects name it (docs/serve.md, "When a server fails").
func kindOf(err error) string {
	var (
		timeout *runtime.TimeoutError
		proto   *runtime.ProtocolError
		rpc     *runtime.Error
		auth    *runtime.AuthError
		kinded  ability.ExitKind
	)
	switch {
	case errors.As(err, &kinded):
		return kinded.ExitKind()
	case errors.As(err, &timeout), errors.Is(err, jsonrpc.ErrTimeout):
		return "timeout"
	case errors.As(err, &auth):
		return "auth"
	case errors.As(err, &proto), errors.As(err, &rpc):
		return "protocol"
	}
	return "connect"
}

var (
	errSessionEnded = errors.New("the session has ended")
	errNoStream     = errors.New("the client listens on no stream")
)
