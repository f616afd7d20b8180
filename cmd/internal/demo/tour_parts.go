package demo

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/registry/registrytest"
)

// parts are what the tour's commands talk to, on loopback ports of this
// process: a registry, and an MCP server that one of its records points at.
type parts struct {
	registry string // base URL
	// key is what the workshop's record asks for; new for each tour.
	key     string
	servers []*http.Server
}

// startParts starts both.
func startParts(ctx context.Context, o TourOptions) (*parts, error) {
	p := &parts{key: "demo-" + strings.ToLower(rand.Text()[:8])}
	mux := http.NewServeMux()
	mux.Handle("/mcp", p.locked(NewServer(o.Version).Handler()))
	workshop, err := p.listen(ctx, mux)
	if err != nil {
		return nil, err
	}
	records := o.Records
	if records == nil {
		if records, err = registrytest.Records(); err != nil {
			return nil, errors.Join(err, p.close())
		}
	}
	registry, err := registrytest.NewServer(records, registrytest.Options{
		RemoteURLs: map[string]string{registrytest.Workshop: workshop + "/mcp"},
	})
	if err == nil {
		p.registry, err = p.listen(ctx, registry)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("demo: start the registry: %w", err), p.close())
	}
	return p, nil
}

// listen serves h on a free loopback port and returns its URL.
func (p *parts) listen(ctx context.Context, h http.Handler) (string, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("demo: %w", err)
	}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	p.servers = append(p.servers, srv)
	go func() { _ = srv.Serve(l) }() // ends with close
	return "http://" + l.Addr().String(), nil
}

// locked lets only those in who have the key.
func (p *parts) locked(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+p.key)) == 1 {
			h.ServeHTTP(w, r)
			return
		}
		w.Header().Set("WWW-Authenticate", "Bearer")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_ = json.NewEncoder(w).Encode(map[string]string{"error": "the key does not fit"}) // a client that has gone needs no answer
	})
}

// close ends the servers and their connections.
func (p *parts) close() error {
	var errs []error
	for _, s := range p.servers {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}
