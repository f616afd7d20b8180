package dial_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/secret"
	"github.com/mcpctl/mcpctl/internal/tokenstore"
	"github.com/mcpctl/mcpctl/runtime/auth"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestStoredToken: a token that is stored goes to its server alone, the entry's own header
// wins, and with StoredOnly other servers are left alone.
func TestStoredToken(t *testing.T) {
	t.Parallel()
	var seen []string
	h := runtimetest.Full().Handler(runtimetest.HTTPOptions{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("Authorization"))
		h.ServeHTTP(w, r)
	}))
	defer srv.Close()
	path := filepath.Join(t.TempDir(), "auth.json")
	require.NoError(t, os.WriteFile(path, []byte(`{"version":1,"tokens":[{"server":"`+srv.URL+`/mcp","accessToken":"kept","source":"oauth"}]}`), 0o600))
	for _, c := range []struct {
		entry      config.Entry
		storedOnly bool
		want       string
	}{
		{config.Entry{URL: srv.URL + "/mcp/"}, false, "Bearer kept"},
		{config.Entry{URL: srv.URL + "/mcp"}, true, "Bearer kept"},
		{config.Entry{URL: srv.URL + "/other"}, false, ""},
		{config.Entry{URL: srv.URL + "/other"}, true, ""},
		{config.Entry{URL: srv.URL + "/mcp", Headers: map[string]string{"authorization": "Bearer own"}}, false, "Bearer own"},
	} {
		seen = nil
		c.entry.Name = "s"
		client, err := dial.Dial(t.Context(), c.entry, dial.Options{Auth: &dial.Auth{Store: &tokenstore.Store{Path: path}, StoredOnly: c.storedOnly}})
		require.NoError(t, err)
		require.NoError(t, client.Close())
		for _, got := range seen {
			if got != c.want {
				t.Errorf("%s: got %q, want %q", c.entry.URL, got, c.want)
			}
		}
		if len(seen) == 0 {
			t.Error("nothing was sent")
		}
	}
	broken := filepath.Join(t.TempDir(), "auth.json")
	require.NoError(t, os.WriteFile(broken, []byte(`{"tokens":["hush"`), 0o600))
	if _, err := (&tokenstore.Store{Path: broken}).Tokens(""); err == nil || strings.Contains(err.Error(), "hush") {
		t.Errorf("a broken file: %v", err)
	}
}

// TestEarlierLogin: the token of a login that mcpctl made at 29d23f62 is used, by a program
// that links no keyring.
func TestEarlierLogin(t *testing.T) {
	t.Parallel()
	var seen atomic.Value
	h := runtimetest.Full().Handler(runtimetest.HTTPOptions{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen.Store(r.Header.Get("Authorization"))
		h.ServeHTTP(w, r)
	}))
	defer srv.Close()
	login, err := os.ReadFile(filepath.Join("testdata", "login_29d23f62.json"))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "auth.json")
	require.NoError(t, os.WriteFile(path, bytes.Replace(login, []byte("https://notes.example.com"), []byte(srv.URL), 1), 0o600))
	client, err := dial.Dial(t.Context(), config.Entry{Name: "notes", URL: srv.URL + "/mcp"}, dial.Options{Auth: &dial.Auth{Store: &tokenstore.Store{Path: path}, StoredOnly: true}})
	require.NoError(t, err)
	require.NoError(t, client.Close())
	if got := seen.Load(); got != "Bearer made-by-29d23f62" {
		t.Errorf("sent %q", got)
	}
}

