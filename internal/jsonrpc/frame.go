package jsonrpc

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/mcpctl/mcpctl/internal/rawjson"
)

// AppendNotification appends one notification line; nil params are left out.
func AppendNotification(dst []byte, method string, params []byte) []byte {
	dst = rawjson.Quote(append(dst, `{"jsonrpc":"2.0","method":`...), method)
	return appendParams(dst, params, nil)
}

// AppendRequest appends one request line; nil params are left out.
func AppendRequest(dst, id []byte, method string, params []byte) []byte {
	dst = append(append(dst, `{"jsonrpc":"2.0","id":`...), id...)
	return appendParams(rawjson.Quote(append(dst, `,"method":`...), method), params, nil)
}

// appendParams ends a request or notification line: raw params, nil for none,
// with edits applied.
func appendParams(dst, params []byte, edits []rawjson.Edit) []byte {
	if params != nil {
		dst = append(dst, `,"params":`...)
		at := len(dst)
		dst = rawjson.Splice(dst, params, edits...)
		oneLine(dst[at:])
	}
	return append(dst, '}', '\n')
}

// AppendResult appends one result line.
func AppendResult(dst, id, result []byte) []byte {
	return appendAnswer(dst, id, `,"result":`, result)
}

// AppendError appends one error line; the error is a raw JSON-RPC error
// object. A nil id is written as null, as for a message that could not be read.
func AppendError(dst, id, object []byte) []byte {
	if id == nil {
		id = []byte("null")
	}
	return appendAnswer(dst, id, `,"error":`, object)
}

func appendAnswer(dst, id []byte, key string, value []byte) []byte {
	if dst == nil {
		dst = make([]byte, 0, len(id)+len(key)+len(value)+len(`{"jsonrpc":"2.0","id":}`)+1)
	}
	dst = append(append(dst, `{"jsonrpc":"2.0","id":`...), id...)
	dst = append(dst, key...)
	at := len(dst)
	dst = append(dst, value...)
	oneLine(dst[at:])
	return append(dst, '}', '\n')
}

// oneLine makes a value fit a line: see rawjson.OneLine.
func oneLine(value []byte) {
	if bytes.IndexByte(value, '\n') >= 0 || bytes.IndexByte(value, '\r') >= 0 {
		rawjson.OneLine(value)
	}
}

// ErrorObject makes a JSON-RPC error object, for every error that mcpctl itself answers
// with. Data is raw JSON, nil for none; where it is an object or none, it gets a member
// kind, one of the kinds of the command line's error objects, unless it has one.
func ErrorObject(code int64, message string, data []byte) []byte {
	return HandlerError(code, message, withKind(code, data))
}

// HandlerError is [ErrorObject] with the data of whoever handles the request, which is
// left as it is.
func HandlerError(code int64, message string, data []byte) []byte {
	b := strconv.AppendInt([]byte(`{"code":`), code, 10)
	b = rawjson.Quote(append(b, `,"message":`...), message)
	b = append(append(b, `,"data":`...), data...)
	return append(b, '}')
}

// withKind returns data with a member kind.
func withKind(code int64, data []byte) []byte {
	kind := `{"kind":"` + kindOf(code) + `"`
	if data == nil {
		return []byte(kind + "}")
	}
	entries, err := rawjson.Entries(data)
	if err != nil || slices.ContainsFunc(entries, func(e rawjson.Entry) bool { return e.Name == "kind" }) {
		return data // no object, or it has one
	}
	if len(entries) == 0 {
		return []byte(kind + "}")
	}
	return append([]byte(kind+","), bytes.TrimSpace(data)[1:]...)
}

// kindOf returns the kind of an error that has none, by its code: what the caller has to
// mend is usage, a breach of the protocol is protocol.
func kindOf(code int64) string {
	switch code {
	case -32602, -32002: // invalid params, resource not found
		return "usage"
	case -32700, -32600, -32601, -32020, -32021, -32022:
		return "protocol"
	}
	return "other"
}
