package httpserver

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
)

// admit lets a request in, or refuses it.
func (o *Options) admit(w http.ResponseWriter, r *http.Request) (*access.Principal, bool) {
	principal, ok := o.AccessControl.Admit(w, r)
	if !ok {
		o.drain(w, r)
	}
	return principal, ok
}

// Guard is proxy.Guard.
func Guard(o Options, next http.Handler, except []string) http.Handler {
	o = o.withDefaults()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !slices.ContainsFunc(except, func(path string) bool {
			return r.URL.Path == path || strings.HasSuffix(path, "/") && strings.HasPrefix(r.URL.Path, path)
		}) {
			if _, ok := o.admit(w, r); !ok {
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// forgoTime is how long what is left of a refused request may take to come.
const forgoTime = 5 * time.Second

// drain reads what is left of a refused request and drops it, as much again as
// MaxBody at most: a client that sends before it reads gets the answer. Else its
// connection is reset while it sends. A client that waits for a word before it
// sends (Expect) is not made to. What has been written must be small: it goes out
// after the handler.
func (o *Options) drain(w http.ResponseWriter, r *http.Request) {
	if r.Body == nil || r.Body == http.NoBody || r.Header.Get("Expect") != "" {
		return
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(forgoTime)) // not every server has one
	_, _ = io.CopyN(io.Discard, r.Body, o.MaxBody)                               // the client may be gone
}
