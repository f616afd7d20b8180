//go:build integration

package login_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

// brief is the lifetime of tokens that a test sees the end of.
const brief = 2

func outlive() { time.Sleep(brief*time.Second + 100*time.Millisecond) }

// stored returns the tokens that are kept.
func (u *user) stored(t *testing.T) []struct{ AccessToken, RefreshToken string } {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(u.home, "auth.json"))
	require.NoError(t, err)
	var file struct {
		Tokens []struct{ AccessToken, RefreshToken string }
	}
	require.NoError(t, json.Unmarshal(raw, &file))
	return file.Tokens
}

// age has the tokens that are kept end a minute ago.
func (u *user) age(t *testing.T) {
	t.Helper()
	path := filepath.Join(u.home, "auth.json")
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	ended := regexp.MustCompile(`("expiresAt": *)"[^"]*"`).ReplaceAll(raw, []byte(`${1}"`+time.Now().Add(-time.Minute).Format(time.RFC3339)+`"`))
	if bytes.Equal(raw, ended) {
		t.Fatalf("the tokens do not end:\n%s", raw)
	}
	require.NoError(t, os.WriteFile(path, ended, 0o600))
}

// TestLogin: the first call logs in, or auth login does, and the calls after it do not.
func TestLogin(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]settings{"opaque": {}, "jwt": {JWT: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPair(t, of)
			u := newUser(t, notes(p.Server, nil))
			if o := u.run(t, nobody, "call", "notes", "whoami"); o.code != 4 || !strings.Contains(o.stderr, "hint: mcpctl auth login notes") {
				t.Errorf("without a person: exit %d\n%s", o.code, o.stderr)
			}
			u.calls(t, approve)
			if got := u.browserSaid(); got != "mcpctl is authorised" {
				t.Errorf("the browser ends at %q", got)
			}
			u.calls(t, nobody)
			if got := u.ok(t, approve, "auth", "login", "notes", "-o", "text"); !strings.HasPrefix(got, "logged in to notes, until ") {
				t.Errorf("got %q", got)
			}
			u.calls(t, nobody)
			if s := p.seen(t); s.Registrations != 1 || s.Grants["authorization_code"] != 2 || s.Grants["refresh_token"] != 0 {
				t.Errorf("the authorization server has seen %+v", s)
			}
			if got := u.ok(t, nobody, "auth", "status", "--json"); !strings.Contains(got, `"issuer":"`+p.Issuer+`"`) || !strings.Contains(got, `"refreshAt"`) {
				t.Errorf("got %s", got)
			}
			token := strings.TrimSpace(u.ok(t, nobody, "auth", "token", "notes"))
			if isJWT := strings.Count(token, ".") == 2; isJWT != of.JWT || !p.takes(t, token) {
				t.Errorf("the token is not as it should be: JWT %v", isJWT)
			}
		})
	}
}

// TestDenied: who does not consent is told so, in the browser and in the terminal.
func TestDenied(t *testing.T) {
	t.Parallel()
	p := newPair(t, settings{})
	u := newUser(t, notes(p.Server, nil))
	o := u.run(t, deny, "auth", "login", "notes")
	if o.code != 4 || o.stdout != "" || !strings.Contains(o.stderr, "access_denied: End-User aborted interaction") {
		t.Errorf("exit %d: %s\n%s", o.code, o.stdout, o.stderr)
	}
	if got := u.browserSaid(); got != "mcpctl is not authorised" {
		t.Errorf("the browser ends at %q", got)
	}
	if got := u.ok(t, nobody, "auth", "status", "-o", "text"); !strings.HasPrefix(got, "no tokens are kept") {
		t.Errorf("got %q", got)
	}
}

// TestEnded: a token that has ended is refreshed, and nobody logs in.
func TestEnded(t *testing.T) {
	t.Parallel()
	p := newPair(t, settings{Lifetime: brief})
	u := newUser(t, notes(p.Server, nil))
	u.calls(t, approve)
	old := u.stored(t)[0]
	outlive()
	if p.active(t, old.AccessToken) || !p.active(t, old.RefreshToken) {
		t.Fatal("the token has not ended, or the refresh token has")
	}
	u.calls(t, nobody)
	if now := u.stored(t)[0]; now.RefreshToken == old.RefreshToken || now.AccessToken == old.AccessToken {
		t.Error("the tokens are those of before")
	}
}

// TestRefresh: of many that find the token ended, one refreshes it. A refresh token that
// is used twice ends all of them at this authorization server.
func TestRefresh(t *testing.T) {
	t.Parallel()
	p := newPair(t, settings{})
	u := newUser(t, notes(p.Server, nil))
	u.calls(t, approve)
	for round := 1; round <= 2; round++ {
		u.age(t)
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() { u.calls(t, nobody) })
		}
		all.Wait()
		if s := p.seen(t); s.Grants["refresh_token"] != round || s.Grants["authorization_code"] != 1 {
			t.Errorf("round %d: the authorization server has seen %+v", round, s)
		}
	}
}

// TestLogout: the authorization server takes neither token any more.
func TestLogout(t *testing.T) {
	t.Parallel()
	p := newPair(t, settings{})
	u := newUser(t, notes(p.Server, nil))
	u.calls(t, approve)
	old := u.stored(t)[0]
	if !p.active(t, old.AccessToken) || !p.active(t, old.RefreshToken) || !p.takes(t, old.AccessToken) {
		t.Fatal("the tokens cannot be used")
	}
	if got := u.ok(t, nobody, "auth", "logout", "notes"); got != "logged out of notes\n" {
		t.Errorf("got %q", got)
	}
	if access, refresh := p.active(t, old.AccessToken), p.active(t, old.RefreshToken); access || refresh || p.takes(t, old.AccessToken) {
		t.Errorf("a token can still be used: access %v, refresh %v", access, refresh)
	}
	if o := u.run(t, nobody, "call", "notes", "whoami"); o.code != 4 || !strings.Contains(o.stderr, "hint: mcpctl auth login notes") {
		t.Errorf("exit %d\n%s", o.code, o.stderr)
	}
	u.calls(t, approve)
	if s := p.seen(t); s.Registrations != 1 {
		t.Errorf("%d registrations: the first holds on", s.Registrations)
	}
}

