package auth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/mcpctl/mcpctl/internal/authconfig"
	"github.com/mcpctl/mcpctl/internal/tokenstore"
)

// TerminalPrompter is a [Prompter] who reads and types on the terminal of this process. A Prompter
// that is none, such as the one of a server, is asked for no token and shown no code.
type TerminalPrompter interface {
	Prompter
	// Token returns the token that the person has typed, "" where nobody can be asked.
	Token(ctx context.Context, hint TokenHint) (string, error)
	// OtherDevice reports whether the person logs in with a code on another device:
	// where the authorization server offers that, or in no other way.
	OtherDevice() (offered, only bool)
	// ShowCode shows a code and the page to enter it on.
	ShowCode(ctx context.Context, code DeviceCode) error
}

// TokenHint is what helps a person to find a token.
type TokenHint struct {
	Server string // its host
	Why    error  // why there is no login in the browser
	// Service is the name of a known service, "" for none. Page says where its tokens
	// are made, Rights which rights they need.
	Service, Page, Rights string
	// Refused reports that the server has refused the token before.
	Refused bool
}

func hintFor(server *url.URL) TokenHint {
	h := TokenHint{Server: server.Host}
	if s, ok := serviceOf(server); ok {
		h.Service, h.Page, h.Rights = s.Name, s.Page, s.Rights
	}
	return h
}

// noOAuth is an error that says that OAuth cannot be used with a server: a token that is
// made by hand may.
type noOAuth struct{ error }

func (e noOAuth) Unwrap() error { return e.error }

// errToken is a token that the server refuses.
var errToken = errors.New("it refuses the token")

// demand is what a server asks for.
type demand struct {
	params map[string]string // of the challenge
	more   bool              // scopes than those of the token
	// refused is a token made by hand that the server has refused.
	refused bool
}

// obtain gets a token by the configured grant, or has a person type one where OAuth
// cannot be used. The caller holds asking.
func (a *Authorizer) obtain(ctx context.Context, d demand) error {
	err := a.byOAuth(ctx, d.params, d.more)
	grant := a.o.Config.Grant
	if _, ok := errors.AsType[noOAuth](err); !ok || grant != "" && grant != authconfig.GrantCode {
		return err
	}
	a.mu.Lock()
	person, ok := a.o.Prompter.(TerminalPrompter)
	a.mu.Unlock()
	if !ok {
		return err
	}
	hint := hintFor(a.o.Server)
	hint.Why, hint.Refused = err, d.refused
	for again := !d.refused; ; again = false {
		text, failed := person.Token(ctx, hint)
		if failed != nil {
			return failed
		}
		if text == "" {
			return err
		}
		if failed = a.take(ctx, text); !again || !errors.Is(failed, errToken) {
			return failed
		}
		hint.Refused = true
	}
}

// Take keeps a token that was made by hand, unless the server refuses it.
func (a *Authorizer) Take(ctx context.Context, text string) (tokenstore.Token, error) {
	if a.asking.Acquire(ctx, 1) != nil {
		return tokenstore.Token{}, context.Cause(ctx)
	}
	defer a.asking.Release(1)
	if a.insecure() {
		return tokenstore.Token{}, newError(a.o.Name, http.StatusUnauthorized, "", errInsecure)
	}
	if err := a.take(ctx, text); err != nil {
		return tokenstore.Token{}, newError(a.o.Name, http.StatusUnauthorized, "", err)
	}
	return a.token(), nil
}

func (a *Authorizer) take(ctx context.Context, text string) error {
	text, err := CheckToken(text)
	if err != nil {
		return err
	}
	if refuses(ctx, a.guard(ctx), a.o.Server, text) {
		return errToken
	}
	a.keep(ctx, tokenstore.Token{
		Server: Canonical(a.o.Server), Access: text, Source: tokenstore.SourceManual, Obtained: time.Now().UTC().Truncate(time.Second),
	})
	return nil
}

// refuses reports whether the server answers 401 to a token. A server that does not
// answer has not refused it.
func refuses(ctx context.Context, g *guard, server *url.URL, token string) bool {
	req, err := newPing(ctx, server)
	if err != nil {
		return false
	}
	req.Header.Set("Authorization", "Bearer "+token)
	status, _, _, err := g.do(req)
	return err == nil && status == http.StatusUnauthorized
}

// newPing returns a request that needs no session and leaves none behind.
func newPing(ctx context.Context, server *url.URL) (*http.Request, error) {
	body := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.String(), body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	return req, nil
}

// CheckToken returns a token without the space around it, and an error where it is no
// token: it has to be one word that a header can hold.
func CheckToken(text string) (string, error) {
	text = strings.TrimSpace(text)
	bad := func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsGraphic(r) || r == ' ' }
	switch {
	case text == "":
		return "", errors.New("the token is empty")
	case strings.ContainsFunc(text, bad):
		return "", errors.New("that is not a token: want one word, without a scheme such as Bearer")
	}
	return text, nil
}

// discard forgets a token that the server has refused.
func (a *Authorizer) discard(ctx context.Context, t tokenstore.Token) {
	if err := a.o.Store.Drop(ctx, t); err != nil {
		a.o.Store.Warn(a.o.Logger, "a token that has ended is not removed", err)
	}
	a.use(tokenstore.Token{})
}
