package sessions

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/local"
)

const (
	// askBound is how long a session may take to say what it is; it needs milliseconds.
	askBound = 3 * time.Second
	// endBound is how long it may take to end.
	endBound = 15 * time.Second
	// maxAnswer bounds what it says, in bytes.
	maxAnswer = 1 << 20
)

// Ask returns what the session at a socket is. Where there is none the error is one for
// [local.Gone].
func Ask(ctx context.Context, socket string) (Info, error) {
	var i Info
	raw, err := request(ctx, http.MethodGet, socket)
	if err == nil {
		err = json.Unmarshal(raw, &i)
	}
	i.Socket = socket
	return i, err
}

// Stop ends the session at a socket, and returns when it has ended.
func Stop(ctx context.Context, socket string) error {
	if _, err := request(ctx, http.MethodDelete, socket); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, endBound)
	defer cancel()
	for {
		if _, err := os.Lstat(socket); errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if _, err := Ask(ctx, socket); local.Gone(err) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("it has not ended: %w", context.Cause(ctx))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Find returns the sessions that run, by server. It removes the sockets of dead ones.
func Find(ctx context.Context, state string) []Info {
	var all []Info
	for _, socket := range sockets(state) {
		i, err := Ask(ctx, socket)
		switch {
		case err == nil:
			all = append(all, i)
		case local.Gone(err):
			_ = os.Remove(socket)
		}
	}
	slices.SortFunc(all, func(a, b Info) int { return cmp.Or(strings.Compare(a.Server, b.Server), a.PID-b.PID) })
	return all
}

// request asks a session, or tells it to end.
func request(ctx context.Context, method, socket string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, askBound)
	defer cancel()
	return local.Request(ctx, method, socket, path, maxAnswer)
}
