package router

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/authorize"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// Login is the login of a person to a server, under way.
type Login interface {
	// ID is what no other login has.
	ID() string
	// URL is the page on which the person logs in.
	URL() string
	// Principal is the ID of whose credentials come of it, "" for those of all.
	Principal() string
	// Wait returns when it has ended, with why it failed; or the error of ctx.
	Wait(ctx context.Context) error
}

// maxLogins bounds the logins for one request: one, and two for more scopes.
const maxLogins = 3

// after returns what a request comes to that has failed. Where its server wants a
// person to log in, the client is shown the page for that: in a question where it can be
// asked, after which the request is sent again, else in the error.
func (l *logins) after(ctx context.Context, err error, r *Request, send func() ([]byte, error)) ([]byte, error) {
	for range maxLogins {
		failed, ok := errors.AsType[*upstream.Error](err)
		if !ok || r.rt.o.Login == nil || ctx.Err() != nil || r.Method == revision.MethodComplete || r.Method == "initialize" { // nobody logs in to be completed, or can be asked yet
			return nil, err
		}
		if err := l.ask(ctx, r, failed); err != nil {
			return nil, err
		}
		var result []byte
		if result, err = send(); err == nil {
			return result, nil
		}
	}
	return nil, err
}

// ask has the client's person log in to the server that failed. It returns what the
// request ends with where they have not.
func (l *logins) ask(ctx context.Context, r *Request, failed *upstream.Error) error {
	b := r.rt.Set.Named(failed.Server)
	if b == nil {
		return failed
	}
	done, err := r.rt.Authorizer.MayDo(ctx, &authorize.Asked{Kind: audit.KindLink, From: r.From, Server: b.Name})
	if err != nil {
		return err
	}
	return done(l.show(ctx, r, b, failed))
}

// show is ask for what is allowed.
func (l *logins) show(ctx context.Context, r *Request, b *upstream.Backend, failed *upstream.Error) error {
	login, err := r.rt.o.Login(ctx, b.Name, r.From.Who, failed.Err)
	switch {
	case err != nil:
		return b.Fail(fmt.Errorf("%w; nobody can log in: %w", failed.Err, err))
	case login == nil:
		return failed
	}
	done := l.follow(b, login, r.From.Client)
	q := revision.Question{From: revision.Latest, To: r.From.Version, Method: revision.MethodElicitationCreate, Capabilities: r.From.Capabilities}
	params, undeclared := q.Params(pageOf(b.Name, login))
	if undeclared != nil || r.From.Ask == nil {
		return &loginError{failed, login}
	}
	answer, err := r.From.Ask(ctx, q.Method, params)
	if err == nil {
		answer, err = q.Reply(answer)
	}
	if err != nil {
		return err
	}
	if at, err := rawjson.Field(answer, "action"); err != nil || string(at.Of(answer)) != `"accept"` {
		return b.Fail(fmt.Errorf("%w: the login was declined", failed.Err))
	}
	if err := login.Wait(ctx); err != nil { // a client's cancel as well
		return b.Fail(err)
	}
	<-done
	return nil
}

// pageOf returns the params of the elicitation that shows a login's page.
func pageOf(server string, l Login) []byte {
	what := "log in"
	if l.Principal() != "" {
		what = "link your account with it"
	}
	return marshal(struct {
		Mode    string `json:"mode"`
		ID      string `json:"elicitationId"`
		URL     string `json:"url"`
		Message string `json:"message"`
	}{"url", l.ID(), l.URL(), server + " wants you to " + what})
}

// loginError is the failure of a server that wants a login, for a client that cannot
// be asked to open a page.
type loginError struct {
	failed *upstream.Error
	login  Login
}

// Error says where to log in.
func (e *loginError) Error() string {
	if e.login.Principal() != "" {
		return e.failed.Error() + ". Link your account at " + e.login.URL()
	}
	command := "mcpctl auth login " + e.failed.Server
	if strings.Contains(e.failed.Server, "://") { // in no configuration
		command = "mcpctl --url " + e.failed.Server + " auth login"
	}
	return e.failed.Error() + ". Log in at " + e.login.URL() + " or with: " + command
}

func (e *loginError) Unwrap() error { return e.failed }

// logins are those that clients have been shown the page of. The zero value is ready.
type logins struct {
	mu    sync.Mutex
	known map[string]*followed // by the login's ID
}

// followed is one of them.
type followed struct {
	clients map[*upstream.Client]bool // who have a session and are told when it has ended
	done    chan struct{}             // closed when the server can be used
}

// follow has a server connected again when a login to it has ended, and a client told,
// nil for one without a session. The channel is closed after that.
func (l *logins) follow(b *upstream.Backend, login Login, client *upstream.Client) (done <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.known[login.ID()]
	if f == nil {
		if l.known == nil {
			l.known = map[string]*followed{}
		}
		f = &followed{clients: map[*upstream.Client]bool{}, done: make(chan struct{})}
		l.known[login.ID()] = f
		b.Set.Work.Go(func() { l.await(b, login, f) }) // ends with the login, or the proxy
	}
	if client != nil {
		f.clients[client] = true
	}
	return f.done
}

func (l *logins) await(b *upstream.Backend, login Login, f *followed) {
	defer close(f.done)
	err := login.Wait(b.Set.Lifetime)
	l.mu.Lock()
	delete(l.known, login.ID())
	l.mu.Unlock()
	if err == nil {
		b.LoggedIn(login.Principal())
	}
	for client := range f.clients {
		if client.Revision() == revision.Latest { // no other has the message
			client.Tell(revision.NotificationElicitationComplete, rawjson.Wrap("elicitationId", rawjson.Quote(nil, login.ID())))
		}
	}
}
