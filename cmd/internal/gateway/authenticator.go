package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/authn"
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

// expeller is an endpoint that ends streams.
type expeller interface {
	Expel(gone func(*access.Principal) bool)
}

// authenticator lets in who has a credential.
type authenticator struct {
	*authn.Authenticator
	tokens    *authn.TokenFollower // nil where those of the file do not count
	known     []access.Token       // those of the file when it was last read, for the audit log
	files     *TLSFiles            // nil without TLS
	file      *authn.TokenFile     // of tokens
	forwarded *authn.Forwarded     // nil without a proxy
	book      *VisitorBook
	log       *slog.Logger
	kinds     []string // of the providers
	issuers   *issuers
}

// Who implements [proxy.Authenticator]. A certificate that TLS has verified may have been revoked
// since, or its authority removed.
func (d *authenticator) Who(ctx context.Context, c access.Credential) (*access.Principal, *access.Refusal) {
	if c.Certificate != nil {
		if refusal := d.files.Trust().Check(c.Chains, time.Now()); refusal != nil {
			return nil, refusal
		}
	}
	principal, refusal := d.Authenticator.Who(ctx, c)
	if refusal != nil {
		return nil, refusal
	}
	if d.book.Came(principal) {
		d.log.Info("principal has come", "principal", principal.ID, "provider", principal.Provider, "groups", principal.Groups)
	}
	if d.log.Enabled(ctx, slog.LevelDebug) {
		d.log.Debug("request is let in", "principal", principal.ID, "peer", c.Peer)
	}
	return principal, nil
}

// refused returns what is called with each request that is not let in.
func (d *authenticator) refused(logger *slog.Logger) func(*http.Request, *access.Refusal) {
	return func(r *http.Request, refusal *access.Refusal) {
		d.book.Refused(cmp.Or(refusal.Reason, refusal.Description))
		logger.Debug("request is not let in", "status", refusal.Status, "reason", refusal.Reason, "peer", r.RemoteAddr, "method", r.Method, "path", pathOf(r))
	}
}

// status returns who has come and who was refused.
func (d *authenticator) status() *AccessStatus {
	s := &AccessStatus{Providers: d.kinds, Refused: d.book.Refusals()}
	s.Recent, s.Principals = d.book.Visitors()
	if d.forwarded != nil {
		s.IgnoredHeaders = d.forwarded.Ignored()
	}
	var problems []string
	if d.files != nil && d.files.Problem() != "" {
		problems = append(problems, "serve.tls: "+d.files.Problem())
	}
	if d.tokens != nil && d.tokens.Failure() != nil {
		problems = append(problems, d.tokens.Failure().Error())
	}
	problems = append(problems, d.issuers.problems()...)
	s.Problem = strings.Join(problems, "; ")
	return s
}

// newAuthenticator returns the entrance of a serve, nil where nobody is asked for a credential.
// files are those of its TLS, nil for none; endpoint is the URL that it listens at.
func (g *gateway) newAuthenticator(files *TLSFiles, endpoint string) (*authenticator, error) {
	if !g.o.asks {
		return nil, nil
	}
	d := &authenticator{files: files, book: NewVisitorBook(), log: g.h.Log}
	asked := g.h.Settings.Serve.Access.Providers
	var providers []authn.Provider
	var err error
	if d.issuers, err = g.openIssuers(endpoint); err != nil {
		return nil, err
	}
	if asked.Proxy != nil { // first: beside what a proxy says, there is no other credential
		if err := d.openForwarded(g, asked.Proxy); err != nil {
			return nil, err
		}
		providers = append(providers, d.forwarded)
	}
	if asked.Token != nil {
		tokens, err := d.openTokens(g, asked.Token.List)
		if err != nil {
			return nil, err
		}
		providers = append(providers, tokens)
	}
	providers = append(providers, d.issuers.providers...)
	if asked.MTLS != nil {
		providers = append(providers, authn.NewMTLS(authn.MTLSOptions{From: asked.MTLS.From, Groups: asked.MTLS.Groups, Trust: files.Trust, Now: time.Now}))
	}
	bearers := asked.Token != nil || len(d.issuers.providers) > 0
	if host, _, err := net.SplitHostPort(g.o.HTTP); err == nil && bearers && files == nil && d.forwarded == nil && !IsLoopback(host) {
		g.h.UI.Say("warning: %s", sentInClear)
	}
	for _, p := range providers {
		d.kinds = append(d.kinds, p.Kind())
	}
	d.Authenticator = authn.NewAuthenticator(providers...)
	if d.issuers.resource != "" {
		d.Authenticator = d.Advertise(metadataURL(d.issuers.resource), d.issuers.scopes)
	}
	return d, nil
}

