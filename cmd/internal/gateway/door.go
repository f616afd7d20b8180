package gateway

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/failure"
	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/runtime/access"
	"github.com/mcpctl/mcpctl/runtime/access/door"
	"github.com/mcpctl/mcpctl/runtime/access/tokenfile"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/proxy"
)

const (
	// tokensPoll is how often the file of tokens is looked at: a revoked one is refused
	// that long after at the latest.
	tokensPoll = 100 * time.Millisecond
	// expiryCheck is how often streams are looked at whose credential may have ended.
	expiryCheck = 5 * time.Second
)

// expeller is a front that ends streams.
type expeller interface {
	Expel(gone func(*access.Principal) bool)
}

// entrance lets in who has a credential.
type entrance struct {
	*door.Door
	tokens *tokenfile.Follower
}

// newDoor returns the entrance of a serve, nil where nobody is asked for a credential.
func (g *gateway) newDoor() (*entrance, error) {
	if !g.o.asks {
		return nil, nil
	}
	dir := config.StateDir(g.h.Getenv)
	if dir == "" {
		return nil, &failure.Error{Kind: "config", Err: errors.New("serve.auth: there is no directory to keep tokens in"), Remedy: "set HOME or MCPCTL_HOME"}
	}
	f := tokenfile.New(filepath.Join(dir, tokenfile.Name))
	switch all, err := f.List(); {
	case err != nil:
		g.h.UI.Say("warning: nobody is let in: %v", err)
	case len(all) == 0:
		g.h.UI.Say("warning: nobody is let in: there is no token yet (mcpctl access token add NAME)")
	}
	if host, _, err := net.SplitHostPort(g.o.HTTP); err == nil && !g.usesTLS() && !isLoopback(host) {
		g.h.UI.Say("warning: tokens are sent without TLS: set serve.tls in config.yaml, or put a proxy with TLS in front")
	}
	tokens := tokenfile.Follow(f)
	return &entrance{Door: door.New(tokens), tokens: tokens}, nil
}

// follow takes over changes of the tokens, and ends streams of those whose tokens have
// ended, until ctx ends.
func (d *entrance) follow(ctx context.Context, g *gateway, fronts ...expeller) {
	poll := time.NewTicker(tokensPoll)
	defer poll.Stop()
	checked := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-poll.C:
		}
		changed := d.tokens.Changed()
		if changed {
			if err := d.tokens.Failure(); err != nil {
				g.h.Log.Warn("the tokens cannot be used: nobody is let in", "err", err)
			} else {
				g.h.Log.Info("tokens read")
			}
		}
		if !changed && time.Since(checked) < expiryCheck {
			continue
		}
		checked = time.Now()
		for _, f := range fronts {
			f.Expel(func(p *access.Principal) bool { return !d.Valid(p) })
		}
	}
}

// server serves HTTP.
type server interface {
	Serve(l net.Listener) error
	Shutdown(ctx context.Context) error
	Close() error
}

// tlsServer serves HTTP over TLS.
type tlsServer struct{ *http.Server }

func (s tlsServer) Serve(l net.Listener) error { return s.ServeTLS(l, "", "") }

// newServer returns what serves a handler: with TLS where the settings say so.
func (g *gateway) newServer(h http.Handler) (server, error) {
	srv := newServer(h)
	a := g.h.Settings.Serve.Access
	if !g.usesTLS() {
		return proxy.NewHTTPServer(srv), nil
	}
	c := &certificate{cert: a.TLS.Cert, key: a.TLS.Key}
	if _, err := c.get(nil); err != nil {
		return nil, &failure.Error{Kind: "config", Err: fmt.Errorf("serve.tls: %w", err), Remedy: "serve.tls.cert and serve.tls.key name a certificate and its key, in PEM"}
	}
	srv.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.get}
	srv.ErrorLog = slog.NewLogLogger(g.h.Log.Handler(), slog.LevelDebug) // of clients that do not complete a handshake
	return tlsServer{srv}, nil
}

// asksFor reports whether clients of a serve are asked for a credential: over HTTP, and
// not on a socket, which the system lets this user alone reach.
func (o *Options) asksFor(a settings.Access) bool {
	return o.Command == "serve" && o.HTTP != "" && o.Socket == "" && o.Session == nil && a.Required()
}

// usesTLS reports whether HTTP is served over TLS.
func (g *gateway) usesTLS() bool {
	return g.o.Command == "serve" && g.o.Socket == "" && g.o.Session == nil && g.h.Settings.Serve.Access.TLS.Cert != ""
}

// certificate is that of files, which are followed.
type certificate struct {
	cert, key string

	mu     sync.Mutex // guards what follows, and is held while the files are read
	loaded *tls.Certificate
	seen   [2]time.Time // when the files were changed
}

// get returns the certificate as the files are; the one before as long as they cannot
// be used.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var now [2]time.Time
	for i, path := range []string{c.cert, c.key} {
		if info, err := os.Stat(path); err == nil {
			now[i] = info.ModTime()
		}
	}
	if c.loaded != nil && now == c.seen {
		return c.loaded, nil
	}
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		if c.loaded != nil {
			return c.loaded, nil
		}
		return nil, err
	}
	c.loaded, c.seen = &pair, now
	return c.loaded, nil
}
