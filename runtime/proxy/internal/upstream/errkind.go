package upstream

import (
	"errors"

	"github.com/mcpctl/mcpctl/internal/ability"
	"github.com/mcpctl/mcpctl/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/runtime"
)

// ErrorKind returns the kind of a failure of a backend or of the way to it, as the
// command line's error objects name it (docs/serve.md, "When a server fails").
func ErrorKind(err error) string {
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

// localError returns a failure to connect as one of ours: what a server answers to
// the handshake is no answer to the client's request.
func localError(err error) error {
	if _, ok := errors.AsType[*runtime.Error](err); ok {
		return errors.New(err.Error())
	}
	return err
}
