package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
)

const (
	// listenPause is how long a listen that ended is left alone, doubled with
	// each one in a row, at most listenPauseMax.
	listenPause    = 500 * time.Millisecond
	listenPauseMax = 30 * time.Second
	// maxListens bounds listens in a row that ended before listenWorth.
	maxListens  = 10
	listenWorth = 30 * time.Second
)

// listening is the one listen of a modern transport. The zero value is ready.
type listening struct {
	mu     sync.Mutex // guards what follows
	cancel context.CancelFunc
	done   chan struct{}
	closed bool
}

// Listen asks the server, in the background, to tell when its lists change: a
// modern server sends nothing that was not asked for (2026-07-28,
// Subscriptions). What it sends goes to the bare transport's handler, first of
// all notifications/subscriptions/acknowledged, from which on no change is
// missed. A listen that ends is asked for again, at most ten times in a row;
// one that is refused is not. It ends with ctx or Close. A second Listen does
// nothing.
func (m *modernTransport) Listen(ctx context.Context) {
	params := m.filter()
	if params == nil {
		return
	}
	m.listening.mu.Lock()
	defer m.listening.mu.Unlock()
	if m.listening.closed || m.listening.done != nil {
		return
	}
	ctx, m.listening.cancel = context.WithCancel(ctx)
	done := make(chan struct{})
	m.listening.done = done
	go func() { // ended and waited for by Close
		defer close(done)
		m.listen(ctx, params)
	}()
}

// filter gives the params of a listen: the lists that the server says can
// change, nil for none.
func (m *modernTransport) filter() json.RawMessage {
	type change struct {
		ListChanged bool `json:"listChanged"`
	}
	var c struct{ Tools, Prompts, Resources change }
	if json.Unmarshal(m.capabilities, &c) != nil || c == (struct{ Tools, Prompts, Resources change }{}) {
		return nil
	}
	type kinds struct {
		Tools     bool `json:"toolsListChanged,omitempty"`
		Prompts   bool `json:"promptsListChanged,omitempty"`
		Resources bool `json:"resourcesListChanged,omitempty"`
	}
	raw, err := json.Marshal(map[string]kinds{"notifications": {c.Tools.ListChanged, c.Prompts.ListChanged, c.Resources.ListChanged}})
	if err != nil {
		panic("bridge: three booleans have no JSON form: " + err.Error())
	}
	return raw
}

func (m *modernTransport) listen(ctx context.Context, params json.RawMessage) {
	for n, inRow := 1, 0; inRow < maxListens; n++ {
		start := time.Now()
		// An id that tells its messages from those of a listen before it.
		_, err := m.send(ctx, &runtime.Request{Method: "subscriptions/listen", ID: json.RawMessage(`"mcpctl-listen-` + strconv.Itoa(n) + `"`), Params: params})
		var rpc *runtime.Error
		switch status := statusOf(err); {
		case ctx.Err() != nil, errors.Is(err, runtime.ErrClosed):
			return
		case errors.As(err, &rpc), status >= 400 && status < 500 && status != 408 && status != 429:
			m.o.Logger.Info("server does not tell when its lists change", "err", err)
			return
		}
		if inRow++; time.Since(start) > listenWorth {
			inRow = 1
		}
		m.o.Logger.Debug("listening has ended", "elapsed", time.Since(start), "err", err)
		t := time.NewTimer(min(listenPause<<(inRow-1), listenPauseMax))
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return
		}
	}
	m.o.Logger.Warn("server keeps ending the stream that tells when its lists change")
}

// Close ends the listen and the transport underneath.
func (m *modernTransport) Close() error {
	m.listening.mu.Lock()
	m.listening.closed = true
	cancel, done := m.listening.cancel, m.listening.done
	m.listening.mu.Unlock()
	if cancel != nil {
		cancel()
	}
	err := m.Transport.Close()
	if done != nil {
		<-done
	}
	return err
}
