package main_test

import (
	"testing"
)

// doorGroup is the cases of one serve.
type doorGroup struct {
	title, short, shown string
	open                func(t *testing.T) ([]doorRow, *doorServe)
	hide                func(answer string) string
}

func doorGroups() []doorGroup {
	return []doorGroup{staticTokenCases()}
}

// staticTokenCases is a serve that knows static tokens and nothing else.
func staticTokenCases() doorGroup {
	g := doorGroup{title: "With static tokens", short: "Static tokens", shown: "  auth:\n    - token: {}\n", hide: func(s string) string { return s }}
	g.open = func(t *testing.T) ([]doorRow, *doorServe) {
		t.Helper()
		var good, expired, revoked string
		s := startDoor(t, func(home string) {
			good, expired, revoked = newToken(t, home, "alice"), newToken(t, home, "bob", "--expires", "1ms"), newToken(t, home, "carol")
			mcpctl(t, home, "access", "token", "revoke", "carol")
		}, g.shown)
		header := func(title, sent string, lines ...string) doorRow {
			return doorRow{title, sent, doorCredential{lines: lines}}
		}
		return []doorRow{
			{"no credential", "", doorCredential{}},
			header("another scheme", "Authorization: Basic …", "Authorization: Basic YWxpY2U6YQ=="),
			bearerRow("an expired token", "mcpctl_…", expired),
			bearerRow("a revoked token", "mcpctl_…", revoked),
			bearerRow("a token that is not known", "abc", "abc"),
			bearerRow("a JWT, where no issuer is configured", "eyJ….eyJ….…", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbGljZSJ9.c2ln"),
			header("no token", "Authorization: Bearer", "Authorization: Bearer"),
			header("two headers", "Authorization: Bearer mcpctl_…, twice", "Authorization: Bearer "+good, "Authorization: Bearer "+good),
			header("two tokens in one header", "Authorization: Bearer mcpctl_…, Bearer mcpctl_…", "Authorization: Bearer "+good+", Bearer "+good),
			{"a token in the URL", "?access_token=mcpctl_…", doorCredential{query: "access_token=" + good}},
			{"a token in the URL and in the header", "?access_token=mcpctl_… and Authorization: Bearer mcpctl_…", doorCredential{lines: []string{"Authorization: Bearer " + good}, query: "access_token=" + good}},
			header("a host that is not ours, with a good token", "Host: attacker.example", "Host: attacker.example", "Authorization: Bearer "+good),
			header("an origin that is not ours, with a good token", "Origin: https://attacker.example", "Origin: https://attacker.example", "Authorization: Bearer "+good),
			header("a page of another site, with a good token", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: cross-site", "Authorization: Bearer "+good),
		}, s
	}
	return g
}
