package endpoint

import (
	"bytes"
	"context"
	"sync"

	"github.com/mcpctl/mcpctl/internal/deadline"
	"github.com/mcpctl/mcpctl/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/router"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

const (
	// BatchVersion is the one revision with batches.
	BatchVersion = "2025-03-26"
	// MaxBatch bounds the messages of one batch.
	MaxBatch = 100
)

// Batcher is the client that a batch comes from.
type Batcher struct {
	From upstream.Caller
	// Sender takes its notifications, and holds its requests so that they can be
	// cancelled. Nil: the client has no session.
	Sender *Sender
}

// Batch answers an array of messages, which clients of 2025-03-26 may send, in
// one array and line; nil where nothing is to be answered. The requests are
// served side by side.
func (f *Set) Batch(ctx context.Context, line []byte, c Batcher) []byte {
	spans, err := rawjson.Elements(line)
	if err != nil || len(spans) == 0 || len(spans) > MaxBatch {
		return Invalid(nil, "not a batch of 1 to 100 messages")
	}
	answers := make([][]byte, len(spans))
	var wg sync.WaitGroup
	for i, s := range spans {
		m := new(rawjson.Message)
		text := s.Of(line)
		r, answer := f.batched(text, m, c)
		if answers[i] = answer; r == nil {
			continue
		}
		// Added before the next message is read, which may cancel it.
		each, done := ctx, func() {}
		if c.Sender != nil {
			each, done = c.Sender.InProgress.Start(ctx, m.ID.Of(text))
		}
		wg.Go(func() {
			defer done()
			a := f.Router.Serve(each, r)
			if deadline.Cause(each) != upstream.ErrCancelled { //nolint:errorlint // set by identity
				answers[i] = router.Frame(nil, m.ID.Of(text), a)
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

// batched handles one message of a batch: it returns the request to serve, or
// else the answer, if any.
func (f *Set) batched(text []byte, m *rawjson.Message, c Batcher) (*router.Request, []byte) {
	kind, refusal := Classify(text, m)
	switch {
	case refusal != nil:
		if refusal.ambiguous {
			refusal.id = nil
		}
		return nil, refusal.Frame()
	case kind != Request:
		f.Take(c.Sender, kind, text, m)
		return nil, nil
	case !f.Ready():
		return nil, jsonrpc.AppendError(nil, m.ID.Of(text), DrainingError())
	}
	method, ok := rawjson.String(text, m.Method)
	if !ok || method == "initialize" { // "initialize MUST NOT be part of a JSON-RPC batch" (2025-03-26, Lifecycle)
		return nil, Invalid(m.ID.Of(text), "not a request that a batch may hold")
	}
	return &router.Request{Line: text, Msg: m, Method: method, From: c.From}, nil
}
