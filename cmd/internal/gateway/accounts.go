package gateway

import (
	"fmt"
	"net/url"
	"os"
	"sync/atomic"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/authn"
	"github.com/mcpctl/mcpctl/internal/secret"
	"github.com/mcpctl/mcpctl/internal/tokenstore"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
	"github.com/mcpctl/mcpctl/runtime/proxy"
)

// accounts are the credentials of principals for servers. Nil are those of a gateway that
// asks nobody who they are.
type accounts struct {
	*Accounts
	principals    *dial.Principals // nil where there is no directory to keep them in
	authenticator atomic.Pointer[authn.Authenticator]
}

// openAccounts sets the accounts, where clients are asked who they are.
func (g *gateway) openAccounts() {
	if !g.o.asks {
		return
	}
	a := &accounts{}
	if dir := config.StateDir(g.h.Getenv); dir != "" {
		a.principals = &dial.Principals{Accounts: AccountFolder(dir, g.h.Settings.Tokens.Store), Exchanged: &tokenstore.Memory{}, Subject: a.subject}
	}
	a.Accounts = NewAccounts(AccountOptions{
		Entries:   func() map[string]config.Entry { return *g.entries.Load() },
		Auth:      &dial.Auth{Store: g.h.Tokens, Principals: a.principals},
		AllowHTTP: g.h.Settings.AllowInsecureHTTP, Lookup: os.LookupEnv, Ring: g.ring, Log: g.h.Log,
	})
	g.accounts = a
}

// subject returns the token that a principal has come with, the zero Text for none that
// could be exchanged.
func (a *accounts) subject(id string) secret.Text {
	if d := a.authenticator.Load(); d != nil {
		return d.Subject(id)
	}
	return secret.Text{}
}

// serveAt says where clients reach the gateway, and who lets them in.
func (a *accounts) serveAt(endpoint string, d *authenticator) error {
	if a == nil || d == nil {
		return nil
	}
	u, err := url.Parse(endpoint)
	if err != nil {
		return err
	}
	a.authenticator.Store(d.Authenticator)
	if hasPages(u) {
		a.ServeAt(u)
	}
	return nil
}

// use sets whose credentials a connection has. A server with credentials of each
// principal is not connected for nobody: it would be with those of this machine's user.
func (a *accounts) use(entry config.Entry, principal *access.Principal, o *dial.Options) error {
	o.Principal = principal
	switch {
	case a == nil || !entry.PerPrincipal():
		return nil
	case principal == nil:
		return fmt.Errorf("%s: its credentials are those of who calls", entry.Name)
	case a.principals == nil:
		return &ui.Error{Kind: "config", Err: fmt.Errorf("%s: there is no directory to keep accounts in", entry.Name), Remedy: "set HOME or MCPCTL_HOME"}
	}
	o.Auth.Principals = a.principals
	return nil
}

// login returns the account that a principal has to link after a failure of a server, nil
// where that is no answer to it.
func (a *accounts) login(principal *access.Principal, server string, failure error) (proxy.Login, error) {
	w, err := a.Want(principal.ID, server, failure)
	if err != nil || w == nil {
		return nil, err
	}
	return w, nil
}
