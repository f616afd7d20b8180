package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Message is any message of JSON-RPC, its members as they came.
type Message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// RPCError is the error of an answer.
type RPCError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

func (e *RPCError) Error() string { return fmt.Sprintf("%d %s %s", e.Code, e.Message, e.Data) }

// Outcome returns the result of an answer, or its error as an [*RPCError].
func (m Message) Outcome() (json.RawMessage, error) {
	if m.Error != nil {
		e := &RPCError{}
		if err := json.Unmarshal(m.Error, e); err != nil {
			return nil, fmt.Errorf("error object %s: %w", m.Error, err)
		}
		return nil, e
	}
	if m.Result == nil {
		return nil, errors.New("an answer without result and error")
	}
	return m.Result, nil
}

// Hello is the params of initialize, of a client without capabilities.
const Hello = `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`

// Request returns a request; id and params are JSON.
func Request(id, method, params string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":` + Quote(method) + `,"params":` + params + `}`
}

// Notification returns a notification; params is JSON.
func Notification(method, params string) string {
	return `{"jsonrpc":"2.0","method":` + Quote(method) + `,"params":` + params + `}`
}

// Result returns an answer; id and result are JSON.
func Result(id json.RawMessage, result string) string {
	return `{"jsonrpc":"2.0","id":` + string(id) + `,"result":` + result + `}`
}

// Quote returns a text as JSON.
func Quote(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string
	}
	return string(raw)
}

// Lines calls each with every line of a stream that is not empty, without its
// end, and returns how the stream ended. The line is valid until each returns.
func Lines(r io.Reader, each func(line []byte)) error {
	br := bufio.NewReaderSize(r, 1<<16)
	var line []byte
	for {
		part, err := br.ReadSlice('\n')
		line = append(line, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if whole := bytes.TrimRight(line, "\r\n"); len(whole) > 0 {
			each(whole)
		}
		if line = line[:0]; err != nil {
			return err
		}
	}
}
