package gateway

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/access/link"
	"github.com/mcpctl/mcpctl/internal/authconfig"
	"github.com/mcpctl/mcpctl/internal/seal"
	"github.com/mcpctl/mcpctl/internal/tokenstore"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/auth"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
)

// AccountOptions are what accounts need. All fields are required.
type AccountOptions struct {
	// Entries returns the served entries, by name. It may be called concurrently.
	Entries func() map[string]config.Entry
	// Auth obtains credentials; its Principals keep them.
	Auth *dial.Auth
	// AllowHTTP sends credentials over http also to servers whose entries do not say so.
	AllowHTTP bool
	Lookup    func(string) (string, bool)
	// Ring seals the links that lead to the pages.
	Ring *seal.Keyring
	Log  *slog.Logger
}

// Accounts links accounts of principals with servers. What a person does in a browser is
// package pages; tokens are obtained by package auth, and kept, encrypted, by package
// tokenstore. All methods may be called concurrently. It implements
// [link.Linker].
type Accounts struct {
	o        AccountOptions
	endpoint atomic.Pointer[url.URL]

	mu     sync.Mutex // guards what follows; held for memory work only
	begun  map[string]*begun
	wanted map[account]*Want
}

// account is that of one principal with one server.
type account struct{ principal, server string }

// begun is an account whose person is at the authorization server, by its state.
type begun struct {
	account
	linker  *auth.Linker
	linking *auth.Linking
	until   time.Time
}

const (
	// maxBegun bounds the accounts that are being linked, maxOwn those of one principal
	// with one server: then the oldest goes.
	maxBegun, maxOwn = 10000, 4
	// revokeTime bounds telling the issuers of an account that it is not linked any more.
	revokeTime = 15 * time.Second
)

// errBusy is that too many people link accounts.
var errBusy = errors.New("too many people link accounts at the moment: try again in some minutes")

// NewAccounts returns accounts.
func NewAccounts(o AccountOptions) *Accounts {
	return &Accounts{o: o, begun: map[string]*begun{}, wanted: map[account]*Want{}}
}

// AccountFolder returns where the accounts of principals are kept: below the directory of
// mcpctl's state. store is the setting auth.store.
func AccountFolder(stateDir, store string) *tokenstore.Folder {
	return &tokenstore.Folder{Dir: filepath.Join(stateDir, "accounts"), Keyring: store == "keyring"}
}

// ServeAt says where clients reach serve: the pages are below it. Without it nobody is
// sent to them.
func (a *Accounts) ServeAt(endpoint *url.URL) { a.endpoint.Store(endpoint) }

// entry returns the entry of a server that accounts are linked with. The error is
// [link.ErrUnknown].
func (a *Accounts) entry(server string) (config.Entry, error) {
	e, ok := a.o.Entries()[server]
	if !ok || !Links(e) {
		return config.Entry{}, link.ErrUnknown
	}
	return e, nil
}

// Links reports whether each principal links an account of their own with the server of
// an entry.
func Links(e config.Entry) bool {
	if e.Auth == nil || e.Fault != nil || e.Disabled {
		return false
	}
	c, err := authconfig.Parse(e.Auth) // placeholders unexpanded: what links has none
	return err == nil && c.Links()
}

// linker returns what links the account of a principal with a server.
func (a *Accounts) linker(principal, server string) (*auth.Linker, error) {
	e, err := a.entry(server)
	if err != nil {
		return nil, err
	}
	e.Headers = nil // they are for calls, and may say who calls
	e.AllowInsecureHTTP = e.AllowInsecureHTTP || a.o.AllowHTTP
	x, err := e.Expand(a.o.Lookup)
	if err != nil {
		return nil, err
	}
	redact := x.Redactor()
	z := a.o.Auth.AuthorizerFor(&access.Principal{ID: principal}, x, slog.New(redact.Handler(a.o.Log.Handler())), redact)
	if z == nil {
		return nil, link.ErrUnknown // its URL has a user
	}
	return auth.NewLinker(z), nil
}

// Describe implements [link.Linker].
func (a *Accounts) Describe(ctx context.Context, server string) (link.Description, error) {
	l, err := a.linker("", server)
	if err != nil {
		return link.Description{}, err
	}
	what, err := l.Account(ctx, "")
	if err != nil {
		return link.Description{}, fmt.Errorf("%s: %w", server, err)
	}
	return link.Description{Server: l.Host(), Issuer: what.Issuer, Scopes: what.Scopes}, nil
}

// Start implements [link.Linker].
func (a *Accounts) Start(ctx context.Context, principal, server, redirectURI string) (authorizeURL, state string, err error) {
	l, err := a.linker(principal, server)
	if err != nil {
		return "", "", err
	}
	of := account{principal, server}
	linking, err := l.Start(ctx, a.challenge(of), redirectURI)
	if err != nil {
		return "", "", fmt.Errorf("%s: %w", server, err)
	}
	if err := a.add(&begun{account: of, linker: l, linking: linking, until: time.Now().Add(link.TTL)}); err != nil {
		return "", "", err
	}
	return linking.Page, linking.State, nil
}

// add notes an account that is being linked.
func (a *Accounts) add(b *begun) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	oldest, own := "", 0
	for state, other := range a.begun {
		switch {
		case now.After(other.until):
			delete(a.begun, state)
		case other.account == b.account:
			own++
			if oldest == "" || other.until.Before(a.begun[oldest].until) {
				oldest = state
			}
		}
	}
	switch {
	case own >= maxOwn:
		delete(a.begun, oldest)
	case len(a.begun) >= maxBegun:
		return errBusy
	}
	a.begun[b.linking.State] = b
	return nil
}

