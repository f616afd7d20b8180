package authn

import (
	"context"
	"crypto/x509"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/test/pki"
)

const proxy, other = "10.0.0.5:4711", "10.0.0.6:4711"

func headers() *Forwarded {
	return NewForwarded(ForwardedOptions{From: []netip.Prefix{netip.MustParsePrefix("10.0.0.5/32"), netip.MustParsePrefix("fd00::/16")}, User: "X-Forwarded-User", Groups: "X-Forwarded-Groups"})
}

// request returns the credential of a request from a peer, with the lines of a header
// under the names that net/http gives them.
func request(peer string, lines ...string) access.Credential {
	h := http.Header{}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		h[http.CanonicalHeaderKey(name)] = append(h[http.CanonicalHeaderKey(name)], value)
	}
	return access.Credential{Peer: peer, Header: h}
}

// ask asks as an authenticator does: of a credential that the provider is not for, there is none.
func ask(p *Forwarded, c access.Credential) (*access.Principal, *access.Refusal) {
	who, no := p.Principal(context.Background(), c)
	if who == nil && no == nil {
		return nil, access.ErrNoCredential
	}
	return who, no
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", maxName+1)
	for name, c := range map[string]struct {
		from  string
		lines []string
		want  string // ID and groups, or a status
	}{
		"a user":                 {proxy, []string{"X-Forwarded-User: alice"}, "proxy|alice"},
		"groups":                 {proxy, []string{"X-Forwarded-User: alice", "X-Forwarded-Groups: b, a,,a "}, "proxy|alice a b"},
		"in another case":        {proxy, []string{"x-forwarded-user: alice"}, "proxy|alice"},
		"mapped to IPv6":         {"[::ffff:10.0.0.5]:1", []string{"X-Forwarded-User: alice"}, "proxy|alice"},
		"IPv6 with a zone":       {"[fd00::1%eth0]:1", []string{"X-Forwarded-User: alice"}, "proxy|alice"},
		"a name with spaces":     {proxy, []string{"X-Forwarded-User: Ann Lee"}, "proxy|Ann Lee"},
		"beyond ASCII":           {proxy, []string{"X-Forwarded-User: Zoë"}, "proxy|Zoë"},
		"nobody":                 {proxy, nil, "401"},
		"an empty user":          {proxy, []string{"X-Forwarded-User:  "}, "401"},
		"groups of nobody":       {proxy, []string{"X-Forwarded-Groups: admins"}, "400"},
		"two users":              {proxy, []string{"X-Forwarded-User: alice", "X-Forwarded-User: bob"}, "400"},
		"two equal users":        {proxy, []string{"X-Forwarded-User: alice", "X-Forwarded-User: alice"}, "400"},
		"joined":                 {proxy, []string{"X-Forwarded-User: alice, bob"}, "400"},
		"two lines of groups":    {proxy, []string{"X-Forwarded-User: alice", "X-Forwarded-Groups: a", "X-Forwarded-Groups: b"}, "400"},
		"an underscore beside":   {proxy, []string{"X-Forwarded-User: alice", "X-Forwarded_User: root"}, "400"},
		"an underscore alone":    {proxy, []string{"X_Forwarded_User: root"}, "400"},
		"groups by underscore":   {proxy, []string{"X-Forwarded-User: alice", "X_Forwarded_Groups: admins"}, "400"},
		"control bytes":          {proxy, []string{"X-Forwarded-User: al\x00ice"}, "400"},
		"a line feed":            {proxy, []string{"X-Forwarded-User: alice\nX: y"}, "400"},
		"turned around":          {proxy, []string{"X-Forwarded-User: al\u202eice"}, "400"},
		"no UTF-8":               {proxy, []string{"X-Forwarded-User: al\xffice"}, "400"},
		"too long":               {proxy, []string{"X-Forwarded-User: " + long}, "400"},
		"too long a group":       {proxy, []string{"X-Forwarded-User: alice", "X-Forwarded-Groups: " + long}, "400"},
		"too many groups":        {proxy, []string{"X-Forwarded-User: alice", "X-Forwarded-Groups: " + strings.Repeat("a,", maxGroups+1)}, "400"},
		"from another":           {other, []string{"X-Forwarded-User: alice"}, "401"},
		"said to be from there":  {other, []string{"X-Forwarded-User: alice", "X-Forwarded-For: 10.0.0.5", "X-Real-Ip: 10.0.0.5", "Forwarded: for=10.0.0.5"}, "401"},
		"doubled from another":   {other, []string{"X-Forwarded-User: alice", "X-Forwarded-User: bob"}, "401"},
		"from a socket":          {"@", []string{"X-Forwarded-User: alice"}, "401"},
		"from nowhere":           {"", []string{"X-Forwarded-User: alice"}, "401"},
		"from an odd address":    {"10.0.0.5", []string{"X-Forwarded-User: alice"}, "401"},
		"the name of the header": {proxy, []string{"X-Forwarded-Users: alice", "X-Forwarded-Use: bob"}, "401"},
	} {
		who, no := ask(headers(), request(c.from, c.lines...))
		got := ""
		switch {
		case no != nil:
			got = http.StatusText(no.Status)
			if c.want == "400" || c.want == "401" {
				c.want = http.StatusText(map[string]int{"400": 400, "401": 401}[c.want])
			}
		default:
			got = strings.TrimSpace(who.ID + " " + strings.Join(who.Groups, " "))
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

// TestBeside: a token beside a header leaves open who asks.
func TestTwoProviders(t *testing.T) {
	t.Parallel()
	p := headers()
	c := request(proxy, "X-Forwarded-User: alice")
	c.Bearer = "x"
	if who, no := ask(p, c); who != nil || no != ErrUnclear {
		t.Errorf("got %v, %v", who, no)
	}
	token := request(proxy)
	token.Bearer = "x"
	c.Peer = other
	for _, c := range []access.Credential{token, c} {
		if who, no := p.Principal(t.Context(), c); who != nil || no != nil {
			t.Errorf("a token is for another provider: got %v, %v", who, no)
		}
	}
}

// TestIgnored: what is not from a proxy is counted.
func TestIgnored(t *testing.T) {
	t.Parallel()
	p := headers()
	for _, c := range []access.Credential{request(other, "X-Forwarded-User: a"), request(other, "X_Forwarded_Groups: a"), request(other), request(proxy, "X-Forwarded-User: a")} {
		_, _ = ask(p, c)
	}
	if n := p.Ignored(); n != 2 {
		t.Errorf("got %d, want 2", n)
	}
}

// TestNamed: a proxy that is known by its socket or its certificate is nobody itself.
func TestNamed(t *testing.T) {
	t.Parallel()
	root := pki.New(t, "root")
	leaf := func(l pki.Leaf) *x509.Certificate { return root.Issue(t, l).Leaf }
	p := NewForwarded(ForwardedOptions{Names: []string{"proxy.corp"}, Unix: true, User: "X-User"})
	own, stranger := leaf(pki.Leaf{DNS: []string{"proxy.corp"}}), leaf(pki.Leaf{DNS: []string{"a.corp"}, Common: "proxy.corp"})
	for name, c := range map[string]struct {
		cert  *x509.Certificate
		peer  string
		lines []string
		own   bool // it is for the provider
		id    string
	}{
		"its certificate":         {own, other, []string{"X-User: alice"}, true, "proxy|alice"},
		"it says nothing":         {own, other, nil, true, ""},
		"another certificate":     {stranger, other, []string{"X-User: alice"}, false, ""},
		"another, nothing":        {stranger, other, nil, false, ""},
		"no certificate":          {nil, other, []string{"X-User: alice"}, false, ""},
		"a socket":                {nil, "@", []string{"X-User: alice"}, true, "proxy|alice"},
		"a socket without a name": {nil, "", []string{"X-User: alice"}, true, "proxy|alice"},
		"a socket says nothing":   {nil, "/run/a.sock", nil, true, ""},
		"an address is no socket": {nil, "[::1]:1", []string{"X-User: alice"}, false, ""},
	} {
		cred := request(c.peer, c.lines...)
		cred.Certificate = c.cert
		if who, no := p.Principal(t.Context(), cred); (who != nil || no != nil) != c.own {
			t.Errorf("%s: got %v, %v", name, who, no)
		}
		if who, _ := ask(p, cred); (who == nil) != (c.id == "") || who != nil && who.ID != c.id {
			t.Errorf("%s: got %v", name, who)
		}
	}
}

// signed is a verifier that knows one token.
type signed struct{ who *access.Principal }

func (s signed) Token(_ context.Context, text string, _ *x509.Certificate) (*access.Principal, *access.Refusal) {
	if text == "good" {
		return s.who, nil
	}
	return nil, access.ErrUnknownToken
}

func (s signed) Valid(p *access.Principal) bool { return p == s.who }

// TestAssertion: a token is verified, whoever sends it, or only of those who may.
func TestAssertion(t *testing.T) {
	t.Parallel()
	who := &access.Principal{ID: "https://idp|1", Provider: "proxy"}
	from := headers().o.From
	anyone := NewForwarded(ForwardedOptions{Assertion: "X-Assertion", Tokens: signed{who}})
	some := NewForwarded(ForwardedOptions{Assertion: "X-Assertion", Tokens: signed{who}, From: from})
	for name, c := range map[string]struct {
		p     *Forwarded
		peer  string
		lines []string
		want  *access.Refusal
	}{
		"good":               {anyone, other, []string{"X-Assertion: good"}, nil},
		"bad":                {anyone, other, []string{"X-Assertion: bad"}, access.ErrUnknownToken},
		"none":               {anyone, other, nil, access.ErrNoCredential},
		"empty":              {anyone, other, []string{"X-Assertion: "}, ErrUnclear},
		"twice":              {anyone, other, []string{"X-Assertion: good", "X-Assertion: good"}, ErrUnclear},
		"joined":             {anyone, other, []string{"X-Assertion: good, good"}, ErrUnclear},
		"by underscore":      {anyone, other, []string{"X_Assertion: good"}, ErrUnclear},
		"of a proxy":         {some, proxy, []string{"X-Assertion: good"}, nil},
		"of another":         {some, other, []string{"X-Assertion: good"}, access.ErrNoCredential},
		"a user says little": {anyone, other, []string{"X-Forwarded-User: root"}, access.ErrNoCredential},
	} {
		got, no := ask(c.p, request(c.peer, c.lines...))
		if no != c.want || (got == who) != (c.want == nil) {
			t.Errorf("%s: got %v, %v", name, got, no)
		}
	}
	if !anyone.Valid(who) || anyone.Valid(&access.Principal{ID: who.ID}) {
		t.Error("whether it is valid is not asked of who has verified it")
	}
}

func TestRemembered(t *testing.T) {
	p := headers()
	c := request(proxy, "X-Forwarded-User: alice", "X-Forwarded-Groups: a,b", "Accept: */*", "Content-Type: application/json")
	first, _ := ask(p, c)
	if again, _ := ask(p, c); again != first {
		t.Error("it is not remembered")
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = ask(p, c) }); n > 0 {
		t.Errorf("got %v allocations", n)
	}
	for i := range maxCached + 5 {
		_, _ = p.of(map[string][]string{"X-Forwarded-User": {strings.Repeat("a", i%200+1) + string(rune('b'+i%20000))}})
	}
	if n := len(p.seen.of); n > maxCached {
		t.Errorf("%d are remembered", n)
	}
}

func BenchmarkHeaders(b *testing.B) {
	p := headers()
	c := request(proxy, "X-Forwarded-User: alice", "X-Forwarded-Groups: a,b", "Accept: */*", "Content-Type: application/json", "Mcp-Session-Id: x", "User-Agent: y")
	b.ReportAllocs()
	for b.Loop() {
		_, _ = ask(p, c)
	}
}

// FuzzHeaders: no lines but one with one name make a principal of that name.
func FuzzHeaders(f *testing.F) {
	f.Add("X-Forwarded-User", "alice", "X-Forwarded_User", "root", true)
	f.Add("x-forwarded-groups", "a,b", "X-Forwarded-User", "a, b", true)
	f.Add("Forwarded", "for=10.0.0.5", "X-Forwarded-User", "alice", false)
	p := headers()
	f.Fuzz(func(t *testing.T, name1, value1, name2, value2 string, trusted bool) {
		peer := other
		if trusted {
			peer = proxy
		}
		h := http.Header{}
		h.Add(name1, value1)
		h.Add(name2, value2)
		who, no := ask(p, access.Credential{Peer: peer, Header: h})
		if who == nil {
			if no == nil {
				t.Error("neither a principal nor a refusal")
			}
			return
		}
		users := h["X-Forwarded-User"]
		if !trusted || len(users) != 1 || who.Name != strings.TrimSpace(users[0]) || who.ID != "proxy|"+who.Name || strings.ContainsAny(who.ID, ",\r\n\x00") {
			t.Errorf("%v: got %+v", h, who)
		}
		for name := range h {
			if strings.EqualFold(strings.ReplaceAll(name, "_", "-"), "X-Forwarded-User") && name != "X-Forwarded-User" {
				t.Errorf("%v: got %+v", h, who)
			}
		}
	})
}
