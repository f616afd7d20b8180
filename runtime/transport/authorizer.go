package transport

import (
	"context"
	"net/http"
	"strings"

	"github.com/mcpctl/mcpctl/internal/ability"
)

// Authorizer adds credentials to requests. Its methods are called
// concurrently.
type Authorizer interface {
	// Authorize adds credentials to a request that is about to be sent. An
	// error fails the request, of which nothing has left this process.
	Authorize(ctx context.Context, req *http.Request) error
	// Challenged handles an answer that asks for other credentials: 401, or 403
	// with insufficient_scope. Retry sends the request once more, by way of
	// Authorize; an error fails it. The body must be left alone. It is called
	// once for each request at most.
	Challenged(ctx context.Context, resp *http.Response) (retry bool, err error)
}

// challengeError is an authorizer's error with the answer that it was asked about.
type challengeError struct {
	error
	body, authServer string
}

func (e *challengeError) Unwrap() error { return e.error }

// HTTPBody returns the printable beginning of the answer's body.
func (e *challengeError) HTTPBody() string { return e.body }

// AuthServer returns the answer's header Mcp-Auth-Server.
func (e *challengeError) AuthServer() string { return e.authServer }

var (
	_ ability.HTTPBody   = (*challengeError)(nil)
	_ ability.AuthServer = (*challengeError)(nil)
)

// challenged reports whether an answer asks for other credentials.
func challenged(resp *http.Response) bool {
	switch resp.StatusCode {
	case http.StatusUnauthorized:
		return true
	case http.StatusForbidden:
		return strings.Contains(strings.Join(resp.Header.Values("Www-Authenticate"), ","), "insufficient_scope")
	}
	return false
}
