package authn_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/authn"
	"github.com/mcpctl/mcpctl/internal/secret"
)

// provider is for tokens that begin with its kind, and accepts those that end with "!".
type provider struct {
	kind  string
	asked int
}

func (p *provider) Kind() string                     { return p.kind }
func (p *provider) Valid(who *access.Principal) bool { return who.Name == "valid" }

func (p *provider) Principal(_ context.Context, c access.Credential) (*access.Principal, *access.Refusal) {
	if !strings.HasPrefix(c.Bearer, p.kind) {
		return nil, nil
	}
	p.asked++
	if strings.HasSuffix(c.Bearer, "!") {
		return &access.Principal{ID: p.kind + "|a", Provider: p.kind}, nil
	}
	return nil, access.ErrExpired
}

// remembering is a provider that remembers tokens.
type remembering struct{ provider }

func (*remembering) Subject(id string) (secret.Text, time.Time, bool) {
	return secret.New("of " + id), time.Time{}, true
}

// TestOne: the form of a credential chooses one provider, and no other is asked.
func TestOne(t *testing.T) {
	t.Parallel()
	a, b := &provider{kind: "a"}, &provider{kind: "ab"}
	d := authn.NewAuthenticator(a, b)
	for token, want := range map[string]*access.Refusal{"a!": nil, "ab!": nil, "ab": access.ErrExpired, "x": access.ErrUnknownToken, "": access.ErrNoCredential} {
		who, no := d.Who(t.Context(), access.Credential{Bearer: token})
		if no != want || (who == nil) != (want != nil) {
			t.Errorf("%q: got %v, %v", token, who, no)
		}
	}
	if a.asked != 3 || b.asked != 0 {
		t.Errorf("the first was asked %d times, the second %d", a.asked, b.asked)
	}
	for _, name := range []string{"a valid", "a x", "x valid"} {
		kind, word, _ := strings.Cut(name, " ")
		if got := d.Valid(&access.Principal{Provider: kind, Name: word}); got != (name == "a valid") {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func TestChallenge(t *testing.T) {
	t.Parallel()
	d := authn.NewAuthenticator()
	const at = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp"
	few := &access.Refusal{Status: 403, Scopes: []string{"x"}}
	for _, tc := range []struct {
		d    *authn.Authenticator
		no   *access.Refusal
		want string
	}{
		{d, access.ErrNoCredential, `realm="mcpctl"`},
		{d.Advertise(at, nil), access.ErrNoCredential, `resource_metadata="` + at + `"`},
		{d.Advertise(at, []string{"mcp", "read"}), access.ErrExpired, `resource_metadata="` + at + `", scope="mcp read"`},
		{d.Advertise(at, []string{"mcp", "read"}), few, `resource_metadata="` + at + `", scope="x"`},
	} {
		if got := tc.d.Challenge(tc.no); got != tc.want {
			t.Errorf("got %s, want %s", got, tc.want)
		}
	}
}

// TestSubject: of several tokens of a principal, the one that ends last.
func TestSubject(t *testing.T) {
	t.Parallel()
	d := authn.NewAuthenticator(&provider{kind: "a"}, &remembering{provider{kind: "b"}})
	if token := d.Subject("b|x"); token.Reveal() != "of b|x" {
		t.Errorf("got %v", token.Reveal())
	}
	if token := authn.NewAuthenticator(&provider{kind: "a"}).Subject("x"); !token.IsZero() {
		t.Errorf("got %v", token.Reveal())
	}
}
