// Package local listens on and connects to sockets of this machine that only one user
// may reach: Unix sockets, and named pipes on Windows.
package local

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
)

// ErrInUse is the error of [Listen] where another process listens on the path.
var ErrInUse = errors.New("another process listens there")

// Listen listens on a path, mode 0600: only processes of this user are accepted, which
// is checked by the user id of each peer. A socket whose process has ended is replaced;
// any other file is left alone, which is an error. On Windows the path is the name of a
// pipe, whose access list admits this user alone. log gets the peers that are refused.
func Listen(ctx context.Context, path string, log *slog.Logger) (net.Listener, error) {
	return listen(ctx, path, log)
}

// Dial connects to a path.
func Dial(ctx context.Context, path string) (net.Conn, error) { return dial(ctx, path) }

// Client returns an HTTP client all of whose requests go to a path. The host of their URLs
// does not matter.
func Client(path string) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext:         func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx, path) },
		MaxIdleConnsPerHost: 16,
		DisableCompression:  true,
	}}
}
