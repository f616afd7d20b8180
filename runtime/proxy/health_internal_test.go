package proxy

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"sync"
	"testing"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// TestHealthTakesNoLock holds every lock that there is in a proxy, and asks.
func TestHealthTakesNoLock(t *testing.T) {
	t.Parallel()
	p, err := newAllowed(Options{Servers: Named("a"), Dial: func(context.Context, Key, runtime.Handler) (*runtime.Client, error) {
		return nil, errors.New("nobody is there")
	}})
	require.NoError(t, err)
	handler, old := p.NewHTTPHandler(HTTPOptions{}), p.NewSSEHandler(SSEOptions{})
	defer func() {
		handler.Close()
		old.Close()
		_ = p.Close()
	}()
	locks := []interface {
		Lock()
		Unlock()
	}{&p.endpoints.Mu, &handler.handler.Sessions.Mu, &old.handler.Mu, &p.router.TaskOwners}
	locks = append(locks, mutexOf(p.router.Hub, "mu"), mutexOf(p.router.Catalog, "mu"), mutexOf(p.router.Catalog, "handedOut", "mu"))
	b := p.router.Set.All()[0]
	locks = append(locks, mutexOf(p.router.Set, "mu"), mutexOf(&b.Pool, "mu"), mutexOf(&b.Lists, "mu"), mutexOf(&b.Persisted, "mu"))
	for _, l := range locks {
		l.Lock()
	}
	defer func() {
		for _, l := range locks {
			l.Unlock()
		}
	}()
	answered := make(chan *httptest.ResponseRecorder, 2)
	go func() {
		for _, path := range []string{"/healthz", "/readyz"} {
			answered <- probe(p, http.MethodGet, path, "127.0.0.1")
		}
	}()
	for range 2 {
		if r := wait.For(t, "an answer without the lock", answered); r.Code != http.StatusOK {
			t.Errorf("got %d %s", r.Code, r.Body)
		}
	}
}

// mutexOf returns the mutex at a path of fields, which may be unexported.
func mutexOf(of any, path ...string) *sync.Mutex {
	v := reflect.ValueOf(of).Elem()
	for _, field := range path {
		v = v.FieldByName(field)
	}
	return (*sync.Mutex)(v.Addr().UnsafePointer())
}

func probe(p *Proxy, method, path, host string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://"+host+path, nil)
	w := httptest.NewRecorder()
	p.Health(HTTPOptions{}).ServeHTTP(w, r)
	return w
}

func TestHealth(t *testing.T) {
	t.Parallel()
	p, err := newAllowed(Options{Servers: Named("dead"), Dial: func(context.Context, Key, runtime.Handler) (*runtime.Client, error) {
		return nil, errors.New("nobody is there")
	}})
	require.NoError(t, err)
	if _, err := p.router.Set.All()[0].Primary.Acquire(t.Context()); err == nil { // it makes nothing unready
		t.Fatal("the server is not dead")
	}
	check := func(method, path, host string, status int, body string) {
		t.Helper()
		r := probe(p, method, path, host)
		if r.Code != status || body != "" && r.Body.String() != body {
			t.Errorf("%s %s: got %d %q", method, path, r.Code, r.Body)
		}
		if got := r.Header().Get("Cache-Control"); host == "localhost:80" && got != "no-store" {
			t.Errorf("%s %s: Cache-Control is %q", method, path, got)
		}
	}
	const local = "localhost:80"
	check("GET", "/healthz", local, 200, `{"status":"ok"}`+"\n")
	check("GET", "/readyz", local, 200, `{"status":"ready"}`+"\n")
	check("HEAD", "/healthz", local, 200, "")
	check("HEAD", "/readyz", local, 200, "")
	check("POST", "/readyz", local, 405, "")
	check("GET", "/readyz", "rebound.example", 403, "")
	p.Drain(t.Context())
	check("GET", "/healthz", local, 200, `{"status":"ok"}`+"\n")
	check("GET", "/readyz", local, 503, `{"status":"ending"}`+"\n")
	_ = p.Close()
	check("GET", "/readyz", local, 503, `{"status":"ending"}`+"\n")
}
