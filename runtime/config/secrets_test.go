package config_test

import (
	"encoding/base64"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestSecrets: the secrets of an expanded entry, with their places.
func TestSecrets(t *testing.T) {
	t.Parallel()
	env := map[string]string{
		"TOKEN": "tok-12345678", "NAME": "plain-value", "PASS": "pass-word1", "HOST": "api.example.com", "BASE": "https://b.example/x", "TENANT": "tenant-0001",
		"HOME": "/home/someone", "RAW": "ghp_0123456789abcdef0123", "B64": base64.StdEncoding.EncodeToString([]byte("me:basic-pass")), "DIR": "/work/place",
	}
	find := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	for name, c := range map[string]struct {
		entry config.Entry
		want  []string // PLACE=TEXT
	}{
		"headers": {
			config.Entry{URL: "https://h/mcp", Headers: map[string]string{"Authorization": "Bearer ${TOKEN}", "X-A": "literal-value", "Accept": "text/${NAME}", "X-Home": "${HOME}", "Cookie": "a=1; sid=${NAME}"}},
			[]string{
				"headers.Authorization=Bearer tok-12345678", "headers.Authorization=tok-12345678", "headers.Cookie=a=1; sid=plain-value", "headers.Cookie=1",
				"headers.Cookie=plain-value", "headers.X-A=literal-value",
			},
		},
		"Basic": {
			config.Entry{URL: "https://h/mcp", Headers: map[string]string{"authorization": "basic ${B64}"}},
			[]string{"headers.authorization=basic " + env["B64"], "headers.authorization=" + env["B64"], "headers.authorization=me:basic-pass", "headers.authorization=me", "headers.authorization=basic-pass"},
		},
		"URL": {
			config.Entry{URL: "https://u:${PASS}@${HOST}/${TENANT}/mcp?k=v${NAME}"},
			[]string{"url=u", "url=pass-word1", "url=u:pass-word1", "url=vplain-value", "url=tenant-0001", "url=plain-value"},
		},
		"where the server is": {
			config.Entry{Command: "${NAME}", Cwd: "/srv/${TENANT}", CLIRoots: []string{"/x/${TENANT}"}}, nil,
		},
		"defaults": {
			config.Entry{Command: "x", Env: map[string]string{"A": "${UNSET:-default-text}", "B": "${UNSET-of-${NAME}}", "C": "${UNSET_TOKEN:-default-token}"}},
			[]string{"env.B=plain-value", "env.C=default-token"},
		},
		"public": {
			config.Entry{URL: "https://h/${TENANT}/mcp?k=${NAME}", Headers: map[string]string{"X-A": "${NAME}", "X-B": "${TOKEN}"}, Public: []string{"NAME", "TENANT"}},
			[]string{"headers.X-B=tok-12345678"},
		},
		"URL from a variable": {config.Entry{URL: "${BASE}/mcp"}, nil},
		"env": {
			config.Entry{Command: "x", Env: map[string]string{"API_KEY": "${NAME}", "LEVEL": "${NAME}", "OTHER": "${TOKEN}", "DB": "postgres://u:${PASS}@db/x", "V": "${RAW}", "AUTH_DIR": "${DIR}", "NOTE": "see ${RAW}"}, Cwd: "/work/place"},
			[]string{"env.API_KEY=plain-value", "env.DB=postgres://u:pass-word1@db/x", "env.DB=u", "env.DB=pass-word1", "env.DB=u:pass-word1", "env.LEVEL=plain-value", "env.NOTE=" + env["RAW"], "env.OTHER=tok-12345678", "env.V=" + env["RAW"]},
		},
		"args": {
			config.Entry{Command: "x", Args: []string{"--token", "abc", "--key=def", "-v", "${NAME}", "x-${TOKEN}", "${RAW}", "--header", "Authorization: Bearer qwe", "--token", "--next", "--url", "https://u:pw@h/x?k=v"}},
			[]string{"args[1]=abc", "args[2]=def", "args[4]=plain-value", "args[5]=tok-12345678", "args[6]=" + env["RAW"], "args[8]=qwe", "args[12]=u", "args[12]=pw", "args[12]=u:pw", "args[12]=v"},
		},
	} {
		x, err := c.entry.Expand(find)
		require.NoError(t, err)
		var got []string
		for _, s := range x.Secrets() {
			got = append(got, s.Place+"="+s.Text.Reveal())
		}
		slices.Sort(got)
		slices.Sort(c.want)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		var log strings.Builder
		slog.New(slog.NewTextHandler(&log, nil)).Info("m", "entry", x, "written", c.entry, "args", x.Args, "env", x.Env, "url", x.URL)
		printed := fmt.Sprintf("%v %+v %#v %s %v %+v %v", x, x, x, c.entry, x.Args, x.Env, struct{ e config.Expanded }{x}) + log.String()
		for _, value := range env {
			if !strings.Contains(x.Command+x.Cwd+strings.Join(x.CLIRoots, ""), value) && strings.Contains(printed, value) {
				t.Errorf("%s: %q is printed: %s", name, value, printed)
			}
		}
	}
}

// TestMaskEntry: the display of an entry with literal secrets.
func TestMaskEntry(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"url":"https://u:p@h/x?a=1&key=k&long=12345678&flagflag#fragment1"}`: `{"url":"https://[redacted]@h/x?a=1&key=[redacted]&long=[redacted]&[redacted]#[redacted]"}`,
		`{"url":"https://${U}:${P}@h/x?a=${A}&b=${B:-c}"}`:                     `{"url":"https://${U}:${P}@h/x?a=${A}&b=${B:-c}"}`,
		`{"url":"${BASE}/mcp"}`: `{"url":"${BASE}/mcp"}`,
		`{"headers":{"Authorization":"Bearer ${T}","X":"Basic abc","X-Token":"t","A":"12345678"}}`:                                                                          `{"headers":{"Authorization":"Bearer ${T}","X":"Basic abc","X-Token":"[redacted]","A":"[redacted]"}}`,
		`{"headers":{"Authorization":"Bearer a${T}b","Accept":"application/json"}}`:                                                                                         `{"headers":{"Authorization":"Bearer [redacted]","Accept":"application/json"}}`,
		`{"env":{"TOKEN":"t","TOKEN2":"${T}","T3":"${API_TOKEN:-x}","DEBUG_AUTH":"true","L":"info"}}`:                                                                       `{"env":{"TOKEN":"[redacted]","TOKEN2":"${T}","T3":"${API_TOKEN:-[redacted]}","DEBUG_AUTH":"true","L":"info"}}`,
		`{"args":["--token","t","--key=k","-e","API_KEY=k","x","${TOKEN}","p://u:p@h/","p://${U}@h/"]}`:                                                                     `{"args":["--token","[redacted]","--key=[redacted]","-e","API_KEY=[redacted]","x","${TOKEN}","p://[redacted]@h/","p://${U}@h/"]}`,
		`{"auth":{"clientId":"me","clientSecret":"s","scopes":["a"]},"n":1.50,"x":null}`:                                                                                    `{"auth":{"clientId":"me","clientSecret":"[redacted]","scopes":["a"]},"n":1.50,"x":null}`,
		`{"auth":{"tokenEndpoint":"https://as.example/token?k=12345678","tokenFile":"/run/t","password":"p","refreshToken":"r","extraParams":{"apiKey":"k","tenant":"t"}}}`: `{"auth":{"tokenEndpoint":"https://as.example/token?k=[redacted]","tokenFile":"/run/t","password":"[redacted]","refreshToken":"[redacted]","extraParams":{"apiKey":"[redacted]","tenant":"t"}}}`,
		`{"args":"no list","headers":7,"env":["TOKEN"]}`:                                                                                                                    `{"args":"no list","headers":7,"env":["TOKEN"]}`,
		`["no entry"]`: `["no entry"]`,
	} {
		if got := string(config.MaskEntry([]byte(in))); got != want {
			t.Errorf("%s:\n got %s\nwant %s", in, got, want)
		}
	}
}
