package proxy

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/internal/audit/journal"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/router"
	"github.com/mcpctl/mcpctl/test/require"
)

// texts is a log in memory, to be read once the journal is closed.
type texts struct{ of [][]byte }

func (k *texts) Append(_ context.Context, b *audit.Batch) (int64, error) {
	for _, text := range b.Records {
		k.of = append(k.of, bytes.Clone(text))
	}
	return 0, nil
}
func (*texts) State(context.Context, string) ([]byte, error)  { return nil, nil }
func (*texts) Checkpoint(context.Context) (_ []byte, _ error) { return nil, nil }

// TestRecordedOnce: a call that could not be sent over the connection that was chosen, and is
// sent over another, has one decision and one outcome.
func TestRecordedOnce(t *testing.T) {
	t.Parallel()
	k := new(texts)
	j, err := journal.Open(t.Context(), journal.Options{Log: k, Digest: func(dst, _ []byte) []byte { return append(dst, "hmac:x"...) }})
	require.NoError(t, err)
	m := new(mortal)
	p, err := newAllowed(Options{Servers: []Server{{Name: "a", IdleTimeout: 1}}, Dial: m.dial, Journal: j})
	require.NoError(t, err)
	callAny(t, p, `{"n":1}`) // which does not finish: it is no endpoint
	b := p.router.Set.All()[0]
	line := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__x","arguments":{}}}`)
	msg := new(rawjson.Message)
	require.NoError(t, rawjson.Scan(line, msg))
	call := p.router.FastCall(line, msg, &interrupted{take{make(chan string, 1)}, func() { b.Pool.Reap() }}, time.Now())
	if call.Conn != nil || call.Err != nil || call.Begun.N == 0 {
		t.Fatalf("got %+v", call)
	}
	if a := p.router.Serve(t.Context(), &router.Request{Line: line, Msg: msg, Method: "tools/call", From: old(), Begun: call.Begun}); a.Result == nil {
		t.Errorf("got %s", a.Object)
	}
	require.NoError(t, p.Close())
	require.NoError(t, j.Close(t.Context()))
	var ended, decided int
	for _, text := range k.of {
		if bytes.Contains(text, []byte(`"kind":"call"`)) {
			decided++
		}
		if bytes.Contains(text, []byte(`"out":"ok"`)) {
			ended++
		}
	}
	if decided != 2 || ended != 1 || m.times(`{}`) != 1 {
		t.Errorf("%d decisions, %d outcomes: %q", decided, ended, k.of)
	}
}
