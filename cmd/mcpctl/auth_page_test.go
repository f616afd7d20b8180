//go:build unix

package main_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/pki"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

const authPage = "../../test/reports/refused-requests.md"

// credentialCase is what a request has in the place of one that is accepted.
type credentialCase struct {
	lines []string
	query string
	// before is called before it is sent; nil is nothing.
	before func()
}

// authServe is a serve with settings, over each way.
type authServe struct {
	home, touched string
	ways          []authWay
}

// startAuth starts a serve twice, without TLS and with it.
func startAuth(t *testing.T, prepare func(home string), settings string) *authServe {
	t.Helper()
	ca := pki.New(t, "root")
	s := &authServe{home: t.TempDir()}
	s.touched = filepath.Join(s.home, "touched")
	if prepare != nil {
		prepare(s.home)
	}
	for _, secure := range []bool{false, true} {
		text := settings
		home := s.home
		if secure {
			text += "  tls: {cert: cert.pem, key: key.pem}\n"
			home = t.TempDir() // the tokens are those of the other
			raw, err := os.ReadFile(filepath.Join(s.home, "access-tokens.json"))
			if err == nil {
				err = os.WriteFile(filepath.Join(home, "access-tokens.json"), raw, 0o600)
			}
			if !os.IsNotExist(err) {
				require.NoError(t, err)
			}
		}
		ca.Localhost(t, home)
		require.NoError(t, os.WriteFile(filepath.Join(home, "config.yaml"), []byte("serve:\n"+text), 0o600))
		d := wire.Serve(t, wire.Setup{
			Program: "mcpctl", Home: home, Config: filepath.Join(home, "servers.json"),
			Servers: wire.Servers{"a": {"command": "touch-file", "args": []string{s.touched}, "start": "cached"}},
		})
		if secure {
			s.ways = append(s.ways, overTLS(d, ca), overHTTP2(t, d, ca))
		} else {
			s.ways = append(s.ways, overHTTP1(d))
		}
	}
	return s
}

// newToken makes a static token in a folder.
func newToken(t *testing.T, home, name string, words ...string) string {
	t.Helper()
	return strings.TrimSpace(mcpctl(t, home, append([]string{"access", "token", "add", name, "-o", "text"}, words...)...))
}

func mcpctl(t *testing.T, home string, words ...string) string {
	t.Helper()
	out, err := mcpctlIn(t, home, nil, words...).Output()
	if err != nil {
		t.Fatalf("%v: %v", words, err)
	}
	return string(out)
}

// mcpctlIn prepares a run in a folder with variables of its own.
func mcpctlIn(t *testing.T, home string, env []string, words ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "mcpctl", words...)
	cmd.Env, cmd.WaitDelay = append(wire.Environment(filepath.Join(home, "servers.json"), home), env...), 10*time.Second
	return cmd
}

// authRow is a case of the page. Its credential is made when its serve runs.
type authRow struct {
	title, sent string
	credential  credentialCase
}

// bearerRow is a row for a token.
func bearerRow(title, sent, token string) authRow {
	return authRow{title, "Authorization: Bearer " + sent, credentialCase{lines: []string{"Authorization: Bearer " + token}}}
}

// TestAuthPage compares the page with what happens.
func TestAuthPage(t *testing.T) {
	var page bytes.Buffer
	page.WriteString(authHead)
	for i, k := range authRequests() {
		fmt.Fprintf(&page, "| %d | %s | `%s %s` |\n", i+1, k.name, k.method, k.path)
	}
	for _, g := range authGroups() {
		rows, s := g.open(t)
		fmt.Fprintf(&page, "\n## %s\n\n```yaml\nserve:\n%s```\n", g.title, g.shown)
		for _, r := range rows {
			answer := s.same(t, r)
			fmt.Fprintf(&page, "\n### %s: %s\n\n", g.short, r.title)
			if r.sent != "" {
				fmt.Fprintf(&page, "Sent: `%s`\n\n", r.sent)
			}
			fmt.Fprintf(&page, "```text\n%s\n```\n", strings.TrimSpace(answer))
		}
		if _, err := os.Stat(s.touched); err == nil {
			t.Errorf("%s: a server has been started", g.title)
		}
	}
	if *updateDocs {
		require.NoError(t, os.WriteFile(authPage, page.Bytes(), 0o644))
		return
	}
	want, err := os.ReadFile(authPage)
	require.NoError(t, err)
	if got, want := strings.Split(page.String(), "\n"), strings.Split(string(want), "\n"); page.String() != strings.Join(want, "\n") {
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Errorf("line %d: got\n%s\nwant\n%s", i+1, got[i], want[i])
				break
			}
		}
		t.Error("test/reports/refused-requests.md is not what happens: run go test ./cmd/mcpctl -run TestAuthPage -update")
	}
}

// same sends a row's credential with every request over every way, and returns the
// answer, which has to be the same for all.
func (s *authServe) same(t *testing.T, r authRow) (first string) {
	t.Helper()
	if r.credential.before != nil {
		r.credential.before()
	}
	for _, w := range s.ways {
		for _, k := range authRequests() {
			switch got := w.send(t, k, r.credential); {
			case first == "":
				first = got
			case got != first:
				t.Errorf("%s, %s over %s: got\n%s\nwant\n%s", r.title, k.name, w.name, got, first)
			}
		}
	}
	return first
}

const authHead = `# Refused requests

If ` + "`serve.auth`" + ` is set, [serve](../../docs/share.md) checks who sends a request before it reads anything else of it. This page has the answers to
requests that are refused. Every case was sent with each of the requests below, over HTTP/1.1, HTTP/1.1 with TLS, and HTTP/2. All got
the same answer, to the byte; only the ` + "`Date`" + ` header is left out. No server was started.

` + "`go test ./cmd/mcpctl -run TestAuthPage -update`" + ` writes this page; a run without it fails if the page is out of date.

| | request | line |
|---|---|---|
`
