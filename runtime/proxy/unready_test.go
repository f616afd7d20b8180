package proxy_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestUnready: /readyz says what keeps requests from being served, and is 503 where they are
// refused for it.
func TestUnready(t *testing.T) {
	t.Parallel()
	p, err := proxy.New(proxy.Options{Dial: func(context.Context, proxy.Key, runtime.Handler) (*runtime.Client, error) {
		return nil, errors.New("there are no servers")
	}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	for _, tt := range []struct {
		word    string
		refuses bool
		status  int
		want    string
	}{
		{"", false, 200, "ready"},
		{"unrecorded", true, 503, "unrecorded"},
		{"unrecorded", false, 200, "ready, unrecorded"},
	} {
		w := httptest.NewRecorder()
		p.Health(proxy.HTTPOptions{AnyHost: true, Unready: func() (string, bool) { return tt.word, tt.refuses }}).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", nil))
		if got := strings.TrimSpace(w.Body.String()); w.Code != tt.status || got != `{"status":"`+tt.want+`"}` {
			t.Errorf("%+v: got %d %s", tt, w.Code, got)
		}
	}
}
