package sessions

import (
	"cmp"
	"context"
	"encoding/json"
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
	askBound = 10 * time.Second
	// endBound is how long it may take to end.
	endBound = 15 * time.Second
	// maxAnswer bounds what it says, in bytes.
	maxAnswer = 1 << 20
)

// Ask returns what the session at a socket is. Where there is none the error is one for
// [local.Gone].
func Ask(ctx context.Context, socket string) (Info, error) {
	var i Info
	ctx, cancel := context.WithTimeout(ctx, askBound)
	defer cancel()
	raw, err := local.Request(ctx, http.MethodGet, socket, path, maxAnswer)
	if err == nil {
		err = json.Unmarshal(raw, &i)
	}
	i.Socket = socket
	return i, err
}

// Stop ends the session at a socket, and returns when its process has ended: the answer goes
// on until then.
func Stop(ctx context.Context, socket string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, endBound, errNotEnded)
	defer cancel()
	_, err := local.Request(ctx, http.MethodDelete, socket, path, maxAnswer)
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

var errNotEnded = fmt.Errorf("it has not ended within %v", endBound)

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
