package router

import (
	"encoding/json"
	"errors"
	"strconv"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/internal/ability"
	"github.com/mcpctl/mcpctl/runtime/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// within gives an edit of params for a span of the whole message.
func within(params, at rawjson.Span, text []byte) rawjson.Edit {
	return rawjson.Edit{Span: rawjson.Span{Start: at.Start - params.Start, End: at.End - params.Start}, New: text}
}

// ordered sorts two edits by place, in place.
func ordered(edits []rawjson.Edit) []rawjson.Edit {
	if len(edits) == 2 && edits[0].Start > edits[1].Start {
		edits[0], edits[1] = edits[1], edits[0]
	}
	return edits
}

// progressGate is the progress of one call. The zero value is ready.
type progressGate struct {
	last  float64
	begun bool
}

// restore gives a backend's progress params with the client's own token, nil
// where there is none to replace and where the progress is none: "the progress
// value MUST increase with each notification" (2025-11-25, Progress).
func (i *progressGate) restore(params, token []byte) []byte {
	var at [2]rawjson.Span
	err := rawjson.Fields(params, at[:], "progressToken", "progress")
	if err != nil || !at[0].Present() || len(token) == 0 {
		return nil
	}
	n, err := strconv.ParseFloat(string(at[1].Of(params)), 64)
	if err != nil || i.begun && n <= i.last {
		return nil
	}
	i.last, i.begun = n, true
	return rawjson.Splice(nil, params, rawjson.Edit{Span: at[0], New: token})
}

// Answer is what goes back to a client: a result or an error object, raw.
type Answer struct{ Result, Object []byte }

// Failed gives the answer for a failure. A server's own error crosses as it
// came. A failure of the way to a backend is, for tools/call, a result with
// isError and one sentence, since only that reaches the model; for the rest an
// internal error with data.kind.
func Failed(method string, err error) Answer {
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
	out := rawjson.Quote([]byte(`{"content":[{"type":"text","text":`), err.Error())
	out = append(append(out, `}],"isError":true,"_meta":{"dev.mcpctl/error":`...), data...)
	return Answer{Result: append(out, `}}`...)}
}

// errorData describes a failure for programs: {"kind","server","stderr"}. The kinds
// are those of the command line's error objects; stderr, of a program that has
// ended, are the last lines that it wrote there.
func errorData(err error) []byte {
	f := struct {
		Kind   string   `json:"kind"`
		Server string   `json:"server,omitempty"`
		Stderr []string `json:"stderr,omitempty"`
	}{Kind: upstream.KindOf(err)}
	var (
		be   *upstream.Error
		dead ability.StderrLines
	)
	if errors.As(err, &be) {
		f.Server = be.Server
	}
	if errors.As(err, &dead) {
		f.Stderr = dead.StderrLines()
	}
	raw, err := json.Marshal(f)
	if err != nil {
		panic("proxy: strings have no JSON form: " + err.Error())
	}
	return raw
}

func Frame(dst, id []byte, a Answer) []byte {
	if a.Object != nil {
		return jsonrpc.AppendError(dst, id, a.Object)
	}
	return jsonrpc.AppendResult(dst, id, a.Result)
}
