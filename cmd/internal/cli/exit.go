package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/policies"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime"
)

// Exit codes of mcpctl, decided in this file alone.
const (
	exitOK          = 0
	exitOther       = 1
	exitUsage       = 2
	exitTool        = 3
	exitAuth        = 4
	exitConfig      = 5
	exitConnect     = 6
	exitTimeout     = 7
	exitProtocol    = 8
	exitDenied      = 9
	exitDrift       = 10
	exitInterrupted = 130
)

// kinds are the names of the exit codes in an error object (--json).
var kinds = map[int]string{ //nolint:gochecknoglobals // a constant table
	exitOther: "other", exitUsage: "usage", exitTool: "tool", exitAuth: "auth", exitConfig: "config", exitConnect: "connect",
	exitTimeout: "timeout", exitProtocol: "protocol", exitDenied: "denied", exitDrift: "drift", exitInterrupted: "interrupted",
}

// Error is a failure with details that its cause lacks: a remedy, the server
// concerned, or an exit code.
type Error struct {
	Code   int // 0: by the cause
	Server string
	Remedy string
	Err    error
	// Silent errors set the exit code and print nothing: the result was printed.
	Silent bool
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Hint returns the remedy.
func (e *Error) Hint() string { return e.Remedy }

// usagef returns a usage error (exit 2).
func usagef(format string, a ...any) *Error {
	return &Error{Code: exitUsage, Err: fmt.Errorf(format, a...)}
}

// withHint adds the remedy and returns the error.
func (e *Error) withHint(format string, a ...any) *Error {
	e.Remedy = fmt.Sprintf(format, a...)
	return e
}

// exitCode returns the exit code of a failure. Error types of other packages may
// have a method ExitKind() string, which returns one of the names of kinds.
func exitCode(err error) int {
	if err == nil {
		return exitOK
	}
	var own *Error
	if errors.As(err, &own) && own.Code != 0 {
		return own.Code
	}
	var kinded exitKinder
	if errors.As(err, &kinded) {
		if code, ok := codeOf(kinded.ExitKind()); ok {
			return code
		}
	}
	switch {
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case is[*runtime.ToolError](err):
		return exitTool
	case is[*runtime.AuthError](err):
		return exitAuth
	case is[*runtime.TimeoutError](err), errors.Is(err, context.DeadlineExceeded):
		return exitTimeout
	case is[*runtime.ProtocolError](err), is[*runtime.Error](err):
		return exitProtocol
	case is[*runtime.ConnectError](err):
		return exitConnect
	}
	return exitOther
}

// codeOf returns the exit code of a kind.
func codeOf(kind string) (code int, ok bool) {
	for code, k := range kinds {
		if k == kind {
			return code, true
		}
	}
	return 0, false
}

// is reports whether err is, or wraps, an error of type E.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// What errors may offer besides their text.
type (
	exitKinder  interface{ ExitKind() string }
	stderrLiner interface{ StderrLines() []string }

	httpStatuser interface{ HTTPStatus() int }
	httpBodied   interface{ HTTPBody() string }
)

// report prints a failure on stderr: one line and a hint, or one line of JSON
// after an explicit --json.
func (env *environment) report(err error) {
	code := exitCode(err)
	var own *Error
	if errors.As(err, &own) && own.Silent {
		return
	}
	msg, hint := err.Error(), ui.HintOf(err)
	if code == exitInterrupted {
		msg, hint = "interrupted", ""
	}
	if env.ui.JSON && env.ui.Form == nil {
		env.reportJSON(err, own, msg, hint, code)
		return
	}
	f := ui.Failure{Server: serverOf(err, msg, code), Message: strings.TrimRight(msg, "\r\n") + overHTTP(err), Details: details(err), Hint: hint}
	env.ui.Note(f.Render(ui.Palette(env.ui.ErrColor)))
}

func (env *environment) reportJSON(err error, own *Error, msg, hint string, code int) {
	type object struct {
		Kind    string          `json:"kind"`
		Message string          `json:"message"`
		Hint    string          `json:"hint,omitempty"`
		Server  string          `json:"server,omitempty"`
		Code    int64           `json:"code,omitempty"`
		Data    json.RawMessage `json:"data,omitempty"`

		Status    int    `json:"status,omitempty"`
		Challenge string `json:"challenge,omitempty"`
		// AuthServer is the header Mcp-Auth-Server.
		AuthServer string `json:"authServer,omitempty"`
	}
	o := object{Kind: kinds[code], Message: msg, Hint: hint}
	if r, ok := errors.AsType[*policies.Refusal](err); ok {
		o.Kind = r.Kind
	}
	o.Status, o.Challenge = answered(err)
	o.AuthServer = authServer(err)
	if own != nil {
		o.Server = own.Server
	}
	if rpc, ok := errors.AsType[*runtime.Error](err); ok {
		o.Code, o.Data = rpc.Code, rpc.Data
	}
	var dead stderrLiner
	if errors.As(err, &dead) && len(dead.StderrLines()) > 0 {
		raw, err := json.Marshal(map[string][]string{"stderr": dead.StderrLines()})
		if err == nil { // always for strings
			o.Data = raw
		}
	}
	b, err := json.Marshal(map[string]object{"error": o})
	if err != nil {
		b = []byte(`{"error":{"kind":"other","message":"the error has no JSON form"}}`)
	}
	fmt.Fprintln(env.ui.Log(), string(b))
}
