package eras_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"

	"github.com/mcpctl/mcpctl/test/wire"
)

// sseTransport is an HTTP+SSE endpoint (2024-11-05). Its client's URL is that of messages.
type sseTransport struct {
	*wire.Client
	work sync.WaitGroup
}

// dialSSE opens the stream and waits for the address to send to.
func dialSSE(c *client, addr string) (*sseTransport, error) {
	w := &sseTransport{Client: wire.NewClient(addr)}
	res, err := w.Do(c.ctx, http.MethodGet, nil, http.Header{"Accept": {"text/event-stream"}})
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		_ = res.Body.Close()
		return nil, fmt.Errorf("GET: status %d", res.StatusCode)
	}
	endpoint := make(chan string, 1)
	w.work.Go(func() {
		defer res.Body.Close()
		_, _ = wire.Events(res.Body, func(e wire.Event) { // ends with the client
			switch e.Name {
			case "endpoint":
				endpoint <- e.Data
			case "message":
				c.receive([]byte(e.Data), nil)
			default:
				if e.Data != "" {
					c.stray("event %q", e.Name)
				}
			}
		})
		close(endpoint)
	})
	at := <-endpoint
	base, err := url.Parse(addr)
	if err != nil || at == "" {
		return nil, errors.New("no endpoint event")
	}
	to, err := base.Parse(at)
	if err != nil {
		return nil, err
	}
	w.URL = to.String()
	return w, nil
}

func (w *sseTransport) send(ctx context.Context, frame []byte, _ *call, _ http.Header) error {
	res, err := w.Do(ctx, http.MethodPost, frame, http.Header{"Accept": nil})
	if err != nil {
		return err
	}
	got, err := wire.Read(res)
	if got.Status/100 != 2 {
		return fmt.Errorf("status %d %s %w", got.Status, got.Body, err)
	}
	return err
}

func (w *sseTransport) close() {
	w.work.Wait()
	w.Close()
}
