package main_test

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/wire"
)

// issuer is an authorization server for one fake MCP server. Everybody who opens its
// page has agreed.
type issuer struct {
	*httptest.Server
	resource string

	// How it deviates, set before use.
	noRegistration, denies, device, noRefresh, unnamed bool
	lifetime                                           int // of access tokens, in seconds

	mu        sync.Mutex // guards what follows
	codes     map[string]url.Values
	valid     []string // tokens
	useless   bool     // tokens that are given are not valid
	undecided int      // polls that are answered with authorization_pending
	log       []string // grants that tokens were asked for with
}

func newIssuer() *issuer { return &issuer{codes: map[string]url.Values{}, lifetime: 3600} }

func (s *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	s.mu.Lock()
	defer s.mu.Unlock()
	status, answer := http.StatusOK, any(nil)
	switch r.URL.Path {
	case "/.well-known/oauth-authorization-server":
		m := map[string]any{
			"issuer": s.URL, "authorization_endpoint": s.URL + "/authorize", "token_endpoint": s.URL + "/token",
			"code_challenge_methods_supported": []string{"S256"},
		}
		if !s.noRegistration {
			m["registration_endpoint"] = s.URL + "/register"
		}
		if s.device {
			m["device_authorization_endpoint"] = s.URL + "/device"
		}
		answer = m
	case "/register":
		status, answer = http.StatusCreated, map[string]any{"client_id": "client"}
	case "/authorize":
		back := url.Values{"state": {r.Form.Get("state")}, "code": {rand.Text()}}
		s.codes[back.Get("code")] = r.Form
		if s.denies {
			back = url.Values{"state": {r.Form.Get("state")}, "error": {"access_denied"}, "error_description": {"not\x1b[31m today"}}
		}
		http.Redirect(w, r, r.Form.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
		return
	case "/device":
		answer = map[string]any{
			"device_code": "device", "user_code": "WDJB-MJHT", "verification_uri": "https://login.example.com/device",
			"verification_uri_complete": "https://login.example.com/device?code=WDJB-MJHT", "expires_in": 60, "interval": 0.01,
		}
	case "/token":
		if code := s.refusal(r.PostForm); code != "" {
			status, answer = http.StatusBadRequest, map[string]any{"error": code}
			break
		}
		access := "access-" + rand.Text()
		if !s.useless {
			s.valid = append(s.valid, access)
		}
		m := map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": s.lifetime}
		if !s.noRefresh {
			m["refresh_token"] = "refresh"
		}
		answer = m
	default:
		status = http.StatusNotFound
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer)
}

// refusal returns why no token is given, "" where one is. The caller holds mu.
func (s *issuer) refusal(form url.Values) string {
	grant := form.Get("grant_type")
	s.log = append(s.log, grant[strings.LastIndexByte(grant, ':')+1:])
	switch {
	case form.Get("resource") != s.resource:
		return "invalid_target"
	case grant == "authorization_code":
		asked := s.codes[form.Get("code")]
		sum := sha256.Sum256([]byte(form.Get("code_verifier")))
		if asked == nil || asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) {
			return "invalid_grant"
		}
	case grant == "refresh_token":
		if form.Get("refresh_token") != "refresh" {
			return "invalid_grant"
		}
	case s.denies:
		return "access_denied"
	case s.undecided > 0:
		s.undecided--
		return "authorization_pending"
	}
	return ""
}

// fakeauth starts an MCP server that wants a login, at $FAKE, and its authorization
// server, or does something to the one that runs.
func fakeauth(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: fakeauth [FLAG…] | stop | end | asked GRANT…")
	}
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		actOnIssuer(ts, args)
		return
	}
	s := newIssuer()
	for ; len(args) > 0; args = args[1:] {
		flag, value, _ := strings.Cut(args[0], "=")
		var err error
		switch flag {
		case "-no-registration":
			s.noRegistration = true
		case "-denies":
			s.denies = true
		case "-device":
			s.device = true
			s.undecided, err = strconv.Atoi(value)
		case "-no-refresh":
			s.noRefresh = true
		case "-unnamed":
			s.unnamed = true
		case "-lifetime":
			s.lifetime, err = strconv.Atoi(value)
		case "-by-hand":
			s.valid = append(s.valid, value)
		default:
			ts.Fatalf("fakeauth: unknown flag %s", flag)
		}
		ts.Check(err)
	}
	fake := s.start()
	ts.Defer(s.Close)
	ts.Defer(fake.Close)
	ts.Setenv("ISSUER", s.URL)
	ts.Setenv("FAKE", fake.URL)
	issuers.Store(ts, s)
	ts.Defer(func() { issuers.Delete(ts) })
}

// start starts both servers, and returns the MCP server.
func (s *issuer) start() *httptest.Server {
	s.Server = httptest.NewServer(s)
	mcp := runtimetest.New().Handler(runtimetest.HTTPOptions{})
	fake := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/.well-known/") && (s.unnamed || !strings.HasSuffix(r.URL.Path, "/oauth-protected-resource")) {
			http.NotFound(w, r)
			return
		}
		if r.URL.Path == "/token" { // nobody has said that tokens are to be had here
			s.mu.Lock()
			s.log = append(s.log, "of-the-server")
			s.mu.Unlock()
		}
		if r.URL.Path == "/.well-known/oauth-protected-resource" {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(map[string]any{"resource": s.resource, "authorization_servers": []string{s.URL}})
			return
		}
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		s.mu.Lock()
		ok := slices.Contains(s.valid, token)
		s.mu.Unlock()
		if !ok {
			w.Header().Set("WWW-Authenticate", "Bearer")
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		mcp.ServeHTTP(w, r)
	}))
	if !s.unnamed {
		s.resource = "http://" + fake.Listener.Addr().String()
	}
	fake.Start()
	return fake
}

// issuers are those of the scripts that run.
var issuers sync.Map

func actOnIssuer(ts *testscript.TestScript, args []string) {
	v, ok := issuers.Load(ts)
	if !ok {
		ts.Fatalf("fakeauth: none runs")
	}
	s := v.(*issuer)
	if args[0] == "stop" {
		s.Close()
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch args[0] {
	case "end": // of all tokens
		s.valid = nil
	case "allow":
		s.valid = append(s.valid, args[1:]...)
	case "asked":
		if got, want := strings.Join(s.log, " "), strings.Join(args[1:], " "); got != want {
			ts.Fatalf("tokens were asked for with %q, want %q", got, want)
		}
		s.log = nil
	default:
		ts.Fatalf("fakeauth: unknown word %s", args[0])
	}
}

// takeport listens on a port of this machine until the script ends.
func takeport(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: takeport VARIABLE")
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { _ = l.Close() })
	_, port, err := net.SplitHostPort(l.Addr().String())
	ts.Check(err)
	ts.Setenv(args[0], port)
}

// fakeBrowser is a browser whose user agrees to everything.
func fakeBrowser() {
	c := &http.Client{Timeout: wire.Limit}
	resp, err := c.Get(os.Args[len(os.Args)-1])
	if err == nil {
		_ = resp.Body.Close()
	}
}
