package control

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/local"
)

const (
	// askBound is how long a process may take to answer; it needs milliseconds.
	askBound = 10 * time.Second
	// restartBound is how long a process may take to connect a server anew: it reads what is
	// stored of the server, and does not wait until it has started.
	restartBound = 10 * time.Second
	// maxAnswer bounds an answer, in bytes.
	maxAnswer = 16 << 20
)

// Found is a process that serves.
type Found struct {
	PID int
	// Status is the JSON object that it returned; nil with Err.
	Status json.RawMessage
	// Err is why it returned none.
	Err error
}

// Find asks all serve processes for their status concurrently and returns them
// sorted by process id. It removes sockets of dead processes. An error is one of the
// directory.
func Find(ctx context.Context, state string) ([]Found, error) {
	return find(ctx, state, func(pid int, path string) *Found {
		status, err := ask(ctx, path)
		switch {
		case err != nil && !alive(pid):
			_ = os.Remove(path)
			return nil
		case local.Gone(err): // another process has its id by now
			return nil
		}
		return &Found{pid, status, err}
	})
}

// PIDs returns the live serve processes without asking them.
func PIDs(ctx context.Context, state string) []int {
	all, err := find(ctx, state, func(pid int, _ string) *Found {
		if !alive(pid) {
			return nil
		}
		return &Found{PID: pid}
	})
	if err != nil {
		return nil
	}
	out := make([]int, len(all))
	for i, f := range all {
		out[i] = f.PID
	}
	return out
}

func find(ctx context.Context, state string, look func(pid int, path string) *Found) ([]Found, error) {
	if state == "" {
		return nil, errors.New("the environment names no state directory")
	}
	all, err := sockets(Dir(state))
	if err != nil {
		return nil, err
	}
	var (
		mu  sync.Mutex // guards out
		out []Found
		wg  sync.WaitGroup
	)
	for pid, path := range all {
		wg.Go(func() {
			if f := look(pid, path); f != nil {
				mu.Lock()
				defer mu.Unlock()
				out = append(out, *f)
			}
		})
	}
	wg.Wait()
	slices.SortFunc(out, func(a, b Found) int { return a.PID - b.PID })
	return out, ctx.Err()
}

// Restart has the serve process with an id connect a server anew.
func Restart(ctx context.Context, state string, pid int, server string) error {
	ctx, cancel := context.WithTimeout(ctx, restartBound)
	defer cancel()
	_, err := local.Request(ctx, http.MethodPost, socketOf(Dir(state), pid), "/restart?server="+url.QueryEscape(server), maxAnswer)
	return err
}

// ask gets /status from a socket.
func ask(ctx context.Context, path string) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, askBound)
	defer cancel()
	b, err := local.Request(ctx, http.MethodGet, path, "/status", maxAnswer)
	switch {
	case err != nil:
		return nil, err
	case !json.Valid(b):
		return nil, errors.New("its answer is not JSON")
	}
	return b, nil
}
