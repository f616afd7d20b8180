package questions

import (
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"

	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// reassureEvery is how often a server hears that its question is still open:
// most give their own requests up after 60 s.
const reassureEvery = 15 * time.Second

// reassure sends a server progress on its own question, where it has asked for
// that, until stop: a person may think for longer than the server would wait.
func reassure(ctx context.Context, c *upstream.Conn, params json.RawMessage) (stop func()) {
	meta, err := rawjson.Field(params, "_meta")
	if err != nil || !meta.Present() {
		return func() {}
	}
	at, err := rawjson.Field(meta.Of(params), "progressToken")
	if err != nil || !at.Present() {
		return func() {}
	}
	token := bytes.Clone(at.Of(meta.Of(params)))
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { // ended and waited for by stop
		defer close(done)
		t := time.NewTicker(reassureEvery)
		defer t.Stop()
		for n := 1; ; n++ {
			select {
			case <-t.C:
			case <-ctx.Done():
				return
			}
			progress := append([]byte(`{"progressToken":`), token...)
			progress = strconv.AppendInt(append(progress, `,"progress":`...), int64(n), 10)
			// A server that is gone has ended the question as well.
			_ = c.Client.Transport().Notify(ctx, &runtime.Request{Method: revision.NotificationProgress, Params: append(progress, '}')})
		}
	}()
	return func() {
		cancel()
		<-done
	}
}