// openTokens returns the provider of static tokens: those of a list, or those of the file
// where there is none. It warns of what keeps them from being of use.
func (d *authenticator) openTokens(g *gateway, list []access.Token) (authn.Provider, error) {
	if list != nil {
		tokens, err := access.NewTokens(list)
		return listed{tokens}, err
	}
	dir := config.StateDir(g.h.Getenv)
	if dir == "" {
		return nil, &ui.Error{Kind: "config", Err: errors.New("serve.auth: there is no directory to keep tokens in"), Remedy: "set HOME or MCPCTL_HOME"}
	}
	f := authn.NewTokenFile(filepath.Join(dir, authn.TokenFileName))
	switch all, err := f.List(); {
	case err != nil:
		g.h.UI.Say("warning: no token is accepted: %v", err)
	case len(all) == 0:
		g.h.UI.Say("warning: no token is accepted: there is none yet (mcpctl access token add NAME)")
	}
	d.tokens, d.file = f.FollowTokens(), f
	d.known, _ = f.List() // said above
	return d.tokens, nil
}

// changed takes over what has changed of tokens and certificates, and reports whether
// anything has.
func (d *authenticator) changed(g *gateway) bool {
	changed := d.files != nil && d.files.Look()
	if d.tokens == nil || !d.tokens.Changed() {
		return changed
	}
	if err := d.tokens.Failure(); err != nil {
		g.h.Log.Warn("the tokens cannot be used: nobody is let in with one", "err", err)
	} else {
		g.h.Log.Info("tokens read")
		g.recordTokens(d)
	}
	return true
}

// pathOf returns the path of a request for the log, "other" for one that serve does not
// have: a client that is set up wrongly may have put its token there.
func pathOf(r *http.Request) string {
	switch r.URL.Path {
	case "/mcp", "/sse", "/messages", "/":
		return r.URL.Path
	}
	return "other"
}

// follow takes over changes of what lets somebody in, and ends streams of those who are
// not let in any more, until ctx ends.
func (d *authenticator) follow(ctx context.Context, g *gateway, handlers ...expeller) {
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
		for _, f := range handlers {
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
func (g *gateway) openTLS() (*TLSFiles, error) {
	if !g.usesTLS() {
		return nil, nil
	}
	files, err := OpenTLSFiles(g.h.Settings.Serve.Access.TLS, g.h.Log)
	if err != nil {
		return nil, &ui.Error{Kind: "config", Err: fmt.Errorf("serve.tls: %w", err), Remedy: "cert, key, clientCA and crl of serve.tls are files in PEM"}
	}
	return files, nil
}

// newServer returns what serves a handler: with TLS where there are files for it.
func (g *gateway) newServer(h http.Handler, files *TLSFiles) server {
	srv := newServer(h)
	if files == nil {
		return proxy.NewHTTPServer(srv)
	}
	srv.TLSConfig = files.Config()
	srv.ErrorLog = slog.NewLogLogger(g.h.Log.Handler(), slog.LevelDebug) // of clients that do not complete a handshake
	return tlsServer{srv}
}

// asksFor reports whether clients of a serve are asked for a credential: over HTTP. On a
// socket, which the system lets this user alone reach, they are if the settings say that
// a proxy connects to it.
func (o *Options) asksFor(a settings.Access) bool {
	if o.Command != "serve" || o.Session != nil || !a.Required() {
		return false
	}
	if o.Socket != "" {
		return a.Providers.Proxy != nil && a.Providers.Proxy.Unix
	}
	return o.HTTP != ""
}

// usesTLS reports whether HTTP is served over TLS.
func (g *gateway) usesTLS() bool {
	return g.o.Command == "serve" && g.o.Socket == "" && g.o.Session == nil && g.h.Settings.Serve.Access.TLS.Cert != ""
}
