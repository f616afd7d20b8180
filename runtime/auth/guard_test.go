package auth

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

func TestReach(t *testing.T) {
	t.Parallel()
	for ip, want := range map[string]reach{
		"93.184.215.14": public, "2606:2800:21f:cb07:6820:80da:af6b:8b2c": public,
		"10.1.2.3": private, "172.16.0.1": private, "192.168.1.1": private, "100.64.0.1": private, "fd12::1": private, "::ffff:10.0.0.1": private, "64:ff9b::a00:1": private, "2002:a00:1::": private, "198.18.0.1": private,
		"127.0.0.1": loopback, "127.8.8.8": loopback, "::1": loopback, "::ffff:127.0.0.1": loopback,
		"169.254.169.254": nowhere, "fe80::1": nowhere, "0.0.0.0": nowhere, "::": nowhere, "224.0.0.1": nowhere, "fd00:ec2::254": nowhere, "64:ff9b::a9fe:a9fe": nowhere,
	} {
		if got := reachOf(netip.MustParseAddr(ip)); got != want {
			t.Errorf("%s: got %d, want %d", ip, got, want)
		}
	}
}

// TestDialled: an address counts when it is dialled, whatever name led to it.
func TestDialled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		most    reach
		address string
		ok      bool
	}{
		{public, "93.184.215.14:443", true},
		{public, "10.0.0.1:443", false},
		{public, "127.0.0.1:443", false},
		{public, "[::1]:443", false},
		{private, "10.0.0.1:443", true},
		{private, "127.0.0.1:443", false},
		{loopback, "127.0.0.1:443", true},
		{loopback, "169.254.169.254:80", false},
	} {
		g := &guard{most: c.most}
		if err := g.control("tcp", c.address, nil); (err == nil) != c.ok {
			t.Errorf("%d to %s: %v", c.most, c.address, err)
		}
	}
}

func TestSafeURL(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{
		"https://as.example/x": true, "http://127.0.0.1:8/x": true, "http://localhost/x": true, "http://[::1]/": true,
		"http://as.example/": false, "ftp://as.example/": false, "https://u@as.example/": false, "//as.example": false, "": false,
		"https://169.254.169.254/": false, "https://аs.example/": false, "https://2852039166/": false, "javascript:alert(1)": false, "file:///etc/passwd": false,
	} {
		if _, err := safeURL(text); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestRedirects: metadata stays in its origin, a POST where it was sent, and an answer
// has a bound.
func TestRedirects(t *testing.T) {
	t.Parallel()
	reached := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer other.Close()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/same":
			http.Redirect(w, r, "/end", http.StatusFound)
		case "/other", "/post":
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		case "/large":
			_, _ = w.Write(make([]byte, maxAnswer+1))
		}
	}))
	defer srv.Close()
	u, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	g := newGuard(t.Context(), u)
	for path, want := range map[string]string{"GET /same": "", "GET /other": "is not followed", "POST /post": "is not followed", "GET /large": "too large"} {
		method, path, _ := strings.Cut(path, " ")
		req, err := http.NewRequestWithContext(t.Context(), method, srv.URL+path, strings.NewReader("secret"))
		if err != nil {
			t.Fatal(err)
		}
		_, _, _, err = g.do(req)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s %s: %v", method, path, err)
		}
	}
	if reached {
		t.Error("the other one was asked")
	}
}

// TestRedirectPage: other requests change nothing, what comes from outside is escaped,
// and the page may be loaded again.
func TestRedirectPage(t *testing.T) {
	t.Parallel()
	l, err := listen(t.Context(), "", -1)
	if err != nil {
		t.Fatal(err)
	}
	l.serve(t.Context(), "s", `h"<x>`)
	get := func(query string) (int, string) {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, query, nil)
		w := httptest.NewRecorder()
		l.answer(w, req, `h"<x>`)
		return w.Code, w.Body.String()
	}
	for query, want := range map[string]int{"/favicon.ico": 404, "/callback": 400, "/callback?state=t&code=c": 400, "/callback?state=s": 400, "/callback?state=s&error=no&error_description=%3Cscript%3E": 200} {
		code, body := get(query)
		if code != want || strings.Contains(body, "<script>") {
			t.Errorf("%s: %d %s", query, code, body)
		}
	}
	if got := <-l.got; got.err == nil || got.err.Code != "no" {
		t.Errorf("got %+v", got)
	}
	if code, body := get("/callback?state=s&code=c&iss=i"); code != 200 || strings.Contains(body, "<x>") {
		t.Errorf("%d %s", code, body)
	}
	get("/callback?state=s&code=d")
	if got := <-l.got; got.code != "c" || got.iss != "i" {
		t.Errorf("got %+v", got)
	}
}
