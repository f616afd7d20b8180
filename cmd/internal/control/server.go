// Package control finds this user's running serve processes and queries their
// status. Each listens on a socket of its own in the file system, named after its
// process id, which no other user can reach, and speaks HTTP there: GET /status
// returns a JSON object, GET /healthz {"status":"ok"}, and POST /restart?server=NAME
// connects a server anew; it answers 404 where there is no such server.
//
// The sockets are in the directory run of the state directory. Where that path is
// too long for a socket's name they are in a directory for temporary files, whose
// name both sides compute from the state directory. On Windows they are named pipes, each
// with a file of its name.
package control

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/local"
)

// Server answers on this process's socket.
type Server struct {
	path   string
	http   *http.Server
	served chan error
	once   sync.Once
	err    error // result of Close
}

// Listen opens this process's socket below a state directory and removes those of
// dead processes. status returns the object for /status, and restart connects a server anew,
// or reports that there is none of that name. Both may be called concurrently.
func Listen(ctx context.Context, state string, status func() any, restart func(server string) (known bool, err error)) (*Server, error) {
	if state == "" {
		return nil, errors.New("the environment names no place for a socket")
	}
	dir := Dir(state)
	if err := Prepare(dir); err != nil {
		return nil, err
	}
	if left, err := sockets(dir); err == nil {
		for pid, path := range left {
			if pid == os.Getpid() || !alive(pid) { // an earlier process had our id
				_ = os.Remove(path)
			}
		}
	}
	s := &Server{path: socketOf(dir, os.Getpid()), served: make(chan error, 1)}
	quiet := slog.New(slog.DiscardHandler) // who is refused learns it
	l, err := local.Listen(ctx, s.path, quiet)
	if errors.Is(err, os.ErrNotExist) && Prepare(dir) == nil { // see removeEmpty
		l, err = local.Listen(ctx, s.path, quiet)
	}
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) { answer(w, status()) })
	mux.HandleFunc("POST /restart", func(w http.ResponseWriter, r *http.Request) {
		switch known, err := restart(r.URL.Query().Get("server")); {
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
		case !known:
			http.NotFound(w, r)
		default:
			answer(w, map[string]string{"status": "ok"})
		}
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, map[string]string{"status": "ok"}) })
	s.http = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 10 * time.Second, IdleTimeout: 10 * time.Second}
	go func() { s.served <- s.http.Serve(l) }()
	return s, nil
}

func answer(w http.ResponseWriter, object any) {
	b, err := json.Marshal(object)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(b, '\n')) // the client may be gone
}

// Path returns the path of the socket.
func (s *Server) Path() string { return s.path }

// Close removes the socket. Running answers get a second. It is idempotent.
func (s *Server) Close() error {
	s.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		s.err = s.http.Shutdown(ctx) // removes the socket with the listener
		if s.err != nil {
			s.err = s.http.Close()
		}
		if served := <-s.served; !errors.Is(served, http.ErrServerClosed) {
			s.err = errors.Join(s.err, served)
		}
		removeEmpty(filepath.Dir(s.path))
	})
	return s.err
}
