package runtime

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// JSON-RPC 2.0 and MCP error codes (specification, "Error Handling"; the last
// three since 2026-07-28).
const (
	CodeParseError         = -32700
	CodeInvalidRequest     = -32600
	CodeMethodNotFound     = -32601
	CodeInvalidParams      = -32602
	CodeInternalError      = -32603
	CodeResourceNotFound   = -32002
	CodeHeaderMismatch     = -32020
	CodeMissingCapability  = -32021
	CodeUnsupportedVersion = -32022
)

var (
	// ErrNotSent marks a call of which no byte left this process; it is safe to
	// retry.
	ErrNotSent = errors.New("not sent")
	// ErrClosed is the error of calls on a closed connection.
	ErrClosed = errors.New("connection closed")
)

// Error is what a server sent in place of a result.
type Error struct {
	Code    int64           `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
	// Raw is the error object as it came, unknown members included; nil for an
	// error made here.
	Raw json.RawMessage `json:"-"`
}

// ParseError reads a JSON-RPC error object and keeps its bytes. A malformed object
// becomes an error with code 0 and the whole text as its data.
func ParseError(raw json.RawMessage) *Error {
	var e Error
	if err := json.Unmarshal(raw, &e); err != nil {
		e = Error{Message: "malformed error object", Data: raw}
	}
	e.Raw = raw
	return &e
}

// Error returns the message and the code, which some servers put into the
// message themselves.
func (e *Error) Error() string {
	msg, code := e.Message, strconv.FormatInt(e.Code, 10)
	switch {
	case msg == "":
		return "error " + code + " without a message"
	case strings.Contains(msg, code):
		return msg
	}
	return msg + " (" + code + ")"
}

// ToolError is a tool's own failure: a result with isError set. The content
// explains it.
type ToolError struct {
	Tool   string
	Result *ToolResult
}

// Error returns the tool's name and the text of its result.
func (e *ToolError) Error() string {
	text := e.Result.Text()
	if text == "" {
		text = "reported an error without text"
	}
	return "tool " + e.Tool + ": " + text
}

// ResultError reports a tool's result that does not match its output schema. The
// result itself is kept.
type ResultError struct {
	Tool   string
	Result *ToolResult
	Err    error
}

// Error names the tool and what is wrong with its result.
func (e *ResultError) Error() string {
	return "tool " + e.Tool + ": the result does not match the output schema: " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *ResultError) Unwrap() error { return e.Err }

// ExitKind returns "protocol".
func (e *ResultError) ExitKind() string { return "protocol" }

// ConnectError says that a server could not be started or reached.
type ConnectError struct {
	// Target names what was tried: a command or a URL without query.
	Target string
	Err    error
	// Remedy is the remedy, "" when unknown.
	Remedy string
}

// Error names the target and the cause.
func (e *ConnectError) Error() string { return "connect " + e.Target + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *ConnectError) Unwrap() error { return e.Err }

// Hint returns the remedy.
func (e *ConnectError) Hint() string { return e.Remedy }

// TimeoutError says that no answer came in time.
type TimeoutError struct {
	// Op is the operation, such as "tools/call" or "connect".
	Op    string
	After time.Duration
}

// Error names the operation and its time limit.
func (e *TimeoutError) Error() string { return fmt.Sprintf("%s: no answer within %s", e.Op, e.After) }

// Timeout reports true, as in [net.Error].
func (e *TimeoutError) Timeout() bool { return true }

// ProtocolError says that the other side does not speak MCP.
type ProtocolError struct {
	// Reason is one sentence; Sample the beginning of what was received.
	Reason string
	Sample string
}

// Error returns the reason and, quoted, the sample.
func (e *ProtocolError) Error() string {
	if e.Sample == "" {
		return e.Reason
	}
	return fmt.Sprintf("%s: %q", e.Reason, e.Sample)
}

// AuthError says that a server wants credentials or refuses those it got.
type AuthError struct {
	// Status is the HTTP status, 401 or 403.
	Status int
	// Challenge is the WWW-Authenticate header, "" when there was none.
	Challenge string
}

// Error returns the status.
func (e *AuthError) Error() string {
	if e.Status == 401 {
		return "the server wants authorisation (HTTP 401)"
	}
	return fmt.Sprintf("the server refuses this authorisation (HTTP %d)", e.Status)
}
