//go:build unix

package main_test

import (
	"crypto/rand"
	"maps"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/idp"
)

// authGroup is the cases of one serve.
type authGroup struct {
	title, short, shown string
	open                func(t *testing.T) ([]authRow, *authServe)
}

func authGroups() []authGroup {
	return []authGroup{staticTokenCases(), issuerCases(), introspectionCases()}
}

// staticTokenCases is a serve that knows static tokens and nothing else.
func staticTokenCases() authGroup {
	g := authGroup{title: "With static tokens", short: "Static tokens", shown: "  auth:\n    - token: {}\n"}
	g.open = func(t *testing.T) ([]authRow, *authServe) {
		t.Helper()
		var good, expired, revoked string
		s := startAuth(t, func(home string) {
			good, expired, revoked = newToken(t, home, "alice"), newToken(t, home, "bob", "--expires", "1ms"), newToken(t, home, "carol")
			mcpctl(t, home, "access", "token", "revoke", "carol")
		}, g.shown)
		header := func(title, sent string, lines ...string) authRow {
			return authRow{title, sent, credentialCase{lines: lines}}
		}
		return []authRow{
			{"no credential", "", credentialCase{}},
			header("another scheme", "Authorization: Basic …", "Authorization: Basic YWxpY2U6YQ=="),
			bearerRow("an expired token", "mcpctl_…", expired),
			bearerRow("a revoked token", "mcpctl_…", revoked),
			bearerRow("a token that is not known", "abc", "abc"),
			bearerRow("a JWT, where no issuer is configured", "eyJ….eyJ….…", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbGljZSJ9.c2ln"),
			header("no token", "Authorization: Bearer", "Authorization: Bearer"),
			header("two headers", "Authorization: Bearer mcpctl_…, twice", "Authorization: Bearer "+good, "Authorization: Bearer "+good),
			header("two tokens in one header", "Authorization: Bearer mcpctl_…, Bearer mcpctl_…", "Authorization: Bearer "+good+", Bearer "+good),
			{"a token in the URL", "?access_token=mcpctl_…", credentialCase{query: "access_token=" + good}},
			{"a token in the URL and in the header", "?access_token=mcpctl_… and Authorization: Bearer mcpctl_…", credentialCase{lines: []string{"Authorization: Bearer " + good}, query: "access_token=" + good}},
			header("a host that is not ours, with a good token", "Host: attacker.example", "Host: attacker.example", "Authorization: Bearer "+good),
			header("an origin that is not ours, with a good token", "Origin: https://attacker.example", "Origin: https://attacker.example", "Authorization: Bearer "+good),
			header("a page of another site, with a good token", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: cross-site", "Authorization: Bearer "+good),
		}, s
	}
	return g
}

// issuerCases is a serve that accepts the tokens of two issuers, of one of which the keys
// cannot be had.
func issuerCases() authGroup {
	g := authGroup{title: "With tokens of issuers", short: "Issuers", shown: `  url: https://mcp.example.com/mcp
  auth:
    - jwt: {name: idp, issuer: https://idp.example.com, scopes: [mcp]}
    - jwt: {name: down, issuer: https://down.example.com}
`}
	g.open = func(t *testing.T) ([]authRow, *authServe) {
		t.Helper()
		key := idp.NewKey("one", "ES256")
		works, down := idp.NewServer(key), idp.NewServer(key)
		t.Cleanup(works.Close)
		t.Cleanup(down.Close)
		down.Set(func(s *idp.Server) { s.Status = http.StatusInternalServerError })
		s := startAuth(t, nil, strings.NewReplacer("https://idp.example.com", works.URL, "https://down.example.com", down.URL).Replace(g.shown))
		now := time.Now().Unix()
		token := func(change idp.Claims) string {
			c := idp.Claims{"iss": works.URL, "aud": "https://mcp.example.com/mcp", "sub": "alice", "exp": now + 600, "scope": "mcp"}
			maps.Copy(c, change)
			return key.Sign(c, nil)
		}
		jwt := func(title string, change idp.Claims) authRow {
			return bearerRow(title, "eyJ….eyJ….…", token(change))
		}
		good := token(nil)
		return []authRow{
			{"no credential", "", credentialCase{}},
			jwt("a token that has expired", idp.Claims{"exp": now - 1}),
			jwt("a token for another resource", idp.Claims{"aud": "https://other.example.com/mcp"}),
			jwt("a token of an issuer that is not configured", idp.Claims{"iss": "https://evil.example.com"}),
			bearerRow("a signature that is wrong", "eyJ….eyJ….…", good[:len(good)-8]+"AAAAAAAA"),
			jwt("an ID token", idp.Claims{"nonce": "n"}),
			jwt("a token without the scopes", idp.Claims{"scope": "other"}),
			jwt("a token of an issuer whose keys cannot be had", idp.Claims{"iss": down.URL}),
			bearerRow("a token that is no JWT", "abc", "abc"),
			{"two headers", "Authorization: Bearer eyJ….eyJ….…, twice", credentialCase{lines: []string{"Authorization: Bearer " + good, "Authorization: Bearer " + good}}},
			{"a token in the URL", "?access_token=eyJ….eyJ….…", credentialCase{query: "access_token=" + good}},
		}, s
	}
	return g
}

// introspectionCases is a serve that asks an issuer about tokens.
func introspectionCases() authGroup {
	g := authGroup{title: "With introspection", short: "Introspection", shown: `  url: https://mcp.example.com/mcp
  auth:
    - introspect:
        issuer: https://idp.example.com
        endpoint: https://idp.example.com/introspect
        clientId: mcpctl
        clientSecret: "${IDP_SECRET}"
`}
	g.open = func(t *testing.T) ([]authRow, *authServe) {
		t.Helper()
		s := idp.NewServer()
		t.Cleanup(s.Close)
		t.Setenv("IDP_SECRET", rand.Text())
		s.Secret = os.Getenv("IDP_SECRET")
		d := startAuth(t, nil, strings.ReplaceAll(g.shown, "https://idp.example.com", s.URL))
		return []authRow{
			{"no credential", "", credentialCase{}},
			bearerRow("a token that is not active", "abc", "abc"),
			{
				"a token about which the issuer cannot be asked", "Authorization: Bearer abcd",
				credentialCase{lines: []string{"Authorization: Bearer abcd"}, before: func() { s.Set(func(s *idp.Server) { s.Status = http.StatusInternalServerError }) }},
			},
		}, d
	}
	return g
}
