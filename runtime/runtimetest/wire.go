package runtimetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/runtime"
)

// wireMessage is any JSON-RPC message.
type wireMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// wireParse reads a message; what is none is an error for the client.
func wireParse(frame []byte) (m wireMessage, err error) {
	if err = json.Unmarshal(frame, &m); err == nil {
		return m, nil
	}
	code := int64(runtime.CodeParseError)
	if json.Valid(frame) { // a batch, or a member of the wrong type
		code = runtime.CodeInvalidRequest
	}
	return m, &runtime.Error{Code: code, Message: "parse error: " + err.Error()}
}

// wireMarshal returns the JSON of a value of our own.
func wireMarshal(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("runtimetest: " + err.Error()) // only values of our own come here
	}
	return b
}

// wireObject makes a JSON object of keys and values in turn. A RawMessage keeps
// its bytes, which json.Marshal would compact; a nil one is left out.
func wireObject(kv ...any) json.RawMessage {
	b := []byte{'{'}
	for pair := range slices.Chunk(kv, 2) {
		key, value := pair[0], pair[len(pair)-1]
		raw, isRaw := value.(json.RawMessage)
		if isRaw && raw == nil {
			continue
		}
		if !isRaw {
			raw = wireMarshal(value)
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(b, wireMarshal(key)...), ':')
		b = append(b, raw...)
	}
	return append(b, '}')
}

// wireArray joins raw values.
func wireArray(items []json.RawMessage) json.RawMessage {
	b := []byte{'['}
	for i, item := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, item...)
	}
	return append(b, ']')
}

// wireField is one string member of a raw object, "" when it has none.
func wireField(raw json.RawMessage, name string) string {
	var s string
	if json.Unmarshal(wireMember(raw, name), &s) != nil {
		return ""
	}
	return s
}

// wireMember is one raw member of a raw object, nil when it has none.
func wireMember(raw json.RawMessage, name string) json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m[name]
}

// wireWith puts members, given as text without braces, in front of those of a raw
// object. The object's own bytes stay.
func wireWith(raw json.RawMessage, members string) json.RawMessage {
	i := bytes.IndexByte(raw, '{')
	if i < 0 || members == "" {
		return raw
	}
	out := append([]byte(nil), raw[:i+1]...)
	out = append(out, members...)
	if rest := bytes.TrimLeft(raw[i+1:], " \t\r\n"); len(rest) > 0 && rest[0] != '}' {
		out = append(out, ',')
	}
	return append(out, raw[i+1:]...)
}

// wireWithLast puts members behind those of a raw object that has some.
func wireWithLast(raw json.RawMessage, members string) json.RawMessage {
	return json.RawMessage(strings.TrimSuffix(string(raw), "}") + "," + members + "}")
}

// wireRaw returns JSON that is written out.
func wireRaw(text string) json.RawMessage { return json.RawMessage(text) }

// wireRequest returns the frame of a request, without an id that of a notification.
func wireRequest(id json.RawMessage, method string, params json.RawMessage) json.RawMessage {
	return wireObject("jsonrpc", "2.0", "id", id, "method", method, "params", params)
}

// wireAnswer returns the frame of an answer: an error where err is one.
func wireAnswer(id, result json.RawMessage, err error) json.RawMessage {
	if err != nil {
		return wireObject("jsonrpc", "2.0", "id", id, "error", wireErrorObject(err))
	}
	return wireObject("jsonrpc", "2.0", "id", id, "result", result)
}

// wireErrorObject returns the error object of an error.
func wireErrorObject(err error) json.RawMessage {
	var e *runtime.Error
	if !errors.As(err, &e) {
		e = &runtime.Error{Code: runtime.CodeInternalError, Message: err.Error()}
	}
	if e.Raw != nil {
		return e.Raw
	}
	return wireObject("code", e.Code, "message", e.Message, "data", e.Data)
}

// wireMethodNotFound is the error of a method that there is not.
func wireMethodNotFound(method string) error {
	return &runtime.Error{Code: runtime.CodeMethodNotFound, Message: "Method not found: " + method}
}

// wireGreaseMember is what Grease adds: a key no revision knows, with values that
// careless re-encoding changes.
const wireGreaseMember = `"x-grease":{"int":9007199254740993,"float":1.0,"exp":1E+2,"esc":"\u00e9\/","null":null}`

// opaque members hold what is not the protocol's own: grease inside would
// change its meaning.
func opaque(key string) bool {
	switch key {
	case "inputSchema", "outputSchema", "requestedSchema", "structuredContent", "arguments", "x-grease", "data":
		return true
	}
	return false
}

// wireGrease adds the grease member to every object of raw that is the protocol's
// own. Everything else keeps its bytes. Text that is not JSON comes back as it
// is.
func wireGrease(raw json.RawMessage) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var out []byte
	from := 0
	if !greaseValue(d, raw, &out, &from, greased) {
		return raw
	}
	return append(out, raw[from:]...)
}

// greasing is what happens to a value: it gets the member, it is a map whose
// values get it, or all of it is left alone.
type greasing int

const (
	greased greasing = iota
	named
	left
)

func greaseValue(d *json.Decoder, raw json.RawMessage, out *[]byte, from *int, how greasing) bool {
	tok, err := d.Token()
	if err != nil {
		return false
	}
	delim, ok := tok.(json.Delim)
	if !ok {
		return true
	}
	if delim == '{' && how == greased {
		at := int(d.InputOffset())
		*out = append(append(*out, raw[*from:at]...), wireGreaseMember...)
		if d.More() {
			*out = append(*out, ',')
		}
		*from = at
	}
	for d.More() {
		inner := how
		if how == named {
			inner = greased
		}
		if delim == '{' {
			key, err := d.Token()
			if err != nil {
				return false
			}
			if name, _ := key.(string); opaque(name) {
				inner = left
			} else if name == "inputRequests" && how == greased {
				inner = named
			}
		}
		if !greaseValue(d, raw, out, from, inner) {
			return false
		}
	}
	_, err = d.Token()
	return err == nil
}