// TestKeyringNotLinked: this program does not import the keyring. One that has its tokens
// there is told so before anything is sent, and where the entry says nothing of a login, too.
func TestKeyringNotLinked(t *testing.T) {
	t.Parallel()
	var sent atomic.Int64
	h := runtimetest.Full().Handler(runtimetest.HTTPOptions{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent.Add(1)
		h.ServeHTTP(w, r)
	}))
	defer srv.Close()
	for _, storedOnly := range []bool{false, true} {
		store := &tokenstore.Store{Path: filepath.Join(t.TempDir(), "auth.json"), Keyring: true}
		_, err := dial.Dial(t.Context(), config.Entry{Name: "s", URL: srv.URL + "/mcp"}, dial.Options{Auth: &dial.Auth{Store: store, StoredOnly: storedOnly}})
		var h interface{ Hint() string }
		if !errors.Is(err, tokenstore.ErrNotLinked) || !errors.As(err, &h) || !strings.Contains(h.Hint(), "runtime/auth/keyring") {
			t.Errorf("stored only %t: %v", storedOnly, err)
		}
	}
	if n := sent.Load(); n != 0 {
		t.Errorf("%d requests were sent", n)
	}

	// A token that the program has obtained itself is used.
	server, err := url.Parse(srv.URL)
	require.NoError(t, err)
	a := auth.New(auth.Options{Server: server, Name: "s", Store: &tokenstore.Store{Path: filepath.Join(t.TempDir(), "auth.json"), Keyring: true}})
	req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL, nil)
	if err := a.Authorize(t.Context(), req); !errors.Is(err, tokenstore.ErrNotLinked) {
		t.Errorf("without a token: %v", err)
	}
	_, _ = a.Take(t.Context(), "own") // says that it is not stored
	if err := a.Authorize(t.Context(), req); err != nil || req.Header.Get("Authorization") != "Bearer own" {
		t.Errorf("with a token: %q, %v", req.Header.Get("Authorization"), err)
	}
}

// TestWhoseToken: a principal gets none but their own, and the user of this machine
// theirs, also where the system has named them.
func TestWhoseToken(t *testing.T) {
	t.Parallel()
	store := &tokenstore.Store{Path: filepath.Join(t.TempDir(), "auth.json")}
	folder := &tokenstore.Folder{Dir: t.TempDir()}
	const server = "https://mcp.example/mcp"
	require.NoError(t, store.Put(t.Context(), tokenstore.Token{Server: server, Access: "this user's"}))
	require.NoError(t, folder.Of("token|alice").Put(t.Context(), tokenstore.Token{Server: server, Principal: "token|alice", Access: "alice's"}))
	each, all := json.RawMessage(`{"as":"principal"}`), json.RawMessage(`{"scopes":["a"]}`)
	for _, c := range []struct {
		who        *access.Principal
		auth       json.RawMessage
		principals *dial.Principals
		want       string
	}{
		{&access.Principal{ID: "token|alice"}, each, &dial.Principals{Accounts: folder}, "alice's"},
		{&access.Principal{ID: "token|bob"}, each, &dial.Principals{Accounts: folder}, ""},
		{&access.Principal{ID: "token|bob"}, each, nil, "none"},
		{&access.Principal{ID: "token|bob"}, all, &dial.Principals{Accounts: folder}, "this user's"},
		{&access.Principal{ID: "local|me", Provider: access.Local}, each, nil, "this user's"},
		{nil, each, &dial.Principals{Accounts: folder}, "this user's"},
	} {
		x, err := config.Entry{Name: "s", URL: server, Auth: c.auth}.Expand(os.LookupEnv)
		require.NoError(t, err)
		got := "none"
		if z := (&dial.Auth{Store: store, Principals: c.principals}).AuthorizerFor(c.who, x, slog.New(slog.DiscardHandler), x.Redactor()); z != nil {
			token, err := z.Current(t.Context())
			require.NoError(t, err)
			got = token.Access
		}
		if got != c.want {
			t.Errorf("%+v with %s: got the token %q, want %q", c.who, c.auth, got, c.want)
		}
	}
}

