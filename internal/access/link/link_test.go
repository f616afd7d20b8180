package link_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/internal/access/link"
	"github.com/mcpctl/mcpctl/internal/seal"
	"github.com/mcpctl/mcpctl/test/require"
)

func TestLink(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ring := seal.NewKeyring()
		for name, want := range map[string]link.Link{
			"for TTL":       {Server: "gh", Issuer: "https://as.example", Principal: "token|alice"},
			"for a second":  {Server: "gh", Principal: "token|alice", Expires: time.Now().Add(time.Second)},
			"odd names":     {Server: "g\"h&<", Principal: "https://idp.example|8f|3a\x00"},
			"without names": {},
		} {
			sealed := want.Seal(ring)
			if url.QueryEscape(sealed) != sealed || want.Principal != "" && strings.Contains(sealed, "alice") {
				t.Errorf("%s: got %q", name, sealed)
			}
			got, err := link.Open(ring, sealed)
			require.NoError(t, err)
			if want.Expires.IsZero() {
				want.Expires = time.Now().Add(link.TTL)
			}
			if !got.Expires.Equal(want.Expires.Truncate(time.Millisecond)) {
				t.Errorf("%s: ends %v, want %v", name, got.Expires, want.Expires)
			}
			got.Expires, want.Expires = time.Time{}, time.Time{}
			if got != want {
				t.Errorf("%s: got %+v, want %+v", name, got, want)
			}
		}
		sealed := link.Link{Server: "gh", Principal: "token|alice"}.Seal(ring)
		for name, text := range map[string]string{
			"nothing": "", "another text": "abc", "changed": sealed[:len(sealed)-2] + "AA", "cut": sealed[:len(sealed)-4], "longer": sealed + "AAAA",
			"of another ring": link.Link{}.Seal(seal.NewKeyring()), "for another purpose": ring.Seal("cursor", []byte(`{"v":"gh","p":"token|alice","t":99999999999999}`), 0),
			"huge": strings.Repeat("A", 1<<20), "sealed before it ended": link.Link{Expires: time.Now().Add(-time.Second)}.Seal(ring),
		} {
			if _, err := link.Open(ring, text); !errors.Is(err, link.ErrInvalid) {
				t.Errorf("%s: got %v", name, err)
			}
		}
		time.Sleep(link.TTL)
		if _, err := link.Open(ring, sealed); !errors.Is(err, link.ErrInvalid) {
			t.Errorf("after its time: got %v", err)
		}
	})
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for endpoint, want := range map[string]string{
		"https://mcp.example.com/mcp":        "https://mcp.example.com/connect/g%20h",
		"https://mcp.example.com":            "https://mcp.example.com/connect/g%20h",
		"https://mcp.example.com/":           "https://mcp.example.com/connect/g%20h",
		"https://example.com:8443/tools/mcp": "https://example.com:8443/tools/connect/g%20h",
		"http://127.0.0.1:7332/mcp/":         "http://127.0.0.1:7332/connect/g%20h",
	} {
		u, err := url.Parse(endpoint)
		require.NoError(t, err)
		if got := link.Page(u, "g h", ""); got != want {
			t.Errorf("%s: got %s, want %s", endpoint, got, want)
		}
		if got := link.Page(u, "g h", "abc"); got != want+"?s=abc" {
			t.Errorf("%s: got %s", endpoint, got)
		}
		if got := link.Callback(u, "g h"); got != want+"/callback" {
			t.Errorf("%s: got %s", endpoint, got)
		}
	}
}
