package cli_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/cli"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/tokenstore"
	"github.com/mcpctl/mcpctl/runtime/auth"
)

// TestToken: what is said before a token is asked for, and what happens without anybody
// to ask.
func TestToken(t *testing.T) {
	t.Parallel()
	why := errors.New("no\x1b[31m registration")
	known := auth.TokenHint{Server: "mcp.linear.app", Why: why, Service: "Linear", Page: "https://linear.app/settings", Rights: "Read"}
	for name, c := range map[string]struct {
		hint    auth.TokenHint
		answers []any
		want    string
		said    []string
	}{
		"a known service":  {known, []any{"abc"}, "abc", []string{"no registration.", "A token of Linear is made at https://linear.app/settings", "It needs: Read"}},
		"an unknown one":   {auth.TokenHint{Server: "s", Why: why}, []any{"abc"}, "abc", []string{"no registration."}},
		"refused before":   {auth.TokenHint{Server: "s", Why: why, Refused: true}, []any{"abc"}, "abc", []string{"s refuses the token."}},
		"nobody to ask":    {known, nil, "", nil},
		"nobody to answer": {known, []any{ui.ErrNoAnswer}, "", []string{"Linear"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var said bytes.Buffer
			p := &cli.Prompter{UI: ui.New(strings.NewReader(""), &said, &said), Getenv: func(string) string { return "" }}
			if c.answers != nil {
				p.Asker = &ui.Scripted{Answers: c.answers}
			}
			got, err := p.Token(t.Context(), c.hint)
			if got != c.want || err != nil {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
			for _, text := range c.said {
				if !strings.Contains(said.String(), text) {
					t.Errorf("%q is not in %q", text, said.String())
				}
			}
			if strings.Contains(said.String(), "\x1b") || c.said == nil && said.Len() > 0 {
				t.Errorf("said %q", said.String())
			}
		})
	}
}

// TestStatus: which tokens a person has to get again.
func TestStatus(t *testing.T) {
	t.Parallel()
	in := func(d time.Duration) time.Time { return time.Now().Add(d) }
	for name, c := range map[string]struct {
		token tokenstore.Token
		login bool
		ends  string
	}{
		"made by hand":              {tokenstore.Token{Source: tokenstore.SourceManual}, false, "not said"},
		"lasts":                     {tokenstore.Token{TokenURL: "t", Expires: in(25 * time.Hour)}, false, "in 2"},
		"ends soon":                 {tokenstore.Token{TokenURL: "t", Expires: in(23 * time.Hour)}, true, "in 2"},
		"has ended":                 {tokenstore.Token{TokenURL: "t", Expires: in(-time.Hour)}, true, "ended"},
		"ends soon, and is renewed": {tokenstore.Token{TokenURL: "t", Refresh: "r", Expires: in(time.Hour)}, false, "in "},
		"has ended, and is renewed": {tokenstore.Token{TokenURL: "t", Refresh: "r", Expires: in(-time.Hour)}, false, "ended, is refreshed"},
		"of a machine":              {tokenstore.Token{Expires: in(time.Minute)}, false, "in "},
	} {
		s := cli.StatusOf("s", c.token)
		if (s.Login == "mcpctl auth login s") != c.login || !c.login && s.Login != "" || !strings.HasPrefix(s.Ends(), c.ends) {
			t.Errorf("%s: login %q, ends %q", name, s.Login, s.Ends())
		}
	}
}
