package proxy

import (
	"bytes"
	"context"
	"sync"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
)

const (
	// batchVersion is the one revision with batches.
	batchVersion = "2025-03-26"
	// maxBatch bounds the messages of one batch.
	maxBatch = 100
)

// batcher is the client that a batch comes from.
type batcher struct {
	from Origin
	// sender takes its notifications, and notes its requests so that they can be
	// cancelled. Nil: the client has no session.
	sender *sender
}

// batch answers an array of messages, which clients of 2025-03-26 may send, in
// one array and line; nil where nothing is to be answered. The requests are
// served side by side.
func (p *frontSet) batch(ctx context.Context, line []byte, c batcher) []byte {
	spans, err := rawjson.Elements(line)
	if err != nil || len(spans) == 0 || len(spans) > maxBatch {
		return jsonrpc.AppendError(nil, nil, jsonrpc.ErrorObject(runtime.CodeInvalidRequest, "not a batch of 1 to 100 messages", nil))
	}
	answers := make([][]byte, len(spans))
	var wg sync.WaitGroup
	for i, s := range spans {
		m := new(rawjson.Message)
		text := s.Of(line)
		r, answer := p.batched(text, m, c)
		if answers[i] = answer; r == nil {
			continue
		}
		// Noted before the next message is read, which may cancel it.
		each, done := ctx, func() {}
		if c.sender != nil {
			each, done = c.sender.slow.begin(ctx, m.ID.Of(text))
		}
		wg.Go(func() {
			defer done()
			a := p.rt.serve(each, *r)
			if context.Cause(each) != errCancelled { //nolint:errorlint // set by identity
				answers[i] = frame(nil, m.ID.Of(text), a)
			}
		})
	}
	wg.Wait()
	out := []byte{'['}
	for _, a := range answers {
		if a == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, bytes.TrimRight(a, "\n")...)
	}
	if len(out) == 1 {
		return nil
	}
	return append(out, ']', '\n')
}

// batched handles one message of a batch: it gives the request to serve, or
// else the answer, if any.
func (p *frontSet) batched(text []byte, m *rawjson.Message, c batcher) (*Request, []byte) {
	if err := rawjson.Scan(text, m); err != nil {
		return nil, jsonrpc.AppendError(nil, nil, jsonrpc.ErrorObject(runtime.CodeInvalidRequest, err.Error(), nil))
	}
	if fault := malformed(text, m); fault != "" {
		return nil, jsonrpc.AppendError(nil, usableID(m.ID.Of(text)), jsonrpc.ErrorObject(runtime.CodeInvalidRequest, fault, nil))
	}
	id := m.ID.Of(text)
	switch {
	case !m.Method.Present():
		if c.from.client != nil {
			c.from.client.resolve(id, m.Result.Of(text), m.Error.Of(text))
		}
		return nil, nil
	case !m.ID.Present():
		if c.sender != nil {
			p.notification(c.sender, text, m)
		}
		return nil, nil
	case !p.ready():
		return nil, jsonrpc.AppendError(nil, id, drainingError())
	}
	method, ok := rawjson.String(text, m.Method)
	if !ok || method == "initialize" { // "initialize MUST NOT be part of a JSON-RPC batch" (2025-03-26, Lifecycle)
		return nil, jsonrpc.AppendError(nil, id, jsonrpc.ErrorObject(runtime.CodeInvalidRequest, "not a request that a batch may hold", nil))
	}
	return &Request{line: text, msg: m, method: method, from: c.from}, nil
}
