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

// batch answers an array of messages, which clients of 2025-03-26 may send, in
// one array and line; nil where nothing is to be answered. The messages are
// served side by side.
func (p *Proxy) batch(ctx context.Context, line []byte, from caller) []byte {
	spans, err := rawjson.Elements(line)
	if err != nil || len(spans) == 0 || len(spans) > maxBatch {
		return jsonrpc.AppendError(nil, nil, jsonrpc.ErrorObject(runtime.CodeInvalidRequest, "not a batch of 1 to 100 messages", nil))
	}
	answers := make([][]byte, len(spans))
	var wg sync.WaitGroup
	for i, s := range spans {
		wg.Go(func() { answers[i] = p.batched(ctx, s.Of(line), from) })
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

func (p *Proxy) batched(ctx context.Context, text []byte, from caller) []byte {
	var m rawjson.Message
	if err := rawjson.Scan(text, &m); err != nil {
		return jsonrpc.AppendError(nil, nil, jsonrpc.ErrorObject(runtime.CodeInvalidRequest, err.Error(), nil))
	}
	if fault := misshapen(text, &m); fault != "" {
		return jsonrpc.AppendError(nil, usableID(m.ID.Of(text)), jsonrpc.ErrorObject(runtime.CodeInvalidRequest, fault, nil))
	}
	method, ok := rawjson.String(text, m.Method)
	if !m.ID.Present() || !m.Method.Present() {
		return nil
	}
	id := m.ID.Of(text)
	if !ok || method == "initialize" { // "initialize MUST NOT be part of a JSON-RPC batch" (2025-03-26, Lifecycle)
		return jsonrpc.AppendError(nil, id, jsonrpc.ErrorObject(runtime.CodeInvalidRequest, "not a request that a batch may hold", nil))
	}
	return frame(nil, id, p.serve(ctx, request{line: text, msg: &m, method: method, from: from}))
}
