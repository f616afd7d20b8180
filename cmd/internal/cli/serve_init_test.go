package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
)

// TestServeInitAsks: on a terminal, what no flag says is asked, one after the other; what does not
// concern the answers so far is not.
func TestServeInitAsks(t *testing.T) {
	for name, tt := range map[string]struct {
		words   string
		answers []any
		asked   []string
		out     []string
	}{
		"this machine, nobody asked": {
			"serve init",
			[]any{"programs on this machine", "none: nobody is asked, everybody on this machine may connect"},
			[]string{"Who connects", "How clients prove who they are"},
			[]string{"nothing has to be set", "mcpctl serve --http 127.0.0.1:8080\n"},
		},
		"the network": {
			"serve init",
			[]any{"other machines", "0.0.0.0:8443", "mcp.example.com other.example.com", "token: a token that mcpctl makes for each", "self-signed: a certificate that is made now, for a start", "read-only: tools that only read", "alice"},
			[]string{"Who connects", "Address to listen on", "Names in the URLs of clients (several with spaces between)", "How clients prove who they are", "How connections are encrypted", "What everybody may use without a rule", "Name of the first token"},
			[]string{"Clients     https://mcp.example.com:8443/mcp", "Token       mcpctl_", "of alice", "Trust       mcpctl --ca ", "mcpctl access allow WHO SERVER"},
		},
		"flags answer": {
			"serve init --listen 0.0.0.0:8443 --host a --tls none --allow deny",
			[]any{"jwt: a login at an identity provider (OAuth, OpenID Connect)", "https://idp.example.com"},
			[]string{"How clients prove who they are", "URL of the identity provider"},
			[]string{"Clients     https://a/mcp"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			asker := &ui.Scripted{Answers: tt.answers}
			got := (&bench{asker: asker, text: true}).run(t, strings.Fields(tt.words)...)
			if got.code != 0 || strings.Join(asker.Asked, "|") != strings.Join(tt.asked, "|") {
				t.Errorf("asked %q, got %+v", asker.Asked, got)
			}
			for _, want := range tt.out {
				if !strings.Contains(got.out, want) {
					t.Errorf("got %s, want %s", got.out, want)
				}
			}
		})
	}
	broken := &bench{asker: &ui.Scripted{Answers: []any{"other machines", os.ErrClosed}}, text: true}
	if got := broken.run(t, "serve", "init"); got.code == 0 {
		t.Errorf("got %+v", got)
	}
}