// TestForgotten: an authorization server that has forgotten the client and its tokens is
// registered with again.
func TestForgotten(t *testing.T) {
	t.Parallel()
	for name, words := range map[string][]string{"login": {"auth", "login", "notes"}, "call": {"call", "notes", "whoami"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPair(t, settings{})
			u := newUser(t, notes(p.Server, nil))
			u.calls(t, approve)
			p.forget(t)
			if o := u.run(t, nobody, "call", "notes", "whoami"); o.code != 4 || !strings.Contains(o.stderr, "invalid_client") {
				t.Errorf("without a person: exit %d\n%s", o.code, o.stderr)
			}
			u.ok(t, approve, words...)
			u.calls(t, nobody)
			if s := p.seen(t); s.Registrations != 2 {
				t.Errorf("%d registrations, want a second", s.Registrations)
			}
		})
	}
}

// TestBound: tokens that are bound to a key, where the entry or the server wants that,
// with nonces and without.
func TestBound(t *testing.T) {
	t.Parallel()
	asked := map[string]any{"dpop": true}
	for name, c := range map[string]struct {
		of   settings
		auth map[string]any
	}{
		"entry":          {settings{Lifetime: brief}, asked},
		"entry, nonces":  {settings{Nonce: true}, asked},
		"server":         {settings{DPoP: true, JWT: true}, nil},
		"server, nonces": {settings{DPoP: true, Nonce: true, Lifetime: brief}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPair(t, c.of)
			u := newUser(t, notes(p.Server, c.auth))
			u.ok(t, approve, "auth", "login", "notes")
			u.calls(t, nobody)
			token := strings.TrimSpace(u.ok(t, nobody, "auth", "token", "notes"))
			if p.takes(t, token) {
				t.Error("the token is taken without a proof")
			}
			if o := u.run(t, nobody, "auth", "token", "notes", "--header"); o.code != 2 || strings.Contains(o.stderr, token) {
				t.Errorf("exit %d\n%s", o.code, o.stderr)
			}
			if c.of.Lifetime == 0 {
				return
			}
			outlive()
			u.calls(t, nobody)
			if s := p.seen(t); s.Grants["refresh_token"] == 0 || s.Grants["authorization_code"] != 1 {
				t.Errorf("the authorization server has seen %+v", s)
			}
		})
	}
}

// TestDevice: a code that mcpctl shows is entered in a browser elsewhere.
func TestDevice(t *testing.T) {
	t.Parallel()
	p := newPair(t, settings{Lifetime: brief})
	u := newUser(t, notes(p.Server, nil))
	login, err := wire.Launch(u.command(context.WithoutCancel(t.Context()), t, nobody, "auth", "login", "notes", "--device"), "  ")
	require.NoError(t, err)
	t.Cleanup(func() { login.Stop(wire.Limit) })
	code := regexp.MustCompile(`enter the code (\S+):`).FindStringSubmatch(login.Stderr.String())
	if code == nil {
		t.Fatalf("there is no code in %s", login.Stderr)
	}
	title, err := browse(login.URL+"?user_code="+code[1], approve)
	if err != nil {
		t.Errorf("the browser ends at %q: %v", title, err)
	}
	if err := login.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, login.Stderr)
	}
	u.calls(t, nobody)
	outlive()
	u.calls(t, nobody)
	if s := p.seen(t); s.Registrations != 1 || s.Grants["urn:ietf:params:oauth:grant-type:device_code"] == 0 {
		t.Errorf("the authorization server has seen %+v", s)
	}
}

// TestServe: clients of serve go on when the token ends, and nobody is asked to log in.
func TestServe(t *testing.T) {
	t.Parallel()
	p := newPair(t, settings{Lifetime: brief})
	u := newUser(t, notes(p.Server, nil))
	u.ok(t, approve, "auth", "login", "notes")
	d := wire.Serve(t, wire.Setup{Program: binary, Config: u.config, Home: u.home, Env: []string{"BROWSER="}})
	clients := []*user{newUser(t, notes(d.URL, nil)), newUser(t, notes(d.URL, nil))}
	var all sync.WaitGroup
	end := time.Now().Add(wire.Limit)
	for _, c := range clients {
		all.Go(func() {
			for p.seen(t).Grants["refresh_token"] < 3 && time.Now().Before(end) {
				if got := c.ok(t, nobody, "call", "notes", "notes__whoami"); !strings.Contains(got, "you are "+person) {
					t.Errorf("got %q", got)
				}
			}
		})
	}
	all.Wait()
	if s := p.seen(t); s.Grants["refresh_token"] < 3 || s.Grants["authorization_code"] != 1 {
		t.Errorf("the authorization server has seen %+v", s)
	}
	got := d.Stderr.String()
	warned := slices.ContainsFunc(strings.Split(got, "\n"), func(line string) bool {
		// On a busy machine the first list waits for the server.
		return strings.Contains(line, "level=WARN") && !strings.Contains(line, `msg="waiting for notes …"`)
	})
	if warned || strings.Contains(got, u.stored(t)[0].AccessToken) {
		t.Errorf("serve says:\n%s", got)
	}
}
