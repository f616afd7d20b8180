package eras_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/test/wire"
)

// httpTransport is a Streamable HTTP endpoint.
type httpTransport struct {
	*wire.Client
	c    *client
	work sync.WaitGroup
}

func newHTTPTransport(c *client, url string) *httpTransport {
	return &httpTransport{Client: wire.NewClient(url), c: c}
}

func (w *httpTransport) close() {
	w.work.Wait()
	w.Close()
}

// mirrors are the headers that repeat a modern request.
func mirrors(a ask) http.Header {
	h := http.Header{}
	h.Set("Mcp-Protocol-Version", modernVersion)
	h.Set("Mcp-Method", headerValue(a.method))
	var p struct {
		Name, URI, TaskID string
		Arguments         map[string]json.RawMessage
	}
	_ = json.Unmarshal([]byte(`{`+a.members+`}`), &p)
	switch a.method {
	case "tools/call", "prompts/get":
		h.Set("Mcp-Name", headerValue(p.Name))
	case "resources/read":
		h.Set("Mcp-Name", headerValue(p.URI))
	case "tasks/get", "tasks/cancel", "tasks/update":
		h.Set("Mcp-Name", headerValue(p.TaskID))
	}
	return h
}

// headerValue encodes what a header cannot carry.
func headerValue(v string) string {
	if strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r > '~' }) || strings.TrimSpace(v) != v ||
		strings.HasPrefix(v, "=?base64?") && strings.HasSuffix(v, "?=") {
		return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(v)) + "?="
	}
	return v
}

func (w *httpTransport) send(ctx context.Context, frame []byte, k *call, headers http.Header) error {
	if k == nil {
		res, err := w.Post(ctx, string(frame))
		if err == nil && (res.Status != http.StatusAccepted || res.Body != "") {
			err = fmt.Errorf("status %d %s", res.Status, res.Body)
		}
		return err
	}
	w.work.Go(func() {
		if err := w.exchange(ctx, frame, k, headers); err != nil {
			k.fail(err)
		}
	})
	return nil
}

// exchange posts a request and reads its answer; a stream that ends early is
// taken up again.
func (w *httpTransport) exchange(ctx context.Context, frame []byte, k *call, headers http.Header) error {
	res, err := w.Do(ctx, http.MethodPost, frame, headers)
	if err != nil {
		return err
	}
	k.mu.Lock()
	k.status = res.StatusCode
	k.mu.Unlock()
	for range 20 {
		last, retry, err := w.read(res, k)
		if err != nil {
			return err
		}
		if k.ended() {
			return nil
		}
		if last == "" {
			return errors.New("the stream ended without an answer")
		}
		select {
		case <-time.After(retry):
		case <-ctx.Done():
			return ctx.Err()
		}
		if res, err = w.Do(ctx, http.MethodGet, nil, http.Header{"Last-Event-Id": {last}}); err != nil {
			return err
		}
	}
	return errors.New("the stream ended twenty times")
}

// read reads a response to its end: JSON, or events, of which it returns the id
// of the last.
func (w *httpTransport) read(res *http.Response, k *call) (last string, retry time.Duration, err error) {
	if !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		got, err := wire.Read(res)
		if err == nil && (k == nil || !strings.HasPrefix(res.Header.Get("Content-Type"), "application/json")) {
			err = fmt.Errorf("status %d: %.200s", got.Status, got.Body)
		}
		if err == nil {
			w.c.receive([]byte(got.Body), k)
		}
		return "", 0, err
	}
	defer res.Body.Close()
	retry, err = wire.Events(res.Body, func(e wire.Event) {
		last = e.ID
		if e.Name != "" && e.Name != "message" {
			w.c.stray("event %s", e.Name)
		} else if e.Data != "" {
			w.c.receive([]byte(e.Data), k)
		}
	})
	return last, retry, err
}

// listen opens the stream of what the server sends outside of calls, and
// returns once it is open.
func (w *httpTransport) listen() error {
	res, err := w.Do(w.c.ctx, http.MethodGet, nil, nil)
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		_ = res.Body.Close()
		return fmt.Errorf("GET: status %d", res.StatusCode)
	}
	w.work.Go(func() { _, _, _ = w.read(res, nil) }) // ends with the client
	return nil
}

// initialize performs the handshake: the session's id, if there is one, is kept.
func (w *httpTransport) initialize(keep bool) error {
	res, err := w.Post(w.c.ctx, initializeRequest(w.c))
	if err != nil || res.Status != http.StatusOK || !strings.Contains(res.Body, w.c.revision) {
		return fmt.Errorf("initialize: %d %s %w", res.Status, res.Body, err)
	}
	if !keep {
		return nil
	}
	if w.Session = res.Header.Get("Mcp-Session-Id"); w.Session == "" {
		return errors.New("initialize gave no session")
	}
	w.Version = w.c.revision
	if err := w.c.notify("notifications/initialized", ""); err != nil {
		return err
	}
	return w.listen()
}

// initializeRequest is the initialize request, with an id that no other request has.
func initializeRequest(c *client) string {
	return `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"` + c.revision + `","capabilities":` + c.capabilities + `,"clientInfo":{"name":"eras","version":"1"}}}`
}
