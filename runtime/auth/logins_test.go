package auth_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/authconfig"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/auth"
)

// refusal is what a server says that wants a login.
var refusal = &runtime.AuthError{Status: 401}

// elsewhere is a browser that is not the command's own.
type elsewhere struct {
	*http.Client
	t *testing.T
}

func newElsewhere(t *testing.T) elsewhere {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	own := &http.Transport{} // a connection of another test may be to a listener that had this port before
	t.Cleanup(own.CloseIdleConnections)
	return elsewhere{&http.Client{Jar: jar, Transport: own}, t}
}

// visit requests a page and returns what it shows.
func (b elsewhere) visit(method, page string) (*http.Response, string) {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), method, page, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.do(req)
}

func (b elsewhere) do(req *http.Request) (*http.Response, string) {
	b.t.Helper()
	resp, err := b.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return resp, string(body)
}

// begin has a login begin to the world's server.
func (w *world) begin(l *auth.Logins, path string, cause error) (*auth.Login, error) {
	return l.Start(w.t.Context(), "s", cause, func() *auth.Authorizer {
		z, _ := w.client(path, authconfig.Config{CallbackPort: -1}, nil)
		return z
	})
}

// TestLoginElsewhere: the page names the server and who authorizes, the login goes on
// in the browser that has agreed alone, and connections without a token get the new
// one.
func TestLoginElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	path := tokenFile(t)
	logins := auth.NewLogins()
	t.Cleanup(logins.Close)
	_, do := w.client(path, authconfig.Config{}, nil) // a connection that is there already
	if got := do(t); !strings.Contains(got, "wants a person") {
		t.Fatalf("got %s", got)
	}
	login, err := w.begin(logins, path, refusal)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := w.begin(logins, path, refusal); err != nil || again.URL() != login.URL() || again.ID() != login.ID() {
		t.Errorf("a second client gets another login: %v", err)
	}
	me, other := newElsewhere(t), newElsewhere(t)
	me.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if r.URL.Path == "/callback" {
			return http.ErrUseLastResponse
		}
		return nil
	}
	server, _ := url.Parse(w.URL)
	if resp, body := me.visit(http.MethodGet, login.URL()); resp.StatusCode != 200 || !strings.Contains(body, server.Host) || !strings.Contains(body, w.issuer()) {
		t.Errorf("the page: %s %s", resp.Status, body)
	}
	resp, _ := me.visit(http.MethodPost, login.URL())
	back := resp.Header.Get("Location")
	if resp, body := other.visit(http.MethodPost, login.URL()); resp.StatusCode != 403 {
		t.Errorf("another browser goes on: %s %s", resp.Status, body)
	}
	if resp, body := other.visit(http.MethodGet, back); resp.StatusCode != 400 || !strings.Contains(body, "the browser in which the login began") {
		t.Errorf("another browser brings the answer: %s %s", resp.Status, body)
	}
	page, err := url.Parse(login.URL())
	if err != nil {
		t.Fatal(err)
	}
	rebound := &http.Request{Method: http.MethodGet, URL: page, Host: "evil.example:" + page.Port()}
	if resp, _ := other.do(rebound.WithContext(t.Context())); resp.StatusCode != 404 {
		t.Errorf("by another name: %s", resp.Status)
	}
	if resp, _ := other.visit(http.MethodGet, login.URL()[:len(login.URL())-1]); resp.StatusCode != 404 {
		t.Errorf("another path: %s", resp.Status)
	}
	if resp, body := me.visit(http.MethodGet, back); resp.StatusCode != 200 || !strings.Contains(body, "go back to your client") {
		t.Errorf("the answer: %s %s", resp.Status, body)
	}
	if err := login.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := do(t); got != "called" || w.registered.Load() != 1 || len(w.asked) != 1 {
		t.Errorf("got %s after %d registrations and %d questions", got, w.registered.Load(), len(w.asked))
	}
}

// TestLoginElsewhereFails: what is wrong is said at once where it is known, and at the
// end of the login where it comes up there; the next one starts again.
func TestLoginElsewhereFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { w.denies = true })
	path := tokenFile(t)
	logins := auth.NewLogins()
	first, err := w.begin(logins, path, refusal)
	if err != nil {
		t.Fatal(err)
	}
	if _, body := newElsewhere(t).visit(http.MethodPost, first.URL()); !strings.Contains(body, "&lt;b&gt;no&lt;/b&gt;") {
		t.Errorf("got %s", body)
	}
	if err := first.Wait(t.Context()); err == nil || !strings.Contains(err.Error(), "access_denied") {
		t.Errorf("got %v", err)
	}
	second, err := w.begin(logins, path, refusal)
	if err != nil || second.ID() == first.ID() {
		t.Errorf("%v, the same login: %v", err, second)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := second.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	logins.Close()
	if err := second.Wait(t.Context()); err == nil {
		t.Error("a login outlives Close")
	}
	if _, err := w.begin(logins, path, refusal); err == nil {
		t.Error("one begins after Close")
	}

	bad := newWorld(t, func(w *world) { w.noPKCE = true })
	logins = auth.NewLogins()
	t.Cleanup(logins.Close)
	if _, err := bad.begin(logins, path, refusal); err == nil || !strings.Contains(err.Error(), "PKCE") {
		t.Errorf("got %v", err)
	}
	for name, c := range map[string]authconfig.Config{"own": {}, "machine": {Grant: authconfig.GrantClientCredentials, ClientID: "me"}, "command": {Command: []string{"true"}}} {
		login, err := logins.Start(t.Context(), name, refusal, func() *auth.Authorizer {
			if name == "own" {
				return nil
			}
			z, _ := bad.client(path, c, nil)
			return z
		})
		if login != nil || err != nil {
			t.Errorf("%s: nobody's login begins: %v", name, err)
		}
	}
}

// TestLoginElsewhereForMore: a server that asks for other scopes has them asked for
// beside those that there are, a few times.
func TestLoginElsewhereForMore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	path := tokenFile(t)
	logins := auth.NewLogins()
	t.Cleanup(logins.Close)
	more := &runtime.AuthError{Status: 403, Challenge: `Bearer error="insufficient_scope", scope="write"`}
	var err error
	for range 6 {
		var login *auth.Login
		if login, err = w.begin(logins, path, more); err != nil {
			break
		}
		newElsewhere(t).visit(http.MethodPost, login.URL())
		if err := login.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err == nil || !strings.Contains(err.Error(), "again and again") || len(w.asked) != 3 {
		t.Errorf("%d logins, then %v", len(w.asked), err)
	}
}

// TestAnswers: which failures a login can answer.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for want, errs := range map[bool][]error{
		true: {refusal, &runtime.AuthError{Status: 403, Challenge: `Bearer error="insufficient_scope", scope="x"`}},
		false: {
			&runtime.AuthError{Status: 403}, errors.New("no"), nil,
			&auth.Error{AuthError: *refusal, Err: errors.New("its metadata is broken")},
		},
	} {
		for _, err := range errs {
			if got := auth.Answers(err); got != want {
				t.Errorf("%v: got %v", err, got)
			}
		}
	}
}
