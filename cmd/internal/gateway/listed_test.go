package gateway

import (
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/internal/access"
)

// TestListed: with a list in the settings, its tokens are accepted until they expire, and
// no others.
func TestListed(t *testing.T) {
	t.Parallel()
	one, text := access.NewToken("ci", []string{"staff"}, time.Now(), time.Time{})
	old, expired := access.NewToken("old", nil, time.Now(), time.Now().Add(-time.Hour))
	one.ID, old.ID = "", ""
	d, knock := protected(t, settings.Access{Providers: settings.Providers{Token: &settings.TokenProvider{List: []access.Token{one, old}}}})
	c := client(t)
	_, stranger := access.NewToken("ci", nil, time.Now(), time.Time{})
	for token, want := range map[string]string{text: "200 hello", expired: "401 ", stranger: "401 ", "x": "401 "} {
		if got := knock(c, "Authorization: Bearer "+token); !strings.HasPrefix(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	who, no := d.Who(t.Context(), access.Credential{Bearer: text})
	if no != nil || who.ID != "token|ci" || !d.Valid(who) || d.Valid(&access.Principal{ID: "token|old", Provider: "token"}) {
		t.Errorf("got %v, %v", who, no)
	}
	if d.tokens != nil {
		t.Error("the file of tokens is read")
	}
}
