//go:build integration

package login_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

// form is a view with one tool, under another name.
const form = "  views:\n    desk: {tools: [" + tool + "], override: {" + tool + ": {name: say}}}\n"

// document is where the metadata of the resource are.
const document = "/.well-known/oauth-protected-resource/mcp"

// TestAdmitsToViews: clients of others that know the URL of a view log in for the resource that
// the whole serve is. They list the tools of the view, call one, and know no other. Those that
// are not told where the metadata are find them at the path of the view, where they are the same
// whether there is the view or not.
func TestAdmitsToViews(t *testing.T) {
	t.Parallel()
	a := admit(t, settings{JWT: true}, form)
	whole := a.metadata(t, "")
	if !strings.Contains(whole, `"resource":"`+a.URL+`"`) || !strings.Contains(whole, a.Issuer) {
		t.Errorf("got %s", whole)
	}
	if known, unknown := a.metadata(t, "/desk"), a.metadata(t, "/nowhere"); known != whole || unknown != whole {
		t.Errorf("got %s\nand %s\nwant %s", known, unknown, whole)
	}
	for _, c := range []struct {
		sdk, era     string
		blind, daily bool // daily: not only with make nightly
	}{
		{"v2", "modern", false, true},
		{"v2", "modern", true, false},
		{"v2", "legacy", true, false},
		{"v1", "legacy", true, false},
		{"v1", "legacy", false, false},
		{"python", "modern", false, false},
		{"python", "modern", true, true},
		{"python", "legacy", true, false},
	} {
		if !c.daily && !wire.Nightly() {
			continue
		}
		found, name := document, c.sdk+", "+c.era
		if c.blind {
			found, name = document+"/desk", name+", blind"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := errand{url: a.URL + "/desk", tool: "say", outside: tool, blind: c.blind}
			got := strings.Split(scriptLogin(t, e, c.sdk, c.era), " | ")
			if len(got) != 4 || got[0] != found || got[1] != "say" || got[2] != greeting || !strings.Contains(got[3], "unknown tool: "+tool) {
				t.Errorf("got %q", got)
			}
		})
	}
	t.Run("mcpctl", func(t *testing.T) {
		t.Parallel()
		u := newUser(t, notes(a.URL+"/desk", nil))
		if got := u.ok(t, approve, "call", "notes", "say", "message="+greeting); !strings.Contains(got, greeting) {
			t.Errorf("got %q", got)
		}
		if o := u.run(t, nobody, "call", "notes", tool, "message="+greeting); o.code == 0 {
			t.Errorf("got %s", o.stdout)
		}
	})
	t.Run("Go SDK", func(t *testing.T) { t.Parallel(); a.admitsGo(t) })
}

// metadata returns what there is for a path below that of the resource.
func (a *admitting) metadata(t *testing.T, path string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.TrimSuffix(a.URL, "/mcp")+document+path, http.NoBody)
	require.NoError(t, err)
	status, body := send(t, req)
	if status != http.StatusOK {
		t.Errorf("%s: HTTP %d", path, status)
	}
	return string(body)
}

// admitsGo: the Go SDK takes metadata whose resource is the URL that it sends requests
// to, and no other (RFC 9728, 3.3). It cannot log in at the URL of a view, but with that of the
// serve and a transport that turns to the view.
func (a *admitting) admitsGo(t *testing.T) {
	t.Helper()
	if _, err := goConnect(t, &mcp.StreamableClientTransport{Endpoint: a.URL + "/desk"}, "", registers); err == nil {
		t.Error("the Go SDK logs in at the URL of a view now: docs/views.md says that it does not")
	}
	for _, revision := range []string{"", "2025-11-25"} {
		if revision != "" && !wire.Nightly() {
			continue
		}
		s, err := goConnect(t, &mcp.StreamableClientTransport{Endpoint: a.URL, HTTPClient: &http.Client{Transport: toForm{}}}, revision, registers)
		require.NoError(t, err)
		if got := goCall(t, s, "say"); got != greeting {
			t.Errorf("%q: got %q", revision, got)
		}
		list, err := s.ListTools(t.Context(), nil)
		require.NoError(t, err)
		if len(list.Tools) != 1 || list.Tools[0].Name != "say" {
			t.Errorf("%q: listed %v", revision, list.Tools)
		}
		if _, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool}); err == nil || !strings.Contains(err.Error(), "unknown tool: "+tool) {
			t.Errorf("%q: got %v", revision, err)
		}
	}
}

// toForm sends requests to the view.
type toForm struct{}

func (toForm) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Path += "/desk"
	return http.DefaultTransport.RoundTrip(r)
}
