package eras_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
)

// sseWire is an HTTP+SSE front (2024-11-05).
type sseWire struct {
	c    *client
	rt   *http.Transport
	post string
	work sync.WaitGroup
}

// dialSSE opens the stream and waits for the address to send to.
func dialSSE(c *client, addr string) (*sseWire, error) {
	w := &sseWire{c: c, rt: &http.Transport{}}
	req, err := http.NewRequestWithContext(c.ctx, http.MethodGet, addr, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/event-stream")
	res, err := w.rt.RoundTrip(req)
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
		_, _, _ = readEvents(res.Body, func(event, data string) { // ends with the client
			switch event {
			case "endpoint":
				endpoint <- data
			case "message":
				c.receive([]byte(data), nil)
			default:
				c.stray("event %q", event)
			}
		})
		close(endpoint)
	})
	at := <-endpoint
	base, err := url.Parse(addr)
	if err != nil || at == "" {
		return nil, errors.New("no endpoint event")
	}
	ref, err := url.Parse(at)
	if err != nil {
		return nil, err
	}
	w.post = base.ResolveReference(ref).String()
	return w, nil
}

func (w *sseWire) send(ctx context.Context, frame []byte, _ *call, _ map[string]string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.post, bytes.NewReader(frame))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := w.rt.RoundTrip(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("status %d %s %w", res.StatusCode, body, err)
	}
	return err
}

func (w *sseWire) close() {
	w.work.Wait()
	w.rt.CloseIdleConnections()
}
