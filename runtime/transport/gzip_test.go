package transport_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/transport"
	"github.com/mcpctl/mcpctl/test/require"
)

// zipped returns a text compressed.
func zipped(t *testing.T, text io.Reader) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := io.Copy(z, text)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}

// writeZipped answers with a compressed body of a type.
func writeZipped(w http.ResponseWriter, media string, body []byte) {
	w.Header().Set("Content-Type", media)
	w.Header().Set("Content-Encoding", "gzip")
	_, _ = w.Write(body)
}

// TestHTTPGzip: what an answer is in compressed form is what it is in plain form; one
// that is broken or grows beyond the bound is an error.
func TestHTTPGzip(t *testing.T) {
	const result = `{"tools":[{"name":"x"}]}`
	answer := `{"jsonrpc":"2.0","id":1,"result":` + result + `}`
	whole := zipped(t, strings.NewReader(answer))
	// 4 MiB of an answer in 4 KiB.
	bomb := zipped(t, io.MultiReader(strings.NewReader(`{"jsonrpc":"2.0","id":1,"result":"`), io.LimitReader(zeros{}, 4<<20), strings.NewReader(`"}`)))
	for name, tt := range map[string]struct {
		media string
		body  []byte
		fails string
	}{
		"JSON":    {"application/json", whole, ""},
		"events":  {"text/event-stream", zipped(t, strings.NewReader("event: message\ndata: "+answer+"\n\n")), ""},
		"cut off": {"application/json", whole[:len(whole)-12], "closed the connection without an answer"},
		"no gzip": {"application/json", []byte(answer), "gzip"},
		"empty":   {"application/json", nil, "empty body"},
		"bomb":    {"application/json", bomb, "larger than 1048576 bytes"},
		"a page":  {"text/html", zipped(t, io.MultiReader(strings.NewReader("<html>"), io.LimitReader(zeros{}, 4<<20))), "text/html"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t, func(w http.ResponseWriter, _ *http.Request, _ posted) { writeZipped(w, tt.media, tt.body) })
			c := newHTTP(t, s.URL, transport.HTTPOptions{MaxMessage: 1 << 20})
			got, err := c.Call(t.Context(), &runtime.Request{Method: "tools/list", Version: legacy})
			switch {
			case tt.fails == "" && (err != nil || string(got) != result):
				t.Errorf("got %s, %v", got, err)
			case tt.fails != "" && (err == nil || !strings.Contains(err.Error(), tt.fails)):
				t.Errorf("got %.100s, %v; want an error with %q", got, err, tt.fails)
			}
		})
	}
}

// zeros is a text that compresses well.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

// TestHTTPGzipIsAskedFor: lists and what is read may be compressed; calls of tools from
// the server's first large answer on, for the header costs each.
func TestHTTPGzipIsAskedFor(t *testing.T) {
	s := newScript(t, func(w http.ResponseWriter, r *http.Request, p posted) {
		text := "small"
		if strings.Contains(p.Body, "large") {
			text = strings.Repeat("x", 100<<10)
		}
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"text":%q}}`, p.ID, text)
		if r.Header.Get("Accept-Encoding") == "gzip" {
			writeZipped(w, "application/json", zipped(t, strings.NewReader(body)))
			return
		}
		writeJSON(w, 200, "%s", body)
	})
	c := newHTTP(t, s.URL, transport.HTTPOptions{})
	for i, tt := range []struct{ method, params, want string }{
		{"initialize", `{}`, ""},
		{"tools/list", `{}`, "gzip"},
		{"resources/read", `{}`, "gzip"},
		{"tools/call", `{"name":"a"}`, ""},
		{"tools/call", `{"name":"large"}`, ""},
		{"tools/call", `{"name":"large"}`, "gzip"},
		{"tools/call", `{"name":"a"}`, "gzip"},
		{"ping", `{}`, ""},
	} {
		got, err := c.Call(t.Context(), &runtime.Request{Method: tt.method, Params: json.RawMessage(tt.params), Version: legacy})
		if err != nil || !strings.HasPrefix(string(got), `{"text":"`) {
			t.Errorf("%d, %s: got %.60s, %v", i, tt.method, got, err)
		}
		if header := s.requests(t, 1)[i].Header; header.Get("Accept-Encoding") != tt.want {
			t.Errorf("%d, %s: Accept-Encoding is %q, want %q", i, tt.method, header.Get("Accept-Encoding"), tt.want)
		}
	}
}
