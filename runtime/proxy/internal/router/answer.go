package router

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mcpctl/mcpctl/internal/ability"
	"github.com/mcpctl/mcpctl/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/authorize"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// Answer is what goes back to a client: a result or an error object, raw.
type Answer struct {
	Result, Object []byte
	// Scopes are those that the client's credential would need for the request, where
	// it is denied for want of one.
	Scopes []string
}

// Frame appends the answer to the request with an id.
func Frame(dst, id []byte, a Answer) []byte {
	if a.Object != nil {
		return jsonrpc.AppendError(dst, id, a.Object)
	}
	return jsonrpc.AppendResult(dst, id, a.Result)
}

// Failed returns the answer for a failure. A server's own error crosses as it came. What policies
// deny is an error whatever the method. A failure of the way to a backend is, for tools/call, a
// result with isError and one sentence, since only that reaches the model; for the rest an internal
// error with data.kind. A proxy that stands for one server has errors of its own, see bridgeError.
func Failed(method string, err error) Answer {
	if d, ok := errors.AsType[*authorize.Denied](err); ok {
		return Answer{Object: jsonrpc.ErrorObject(d.Code, d.Error(), d.Data()), Scopes: d.Scopes}
	}
	if be, ok := errors.AsType[*upstream.Error](err); ok && be.Single {
		return Answer{Object: bridgeError(err)}
	}
	if rpc, ok := errors.AsType[*runtime.Error](err); ok {
		if rpc.Raw != nil {
			return Answer{Object: rpc.Raw}
		}
		return Answer{Object: jsonrpc.ErrorObject(rpc.Code, rpc.Message, rpc.Data)}
	}
	data := errorData(err)
	if method != revision.MethodToolsCall {
		return Answer{Object: jsonrpc.ErrorObject(runtime.CodeInternalError, err.Error(), data)}
	}
	return Answer{Result: errorResult(err.Error(), data)}
}

// errorResult returns a tool result that says in words what went wrong, with
// data for programs.
func errorResult(text string, data []byte) []byte {
	out := rawjson.Quote([]byte(`{"content":[{"type":"text","text":`), text)
	out = append(append(out, `}],"isError":true,"_meta":{"dev.mcpctl/error":`...), data...)
	return append(out, `}}`...)
}

// serverErrorResult returns a tool result in place of a server's error, which it
// holds.
func serverErrorResult(server string, e *runtime.Error) []byte {
	data := rawjson.Quote([]byte(`{"kind":"protocol","server":`), server)
	if e.Raw != nil {
		data = append(append(data, `,"error":`...), e.Raw...)
	}
	return errorResult(revision.Sentence(e), append(data, '}'))
}

// Codes of failures on the way to the server that a proxy stands for: there was no
// answer, or one with a status that is not a success.
const (
	codeNoAnswer = -32000
	codeStatus   = -32001
)

// bridgeError returns the error object for a failure on the way to the server that the
// proxy stands for.
func bridgeError(err error) []byte {
	code := int64(codeNoAnswer)
	if statusOf(err) != 0 {
		code = codeStatus
	}
	return jsonrpc.ErrorObject(code, err.Error(), errorData(err))
}

// statusOf returns the HTTP status that a failure stands for, 0 for none.
func statusOf(err error) int {
	var answered ability.HTTPStatus
	if errors.As(err, &answered) {
		return answered.HTTPStatus()
	}
	if refused, ok := errors.AsType[*runtime.AuthError](err); ok {
		return refused.Status
	}
	return 0
}

// errorData describes a failure for programs: {"kind","server","stderr","url"}. The kinds
// are those of the command line's error objects; stderr, of a program that has
// ended, are the last lines that it wrote there; url is the page to log in on. status is
// what a server has answered with over HTTP. Where the proxy stands for one server, body is
// the beginning of that answer and challenge its WWW-Authenticate header.
func errorData(err error) []byte {
	f := struct {
		Kind   string   `json:"kind"`
		Server string   `json:"server,omitempty"`
		Stderr []string `json:"stderr,omitempty"`
		URL    string   `json:"url,omitempty"`

		Status    int    `json:"status,omitempty"`
		Body      string `json:"body,omitempty"`
		Challenge string `json:"challenge,omitempty"`
	}{Kind: upstream.ErrorKind(err)}
	f.Status = statusOf(err)
	if be, ok := errors.AsType[*upstream.Error](err); ok {
		f.Server = be.Server
		if body := ability.HTTPBody(nil); be.Single && errors.As(err, &body) {
			f.Body = body.HTTPBody()
		}
		if refused, ok := errors.AsType[*runtime.AuthError](err); ok && be.Single {
			f.Challenge = refused.Challenge
		}
	}
	if page, ok := errors.AsType[*loginError](err); ok {
		f.URL = page.login.URL()
	}
	var dead ability.StderrLines
	if errors.As(err, &dead) {
		f.Stderr = dead.StderrLines()
	}
	return marshal(f)
}

// marshal returns the JSON form of a value that has one.
func marshal(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("proxy: %T has no JSON form: %v", v, err))
	}
	return raw
}