// TestLearn: a redactor has the secrets of an entry and the token that is kept for its server
// before there is a connection, and those of one that is made with it.
func TestLearn(t *testing.T) {
	t.Parallel()
	store := &tokenstore.Store{Path: filepath.Join(t.TempDir(), "auth.json")}
	const server = "https://mcp.example/mcp?key=value-of-key"
	require.NoError(t, store.Put(t.Context(), tokenstore.Token{Server: server, Access: "access-token", Refresh: "refresh-token", Client: tokenstore.Client{Secret: "client-secret"}}))
	redact := secret.NewRedactor()
	o := dial.Options{
		Redactor: redact, Auth: &dial.Auth{Store: store, StoredOnly: true}, HTTP: dial.HTTPOptions{Headers: map[string]string{"X-Given": "given-by-flag"}},
		Lookup: func(name string) (string, bool) { return "value-of-" + name, name != "NONE" },
	}
	entry := config.Entry{Name: "s", URL: server, Headers: map[string]string{"X-Key": "${KEY}", "X-Region": "${REGION}"}, Public: []string{"REGION"}}
	require.NoError(t, dial.Learn(entry, o))
	text := "value-of-KEY value-of-key given-by-flag access-token refresh-token client-secret"
	if got := redact.String(text); got != strings.TrimSpace(strings.Repeat(secret.Redacted+" ", 6)) {
		t.Errorf("got %s", got)
	}
	if got := redact.String("region value-of-REGION"); got != "region value-of-REGION" {
		t.Errorf("got %s", got)
	}
	configured := secret.NewRedactor()
	require.NoError(t, dial.Learn(entry, dial.Options{Redactor: configured, Auth: &dial.Auth{Store: store}, Lookup: o.Lookup}))
	if got := configured.String("access-token"); got != secret.Redacted {
		t.Errorf("got %s", got)
	}
	entry.Headers["X-None"] = "${NONE}"
	if err := dial.Learn(entry, o); err == nil {
		t.Error("what cannot be known is learned")
	}

	shared := secret.NewRedactor()
	one := stdioEntry()
	one.Env["T"] = "${T}"
	c, err := dial.Dial(t.Context(), one, quick(dial.Options{Redactor: shared, Lookup: func(name string) (string, bool) { return "hush-hush", name == "T" }}))
	require.NoError(t, err)
	require.NoError(t, c.Close())
	if got := shared.String("hush-hush"); got != secret.Redacted {
		t.Errorf("got %s", got)
	}
}

// TestClearText: credentials of an entry go over http to another machine only where that
// is allowed; nothing is sent otherwise.
func TestClearText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		url, header string
		allowed     bool
		refused     string
	}{
		{"http://mcp.invalid/mcp", "Authorization", false, "the header Authorization"},
		{"HTTP://mcp.invalid/mcp", "x-api-key", false, "the header x-api-key"},
		{"http://192.0.2.1/mcp", "Cookie", false, "the header Cookie"},
		{"http://u:hush@mcp.invalid/mcp", "X", false, "the user in the URL"},
		{"http://mcp.invalid/mcp?api_key=hush", "X", false, "the query of the URL"},
		{"http://mcp.invalid/mcp", "Authorization", true, ""},
		{"http://mcp.invalid/mcp", "X-Trace", false, ""},
		{"https://mcp.invalid/mcp", "Authorization", false, ""},
		{"http://127.0.0.1:1/mcp", "Authorization", false, ""},
		{"http://localhost:1/mcp", "Authorization", false, ""},
	} {
		for _, byOption := range []bool{false, true} {
			entry := config.Entry{Name: "s", URL: c.url, Headers: map[string]string{c.header: "Bearer hush"}}
			entry.AllowInsecureHTTP = c.allowed && !byOption
			_, err := dial.Dial(t.Context(), entry, dial.Options{HTTP: dial.HTTPOptions{AllowInsecure: c.allowed && byOption}, ConnectTimeout: time.Millisecond})
			var clear *dial.ClearTextError
			if errors.As(err, &clear) != (c.refused != "") || err == nil || strings.Contains(err.Error(), "hush") {
				t.Errorf("%s %s: %v", c.url, c.header, err)
			} else if clear != nil && clear.What != c.refused {
				t.Errorf("%s %s: refused is %s, want %s", c.url, c.header, clear.What, c.refused)
			}
		}
	}
}