// take returns what was begun under a state, once; false for what is another's.
func (a *Accounts) take(state string, of account) (*begun, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	b := a.begun[state]
	if b == nil || b.account != of || time.Now().After(b.until) {
		return nil, false
	}
	delete(a.begun, state)
	return b, true
}

// Finish implements [link.Linker].
func (a *Accounts) Finish(ctx context.Context, principal, server string, query url.Values) error {
	if len(query["state"]) != 1 {
		return link.ErrState
	}
	of := account{principal, server}
	b, ok := a.take(query.Get("state"), of)
	if !ok {
		return link.ErrState
	}
	if _, err := a.entry(server); err != nil {
		return err // it was removed meanwhile
	}
	if err := b.linker.Finish(ctx, b.linking, query); err != nil {
		a.o.Log.Info("no account is linked", "principal", principal, "server", server, "err", err)
		return fmt.Errorf("%s: %w", server, err)
	}
	a.o.Log.Info("account linked", "principal", principal, "server", server)
	a.linked(of)
	return nil
}

// tokens returns what a principal has linked with a server.
func (a *Accounts) tokens(principal, server string) (s *tokenstore.Store, resource string, all []tokenstore.Token, err error) {
	l, err := a.linker(principal, server)
	if err != nil {
		return nil, "", nil, err
	}
	s, resource = a.o.Auth.Principals.Accounts.Of(principal), l.Resource()
	all, err = s.Tokens(resource)
	return s, resource, all, err
}

// Linked implements [link.Linker].
func (a *Accounts) Linked(principal, server string) bool {
	_, _, all, err := a.tokens(principal, server)
	return err == nil && slices.ContainsFunc(all, func(t tokenstore.Token) bool { return t.Principal == principal })
}

// Linkable implements [link.Linker].
func (a *Accounts) Linkable() []string {
	var names []string
	for name, e := range a.o.Entries() {
		if Links(e) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Unlink implements [link.Linker].
func (a *Accounts) Unlink(ctx context.Context, principal, server string) error {
	s, resource, _, err := a.tokens(principal, server)
	if errors.Is(err, link.ErrUnknown) || s == nil {
		return err
	}
	gone, err := s.Remove(ctx, resource)
	if err != nil {
		return err
	}
	a.o.Log.Info("account unlinked", "principal", principal, "server", server)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), revokeTime)
	defer cancel()
	for _, t := range gone {
		if _, err := auth.Revoke(ctx, t); err != nil {
			a.o.Log.Warn("an account is unlinked here, and its token is not revoked", "principal", principal, "server", server, "err", err)
		}
	}
	return nil
}

// Want is an account that a principal has to link for a call. Its methods may be called
// concurrently.
type Want struct {
	of        account
	id, url   string
	challenge string // of the server, "" for none; guarded by Accounts.mu
	until     time.Time
	done      chan struct{} // closed when the account is linked
}

// Want returns the account that a principal has to link after a failure of a server, nil
// where that would be no answer to it.
func (a *Accounts) Want(principal, server string, failure error) (*Want, error) {
	endpoint := a.endpoint.Load()
	if _, err := a.entry(server); err != nil || endpoint == nil || !auth.Answers(failure) {
		return nil, nil // it is not for a person to mend
	}
	challenge := ""
	if refused, ok := errors.AsType[*runtime.AuthError](failure); ok && refused.Status != http.StatusOK {
		challenge = refused.Challenge
	}
	of, now := account{principal, server}, time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	if w := a.wanted[of]; w != nil && now.Before(w.until) {
		w.challenge = challenge
		return w, nil
	}
	for key, w := range a.wanted {
		if now.After(w.until) {
			delete(a.wanted, key)
		}
	}
	if len(a.wanted) >= maxBegun {
		return nil, errBusy
	}
	w := &Want{of: of, id: rand.Text(), challenge: challenge, until: now.Add(link.TTL), done: make(chan struct{})}
	w.url = link.Page(endpoint, server, link.Link{Server: server, Principal: principal, Expires: w.until}.Seal(a.o.Ring))
	a.wanted[of] = w
	return w, nil
}

// challenge returns how a server has refused a principal, "" for not.
func (a *Accounts) challenge(of account) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if w := a.wanted[of]; w != nil && time.Now().Before(w.until) {
		return w.challenge
	}
	return ""
}

// linked ends the waiting for an account.
func (a *Accounts) linked(of account) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if w := a.wanted[of]; w != nil {
		delete(a.wanted, of)
		close(w.done)
	}
}

// ID returns what no other has.
func (w *Want) ID() string { return w.id }

// URL returns the address of the page, for this principal alone.
func (w *Want) URL() string { return w.url }

// Principal returns whose account it is.
func (w *Want) Principal() string { return w.of.principal }

// Wait returns when the account is linked, or that it was not in time; or the error of
// ctx.
func (w *Want) Wait(ctx context.Context) error {
	deadline := time.NewTimer(time.Until(w.until))
	defer deadline.Stop()
	select {
	case <-w.done:
		return nil
	case <-deadline.C:
		return fmt.Errorf("no account was linked with %s within %v", w.of.server, link.TTL)
	case <-ctx.Done():
		return ctx.Err()
	}
}
