package gen

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/test/wire"
)

const (
	maxErrorBody = 500
	// maxAnswer bounds an answer over HTTP.
	maxAnswer = 256 << 20
)

// web is one session of Streamable HTTP with connections of its own.
type web struct {
	target Target
	client *wire.Client
	// credential is what Authorization says, "" for nothing.
	credential string
	next       atomic.Uint64
	bufs       []bytes.Buffer // what each caller received

	mu     sync.Mutex
	strays int64
	first  string
}

func newWeb(t Target) *web {
	idle := t.Connections
	if idle <= 0 {
		idle = 600
	}
	tr := &http.Transport{MaxIdleConnsPerHost: idle, DisableCompression: true}
	return &web{target: t, client: &wire.Client{URL: t.URL, HTTP: &http.Client{Transport: tr}}, bufs: make([]bytes.Buffer, maxCallers)}
}

func (w *web) post(ctx context.Context, body []byte, method, name string) (*http.Response, error) {
	h := http.Header{}
	if w.credential != "" {
		h.Set("Authorization", w.credential)
	}
	if w.target.stateless() {
		h.Set("Mcp-Protocol-Version", w.target.revision())
		h.Set("Mcp-Method", method)
		if name != "" {
			h.Set("Mcp-Name", name)
		}
	}
	return w.client.Do(ctx, http.MethodPost, body, h)
}

func (w *web) call(ctx context.Context, caller int, method, name string, params []byte) (answer, error) {
	in := &w.bufs[caller]
	id := w.next.Add(1)
	resp, err := w.post(ctx, request(id, method, params), method, name)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
		return answer{}, fmt.Errorf("HTTP %d: %s", resp.StatusCode, bytes.TrimSpace(text))
	}
	if method == "initialize" { // nobody else calls yet
		w.client.Session, w.client.Version = resp.Header.Get("Mcp-Session-Id"), w.target.revision()
	}
	var m message
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		m, err = w.stream(resp.Body, id)
	} else {
		in.Reset()
		if _, err = in.ReadFrom(io.LimitReader(resp.Body, maxAnswer)); err == nil {
			m.at = time.Now()
			if err = json.Unmarshal(in.Bytes(), &m); err != nil {
				err = fmt.Errorf("%w: %.120q: %w", ErrWrong, in.Bytes(), err)
			}
		}
	}
	if err != nil {
		return answer{}, err
	}
	if got := string(m.ID); got != strconv.FormatUint(id, 10) {
		return answer{}, fmt.Errorf("%w: it has the id %.40s, want %d", ErrWrong, got, id)
	}
	return m.answer()
}

// stream reads events up to the end of the stream, which holds one answer.
func (w *web) stream(body io.Reader, id uint64) (message, error) {
	var found message
	want, n := strconv.FormatUint(id, 10), 0
	_, err := wire.Events(body, func(e wire.Event) {
		m := message{at: time.Now()}
		switch err := json.Unmarshal([]byte(e.Data), &m); {
		case err != nil && strings.TrimSpace(e.Data) != "":
			w.addStray(fmt.Sprintf("an event that is no message: %.120q", e.Data))
		case err != nil || m.Method != "":
		case n > 0 || string(m.ID) != want:
			w.addStray(fmt.Sprintf("an answer that nobody waits for: %.120s", e.Data))
			n++
		default:
			found, n = m, n+1
		}
	})
	if err == nil && n == 0 {
		err = fmt.Errorf("%w: the stream ended without it", ErrWrong)
	}
	return found, err
}

func (w *web) notify(ctx context.Context, method string) error {
	resp, err := w.post(ctx, []byte(`{"jsonrpc":"2.0","method":"`+method+`"}`), method, "")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, io.LimitReader(resp.Body, maxAnswer))
	if err == nil && resp.StatusCode/100 != 2 {
		err = fmt.Errorf("%s: HTTP %d", method, resp.StatusCode)
	}
	return err
}

func (w *web) addStray(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.strays++; w.first == "" {
		w.first = text
	}
}

func (w *web) stray() (int64, string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.strays, w.first
}

func (w *web) close() error {
	w.client.Close()
	return nil
}
