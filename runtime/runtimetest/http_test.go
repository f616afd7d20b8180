package runtimetest_test

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

func post(t *testing.T, url, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	require.NoError(t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res, string(b)
}

const (
	initMessage = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`
	exactCall   = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"exact"}}`
	exactAnswer = `{"jsonrpc":"2.0","id":2,"result":` + runtimetest.ExactResult + `}`
)

func TestHTTP(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		o       runtimetest.HTTPOptions
		body    string
		headers []string
		status  int
		want    string
	}{
		{"json", runtimetest.HTTPOptions{}, exactCall, nil, 200, exactAnswer},
		{"sse", runtimetest.HTTPOptions{SSE: true}, exactCall, nil, 200, "event: message\ndata: " + exactAnswer + "\n\n"},
		{"progress on the stream", runtimetest.HTTPOptions{SSE: true}, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"steps","arguments":{"n":1},"_meta":{"progressToken":7}}}`, nil, 200, `"method":"notifications/progress","params":{"progressToken":7`},
		{"notification", runtimetest.HTTPOptions{}, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil, 202, ""},
		{"no session", runtimetest.HTTPOptions{Sessions: true}, exactCall, nil, 400, "missing Mcp-Session-Id"},
		{"unknown session", runtimetest.HTTPOptions{Sessions: true}, exactCall, []string{"Mcp-Session-Id", "x"}, 404, "session not found"},
		{"no token", runtimetest.HTTPOptions{Bearer: "t"}, exactCall, nil, 401, "unauthorized"},
		{"token", runtimetest.HTTPOptions{Bearer: "t"}, exactCall, []string{"Authorization", "Bearer t"}, 200, exactAnswer},
		{"accept", runtimetest.HTTPOptions{}, exactCall, []string{"Accept", "application/json"}, 406, ""},
		{"content type", runtimetest.HTTPOptions{}, exactCall, []string{"Content-Type", "text/plain"}, 415, ""},
		{"no JSON", runtimetest.HTTPOptions{}, `{`, nil, 400, "-32700"},
		{"status", runtimetest.HTTPOptions{Status: 503, Body: "<html>"}, exactCall, nil, 503, "<html>"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(runtimetest.New().Handler(tt.o))
			defer srv.Close()
			res, got := post(t, srv.URL, tt.body, tt.headers...)
			if res.StatusCode != tt.status || !strings.Contains(got, tt.want) {
				t.Errorf("got %d %s, want %d %s", res.StatusCode, got, tt.status, tt.want)
			}
		})
	}
}

func TestHTTPSessionEnds(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(runtimetest.New().Handler(runtimetest.HTTPOptions{Sessions: true, SessionCalls: 1}))
	defer srv.Close()
	res, _ := post(t, srv.URL, initMessage)
	id := res.Header.Get("Mcp-Session-Id")
	if id == "" {
		t.Fatal("no session id")
	}
	for i, want := range []int{200, 404, 404} {
		if res, got := post(t, srv.URL, exactCall, "Mcp-Session-Id", id); res.StatusCode != want {
			t.Errorf("call %d: got %d %s, want %d", i, res.StatusCode, got, want)
		}
	}
}

func TestLegacySSE(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(runtimetest.New().LegacySSE())
	defer srv.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+"/sse", nil)
	require.NoError(t, err)
	res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	require.NoError(t, err)
	defer res.Body.Close()
	sc := bufio.NewScanner(res.Body)
	data := func() string {
		for sc.Scan() {
			if d, ok := strings.CutPrefix(sc.Text(), "data: "); ok {
				return d
			}
		}
		return ""
	}
	endpoint := data()
	if res, _ := post(t, srv.URL+endpoint, exactCall); res.StatusCode != 202 {
		t.Errorf("post: %d", res.StatusCode)
	}
	if got := data(); got != exactAnswer {
		t.Errorf("got %s, want %s", got, exactAnswer)
	}
	if res, _ := post(t, srv.URL+"/messages?sessionId=none", exactCall); res.StatusCode != 404 {
		t.Errorf("unknown session: %d", res.StatusCode)
	}
}
