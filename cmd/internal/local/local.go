// Package local listens on and connects to sockets of this machine that only one user
// may reach: Unix sockets, and named pipes on Windows.
package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"syscall"
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

// Client returns an HTTP client all of whose requests go to a path. The host of their URLs
// does not matter.
func Client(path string) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext:         func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx, path) },
		MaxIdleConnsPerHost: 16,
		DisableCompression:  true,
	}}
}

// Request sends an HTTP request without a body to a path, and returns the body of the
// answer, of which it reads no more than most bytes. A status other than 2xx is an error.
func Request(ctx context.Context, method, path, target string, most int64) ([]byte, error) {
	c := Client(path)
	defer c.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, method, "http://mcpctl"+target, nil)
	if err != nil {
		return nil, err
	}
	resp, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return nil, fmt.Errorf("it answers with %s", resp.Status)
	}
	return io.ReadAll(io.LimitReader(resp.Body, most))
}

// Gone reports whether an error says that nobody listens on a path.
func Gone(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, os.ErrNotExist)
}
