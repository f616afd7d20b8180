package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/failure"
	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/tlsfiles"
	"github.com/mcpctl/mcpctl/runtime/access"
	"github.com/mcpctl/mcpctl/runtime/access/door"
	"github.com/mcpctl/mcpctl/runtime/access/mtls"
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
	tokens  *tokenfile.Follower // nil where none are asked for
	files   *tlsfiles.Files     // nil without TLS
	issuers *issuers
}

// Who implements [proxy.Door]. A certificate that TLS has verified may have been revoked
// since, or its authority removed.
func (d *entrance) Who(ctx context.Context, c access.Credential) (*access.Principal, *access.Refusal) {
	if c.Certificate != nil {
		if no := d.files.Trust().Check(c.Chains, time.Now()); no != nil {
			return nil, no
		}
	}
	return d.Door.Who(ctx, c)
}

// newDoor returns the entrance of a serve, nil where nobody is asked for a credential.
// files are those of its TLS, nil for none; endpoint is the URL that it listens at.
func (g *gateway) newDoor(files *tlsfiles.Files, endpoint string) (*entrance, error) {
	if !g.o.asks {
		return nil, nil
	}
	d := &entrance{files: files}
	asked := g.h.Settings.Serve.Access.Providers
	var providers []door.Provider
	if asked.Token != nil {
		if err := d.openTokens(g); err != nil {
			return nil, err
		}
		providers = append(providers, d.tokens)
	}
	var err error
	if d.issuers, err = g.openIssuers(endpoint); err != nil {
		return nil, err
	}
	providers = append(providers, d.issuers.providers...)
	if asked.MTLS != nil {
		providers = append(providers, mtls.New(mtls.Options{From: asked.MTLS.From, Groups: asked.MTLS.Groups, Trust: files.Trust, Now: time.Now}))
	}
	d.Door = door.New(providers...)
	if d.issuers.resource != "" {
		d.Door = d.Advertise(metadataURL(d.issuers.resource), d.issuers.scopes)
	}
	return d, nil
}

// openTokens reads the file of tokens, and warns of what keeps them from being of use
// or from staying secret.
func (d *entrance) openTokens(g *gateway) error {
	dir := config.StateDir(g.h.Getenv)
	if dir == "" {
		return &failure.Error{Kind: "config", Err: errors.New("serve.auth: there is no directory to keep tokens in"), Remedy: "set HOME or MCPCTL_HOME"}
	}
	f := tokenfile.New(filepath.Join(dir, tokenfile.Name))
	switch all, err := f.List(); {
	case err != nil:
		g.h.UI.Say("warning: no token is accepted: %v", err)
	case len(all) == 0:
		g.h.UI.Say("warning: no token is accepted: there is none yet (mcpctl access token add NAME)")
	}
	if host, _, err := net.SplitHostPort(g.o.HTTP); err == nil && d.files == nil && !isLoopback(host) {
		g.h.UI.Say("warning: %s", sentInClear)
	}
	d.tokens = tokenfile.Follow(f)
	return nil
}

// changed takes over what has changed of tokens and certificates, and reports whether
// anything has.
func (d *entrance) changed(g *gateway) bool {
	changed := d.files != nil && d.files.Look()
	if d.tokens == nil || !d.tokens.Changed() {
		return changed
	}
	if err := d.tokens.Failure(); err != nil {
		g.h.Log.Warn("the tokens cannot be used: nobody is let in with one", "err", err)
	} else {
		g.h.Log.Info("tokens read")
	}
	return true
}

// follow takes over changes of what lets somebody in, and ends streams of those who are
// not let in any more, until ctx ends.
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
		if !d.changed(g) && time.Since(checked) < expiryCheck {
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

// openTLS reads the files of serve.tls; nil where HTTP is served without TLS.
func (g *gateway) openTLS() (*tlsfiles.Files, error) {
	if !g.usesTLS() {
		return nil, nil
	}
	files, err := tlsfiles.Open(g.h.Settings.Serve.Access.TLS, g.h.Log)
	if err != nil {
		return nil, &failure.Error{Kind: "config", Err: fmt.Errorf("serve.tls: %w", err), Remedy: "cert, key, clientCA and crl of serve.tls are files in PEM"}
	}
	return files, nil
}

// newServer returns what serves a handler: with TLS where there are files for it.
func (g *gateway) newServer(h http.Handler, files *tlsfiles.Files) server {
	srv := newServer(h)
	if files == nil {
		return proxy.NewHTTPServer(srv)
	}
	srv.TLSConfig = files.Config()
	srv.ErrorLog = slog.NewLogLogger(g.h.Log.Handler(), slog.LevelDebug) // of clients that do not complete a handshake
	return tlsServer{srv}
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
