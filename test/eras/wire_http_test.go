package eras_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// httpWire is a Streamable HTTP front.
type httpWire struct {
	c       *client
	url     string
	version string // header; "" sends none
	rt      *http.Transport
	work    sync.WaitGroup
	session string // set before anything else is sent
}

func newHTTPWire(c *client, url string) *httpWire {
	return &httpWire{c: c, url: url, rt: &http.Transport{}}
}

func (w *httpWire) close() {
	w.work.Wait()
	w.rt.CloseIdleConnections()
}

// mirrors are the headers that repeat a modern request.
func mirrors(a ask) map[string]string {
	h := map[string]string{"Mcp-Protocol-Version": modernVersion, "Mcp-Method": a.method}
	var p struct {
		Name, URI, TaskID string
		Arguments         map[string]json.RawMessage
	}
	_ = json.Unmarshal([]byte(`{`+a.members+`}`), &p)
	switch a.method {
	case "tools/call", "prompts/get":
		h["Mcp-Name"] = p.Name
	case "resources/read":
		h["Mcp-Name"] = p.URI
	case "tasks/get", "tasks/cancel", "tasks/update":
		h["Mcp-Name"] = p.TaskID
	}
	for k, v := range h {
		h[k] = headerValue(v)
	}
	return h
}

// headerValue encodes what cannot stand in a header.
func headerValue(v string) string {
	if strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r > '~' }) || strings.TrimSpace(v) != v ||
		strings.HasPrefix(v, "=?base64?") && strings.HasSuffix(v, "?=") {
		return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(v)) + "?="
	}
	return v
}

func (w *httpWire) request(ctx context.Context, method string, body []byte, headers map[string]string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, w.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json, text/event-stream")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if w.version != "" {
		req.Header.Set("Mcp-Protocol-Version", w.version)
	}
	if w.session != "" {
		req.Header.Set("Mcp-Session-Id", w.session)
	}
	for k, v := range headers {
		req.Header.Set(k, v)
	}
	return w.rt.RoundTrip(req)
}

func (w *httpWire) send(ctx context.Context, frame []byte, k *call, headers map[string]string) error {
	if k == nil {
		res, err := w.request(ctx, http.MethodPost, frame, headers)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if res.StatusCode != http.StatusAccepted || len(body) > 0 {
			return fmt.Errorf("status %d %s %w", res.StatusCode, body, err)
		}
		return nil
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
func (w *httpWire) exchange(ctx context.Context, frame []byte, k *call, headers map[string]string) error {
	res, err := w.request(ctx, http.MethodPost, frame, headers)
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
		select {
		case <-k.answered:
			return nil
		default:
		}
		if last == "" {
			return errors.New("the stream ended without an answer")
		}
		select {
		case <-time.After(retry):
		case <-ctx.Done():
			return ctx.Err()
		}
		if res, err = w.request(ctx, http.MethodGet, nil, map[string]string{"Last-Event-Id": last}); err != nil {
			return err
		}
	}
	return errors.New("the stream ended twenty times")
}

// read reads a response to its end: JSON, or events.
func (w *httpWire) read(res *http.Response, k *call) (last string, retry time.Duration, err error) {
	defer res.Body.Close()
	if !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		body, err := io.ReadAll(res.Body)
		if err != nil {
			return "", 0, err
		}
		if k == nil || !strings.HasPrefix(res.Header.Get("Content-Type"), "application/json") {
			return "", 0, fmt.Errorf("status %d: %.200s", res.StatusCode, body)
		}
		w.c.receive(body, k)
		return "", 0, nil
	}
	last, retry, err = readEvents(res.Body, func(event, data string) {
		if event != "" && event != "message" {
			w.c.stray("event %s", event)
		} else if data != "" {
			w.c.receive([]byte(data), k)
		}
	})
	return last, retry, err
}

// readEvents reads server-sent events: the parts of the format that servers
// use.
func readEvents(r io.Reader, event func(name, data string)) (last string, retry time.Duration, err error) {
	br := bufio.NewReaderSize(r, 1<<16)
	var name, id string
	var data []string
	retry = 10 * time.Millisecond
	for {
		line, err := br.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return last, retry, nil
		}
		if err != nil {
			return last, retry, err
		}
		line = strings.TrimRight(line, "\r\n")
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			if last = id; data != nil {
				event(name, strings.Join(data, "\n"))
			}
			name, data = "", nil
		case field == "event":
			name = value
		case field == "data":
			data = append(data, value)
		case field == "id":
			id = value
		case field == "retry":
			if ms, err := strconv.Atoi(value); err == nil {
				retry = time.Duration(ms) * time.Millisecond
			}
		}
	}
}

// listen opens the stream of what the server sends outside of calls, and
// returns once it is open.
func (w *httpWire) listen() error {
	res, err := w.request(w.c.ctx, http.MethodGet, nil, nil)
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

// hello shakes hands: the session's id, if there is one, is kept.
func (w *httpWire) hello(keep bool) error {
	res, err := w.request(w.c.ctx, http.MethodPost, []byte(greeting(w.c)), nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 200 || !bytes.Contains(body, []byte(w.c.revision)) {
		return fmt.Errorf("initialize: %d %s %w", res.StatusCode, body, err)
	}
	if !keep {
		return nil
	}
	if w.session = res.Header.Get("Mcp-Session-Id"); w.session == "" {
		return errors.New("initialize gave no session")
	}
	w.version = w.c.revision
	if err := w.c.notify("notifications/initialized", ""); err != nil {
		return err
	}
	return w.listen()
}

// greeting is the initialize request, with an id that no other request has.
func greeting(c *client) string {
	return `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"` + c.revision + `","capabilities":` + c.capabilities + `,"clientInfo":{"name":"eras","version":"1"}}}`
}
