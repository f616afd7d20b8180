package origin

import (
	"errors"
	"net/http"
	"net/url"
	"testing"
)

func parse(t *testing.T, raw string) *url.URL {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestSame(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"http://a.example/x", "http://a.example:80/y?z", true},
		{"https://a.example", "https://A.example:443/", true},
		{"https://u:p@a.example", "https://a.example", true},
		{"http://[::1]:8080", "http://[::1]:8080/x", true},
		{"http://a.example", "https://a.example", false},
		{"http://a.example:80", "https://a.example:80", false},
		{"https://a.example", "https://a.example:8443", false},
		{"https://a.example", "https://b.a.example", false},
		{"https://a.example", "https://a.example.", false},
		{"http://127.0.0.1", "http://localhost", false},
	} {
		if got := Same(parse(t, tt.a), parse(t, tt.b)); got != tt.want {
			t.Errorf("%s and %s: got %v", tt.a, tt.b, got)
		}
	}
}

func TestCheckRedirect(t *testing.T) {
	chain := func(from string, n int) []*http.Request {
		via := make([]*http.Request, n)
		for i := range via {
			via[i] = &http.Request{URL: parse(t, from)}
		}
		return via
	}
	for _, tt := range []struct {
		from string
		n    int
		to   string
		want error
	}{
		{"http://a.example", 1, "http://a.example/x", nil},
		{"http://a.example", 1, "https://b.example", nil},
		{"https://a.example", 1, "https://b.example", nil},
		{"https://a.example", 1, "http://a.example", ErrDowngrade},
		{"https://a.example", 1, "http://a.example:443", ErrDowngrade},
		{"http://a.example", 9, "http://a.example", nil},
		{"http://a.example", 10, "http://a.example", ErrTooMany},
	} {
		if err := CheckRedirect(&http.Request{URL: parse(t, tt.to)}, chain(tt.from, tt.n)); !errors.Is(err, tt.want) {
			t.Errorf("%d times %s, then %s: got %v, want %v", tt.n, tt.from, tt.to, err, tt.want)
		}
	}
}
