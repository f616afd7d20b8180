package dial_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/mcpctl/mcpctl/internal/negotiate"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
)

// TestProbeOverHTTP: an HTTP server's answers to the probe of its era, and what it is
// sent after that.
func TestProbeOverHTTP(t *testing.T) {
	const rpc = `{"jsonrpc":"2.0","id":%s,"error":{"code":%s}}`
	for name, c := range map[string]struct {
		status  int
		header  string // "Name: value" of the answer to the probe
		body    string // of the answer to the probe; %s is the id
		initial int    // the status of the answer to initialize, 0 for success
		want    string // what comes after the probe, and the error
		era     string // stored
	}{
		"modern":                 {200, "", `{"jsonrpc":"2.0","id":%s,"result":{"supportedVersions":["2026-07-28"],"capabilities":{}}}`, 0, "", "modern"},
		"-32022, legacy listed":  {400, "", fmt.Sprintf(rpc, "%s", `-32022,"message":"no","data":{"supported":["2025-06-18"],"requested":"2026-07-28"}`), 0, "initialize 2025-06-18, notifications/initialized", "legacy"},
		"-32021":                 {400, "", fmt.Sprintf(rpc, "%s", `-32021,"message":"sampling wanted"`), 0, "! sampling wanted", ""},
		"-32020":                 {400, "", fmt.Sprintf(rpc, "%s", `-32020,"message":"header lost"`), 0, "! header lost", ""},
		"400, another code":      {400, "", fmt.Sprintf(rpc, "%s", `-32000,"message":"no session"`), 0, "initialize 2025-11-25, notifications/initialized", "legacy"},
		"400, text":              {400, "Content-Type: text/plain", `Bad Request`, 0, "initialize 2025-11-25, notifications/initialized", "legacy"},
		"400, empty":             {400, "", ``, 0, "initialize 2025-11-25, notifications/initialized", "legacy"},
		"404, HTML":              {404, "Content-Type: text/html", `<html>`, 0, "initialize 2025-11-25, notifications/initialized", "legacy"},
		"404, no such method":    {404, "", fmt.Sprintf(rpc, "%s", `-32601,"message":"no"`), 0, "initialize 2025-11-25, notifications/initialized", "legacy"},
		"405":                    {405, "", ``, 0, "initialize 2025-11-25, notifications/initialized", "legacy"},
		"406":                    {406, "", ``, 0, "initialize 2025-11-25, notifications/initialized", "legacy"},
		"415":                    {415, "", ``, 0, "initialize 2025-11-25, notifications/initialized", "legacy"},
		"422":                    {422, "", `{"detail":"no"}`, 0, "initialize 2025-11-25, notifications/initialized", "legacy"},
		"200 with an error":      {200, "", fmt.Sprintf(rpc, "%s", `-32601,"message":"no"`), 0, "initialize 2025-11-25, notifications/initialized", "legacy"},
		"200, malformed":         {200, "", `{"jsonrpc":"2.0","id":%s,"result":7}`, 0, "initialize 2025-11-25, notifications/initialized", "legacy"},
		"200, no JSON":           {200, "Content-Type: text/html", `<html>`, 0, "initialize 2025-11-25, notifications/initialized", "legacy"},
		"a session":              {200, "Mcp-Session-Id: early", fmt.Sprintf(rpc, "%s", `-32601,"message":"no"`), 0, "DELETE early, initialize 2025-11-25, notifications/initialized", "legacy"},
		"401":                    {401, "WWW-Authenticate: Bearer", ``, 0, "! HTTP 401", ""},
		"403":                    {403, "", ``, 0, "! HTTP 403", ""},
		"429":                    {429, "Retry-After: 1", ``, 0, "! HTTP 429", ""},
		"500":                    {500, "", ``, 0, "! HTTP 500", ""},
		"503":                    {503, "", ``, 0, "! HTTP 503", ""},
		"redirect to elsewhere":  {307, "Location: http://127.0.0.2:9/", ``, 0, "! another origin", ""},
		"redirect of a GET":      {303, "Location: /other", ``, 0, "! in a way that would lose the request", ""},
		"HTTP+SSE":               {405, "", ``, 405, "initialize 2025-11-25, GET", ""},
		"HTTP+SSE, not for 500":  {404, "", ``, 500, "initialize 2025-11-25! HTTP 500", ""},
		"HTTP+SSE, by its error": {404, "", ``, 404, "initialize 2025-11-25, GET", ""},
	} {
		var mu sync.Mutex
		var came []string
		note := func(text string) {
			mu.Lock()
			defer mu.Unlock()
			if strings.HasPrefix(text, "DELETE") { // beside the handshake
				came = append([]string{text}, came...)
				return
			}
			came = append(came, text)
		}
		done := make(chan struct{})
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var m struct {
				ID     json.RawMessage
				Method string
				Params struct{ ProtocolVersion string }
			}
			if r.Method == http.MethodPost && json.NewDecoder(r.Body).Decode(&m) != nil {
				t.Errorf("%s: a body that is not JSON", name)
			}
			reply := func(status int, body string) {
				if w.Header().Get("Content-Type") == "" {
					w.Header().Set("Content-Type", "application/json")
				}
				w.WriteHeader(status)
				_, _ = fmt.Fprint(w, strings.ReplaceAll(body, "%s", string(m.ID)))
			}
			switch {
			case r.Method == http.MethodDelete:
				note("DELETE " + r.Header.Get("Mcp-Session-Id"))
				close(done)
			case r.Method == http.MethodGet:
				note("GET")
				w.WriteHeader(http.StatusNotFound)
			case m.Method == "server/discover":
				if name, value, ok := strings.Cut(c.header, ": "); ok {
					w.Header().Set(name, value)
				}
				reply(c.status, c.body)
			case m.Method == "initialize":
				note("initialize " + m.Params.ProtocolVersion)
				if c.initial != 0 {
					reply(c.initial, "")
					return
				}
				reply(200, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"`+m.Params.ProtocolVersion+`","capabilities":{},"serverInfo":{"name":"x","version":"1"}}}`)
			default:
				note(m.Method)
				w.WriteHeader(http.StatusAccepted)
			}
		}))
		memory := &watchedEras{}
		cl, err := dial.Dial(t.Context(), config.Entry{Name: "s", URL: srv.URL}, dial.Options{Eras: memory})
		if strings.HasPrefix(c.want, "DELETE") {
			<-done
		}
		mu.Lock()
		got := strings.Join(came, ", ")
		mu.Unlock()
		if err == nil {
			_ = cl.Close()
		}
		want, wantErr, failing := strings.Cut(c.want, "! ")
		failing = failing || c.initial != 0
		if got != want || failing != (err != nil) || err != nil && !strings.Contains(err.Error(), wantErr) {
			t.Errorf("%s: got %s, %v; want %s", name, got, err, c.want)
		}
		if memory.era != c.era {
			t.Errorf("%s: %q is remembered, want %q", name, memory.era, c.era)
		}
		srv.Close()
	}
}

// watchedEras keeps the era of the one server.
type watchedEras struct {
	negotiate.MemoryCache
	era string
}

func (w *watchedEras) Put(key string, v negotiate.KnownEra) {
	w.era = v.Era
	w.MemoryCache.Put(key, v)
}
