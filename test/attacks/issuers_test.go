//go:build attacks && linux

package attacks_test

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/idp"
	"github.com/mcpctl/mcpctl/test/pki"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
	"github.com/mcpctl/mcpctl/test/wire"
)

// audience is what the gates of issuers are called in tokens.
const audience = "https://mcp.example.com/mcp"

// issuerGate is a gate whose tokens come from two issuers.
type issuerGate struct {
	*gate
	one, other *idp.Server
	keys       map[string]*idp.Key // of one
}

// issuerGate returns the one that cases share: it has static tokens and certificates, too.
func (s *stage) issuerGate() *issuerGate {
	s.mu.Lock()
	g := s.issuers
	s.mu.Unlock()
	if g != nil {
		return g
	}
	g = newIssuerGate(s.t)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.issuers = g
	return g
}

func newIssuerGate(t testing.TB) *issuerGate {
	t.Helper()
	g := &issuerGate{keys: map[string]*idp.Key{}}
	var all []*idp.Key
	for _, alg := range []string{"ES256", "ES384", "RS256", "EdDSA"} {
		g.keys[alg] = idp.NewKey("key-"+alg, alg)
		all = append(all, g.keys[alg])
	}
	g.one, g.other = idp.NewServer(all...), idp.NewServer(idp.NewKey("theirs", "ES256"))
	t.Cleanup(g.one.Close)
	t.Cleanup(g.other.Close)
	g.gate = newGate(t, "url: "+audience, "tls: {cert: cert.pem, key: key.pem, clientCA: ca.pem, minVersion: \"1.2\"}", "auth:",
		"  - jwt: {name: idp, issuer: "+g.one.URL+", scopes: [mcp], groupsClaim: groups, emailDomains: [example.com]}",
		"  - jwt: {name: other, issuer: "+g.other.URL+"}",
		"  - token: {}", "  - mtls: {from: [uri, dns]}")
	return g
}

// claims are those of a token that is accepted, with some changed; nil removes one.
func (g *issuerGate) claims(change idp.Claims) idp.Claims {
	now := time.Now().Unix()
	c := idp.Claims{"iss": g.one.URL, "aud": audience, "sub": "alice", "exp": now + 600, "iat": now, "scope": "mcp", "client_id": "host"}
	for name, v := range change {
		if c[name] = v; v == nil {
			delete(c, name)
		}
	}
	return c
}

// call is a request with a token.
func call(lines ...string) string {
	return wire.RawPost("/mcp", tool("1", "good__echo", `{}`), append([]string{local, isJSON, accepts}, lines...)...)
}

func bearer(token string) string { return "Authorization: Bearer " + token }

// issued are tokens of issuers that must not let anybody in.
func issued() class {
	c := class{name: "issued"}
	add := func(name, want string, token func(g *issuerGate) string) {
		c.cases = append(c.cases, attack{name: name, do: func(t *testing.T, s *stage) {
			g := s.issuerGate()
			text := token(g)
			g.untouched(t, func() {
				res := g.exchange(t, call(bearer(text)))
				expectRefusal(t, res, want)
				if parts := strings.Split(text, "."); len(parts) == 3 && len(parts[1]) > 20 && strings.Contains(fmt.Sprint(res), parts[1]) {
					t.Errorf("the answer has the token: %s", res.Body)
				}
				if res.Status == 401 && !strings.Contains(res.Header.Get("WWW-Authenticate"), `resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"`) {
					t.Errorf("challenge %q", res.Header.Get("WWW-Authenticate"))
				}
			})
		}})
	}
	const refused = "401 invalid_token"
	changed := func(name, want string, change idp.Claims) {
		add(name, want, func(g *issuerGate) string { return g.keys["ES256"].Sign(g.claims(change), nil) })
	}
	header := func(name string, change idp.Claims) {
		add(name, refused, func(g *issuerGate) string { return g.keys["ES256"].Sign(g.claims(nil), change) })
	}
	for name, good := range map[string]func(g *issuerGate) string{
		"ES256": func(g *issuerGate) string { return g.keys["ES256"].Sign(g.claims(nil), nil) },
		"ES384": func(g *issuerGate) string { return g.keys["ES384"].Sign(g.claims(nil), nil) },
		"RS256": func(g *issuerGate) string { return g.keys["RS256"].Sign(g.claims(nil), nil) },
		"EdDSA": func(g *issuerGate) string { return g.keys["EdDSA"].Sign(g.claims(nil), nil) },
		"several audiences": func(g *issuerGate) string {
			return g.keys["ES256"].Sign(g.claims(idp.Claims{"aud": []string{"x", audience}}), nil)
		},
		"the type JWT": func(g *issuerGate) string { return g.keys["ES256"].Sign(g.claims(nil), idp.Claims{"typ": "JWT"}) },
		"scopes as a list": func(g *issuerGate) string {
			return g.keys["ES256"].Sign(g.claims(idp.Claims{"scope": nil, "scp": []string{"mcp"}}), nil)
		},
		"the other issuer's": func(g *issuerGate) string { return g.other.Keys[0].Sign(g.claims(idp.Claims{"iss": g.other.URL}), nil) },
	} {
		c.cases = append(c.cases, attack{name: "let in: " + name, do: func(t *testing.T, s *stage) {
			g := s.issuerGate()
			expect(t, g.exchange(t, call(bearer(good(g)))), "200 result good ")
		}})
	}

	// Algorithms and keys.
	public := func(g *issuerGate, alg string) []byte {
		return []byte(fmt.Sprint(g.keys[alg].JWK()["n"], g.keys[alg].JWK()["x"]))
	}
	add("HS256 with the public key", refused, func(g *issuerGate) string {
		return idp.Secret("key-RS256", public(g, "RS256")).Sign(g.claims(nil), nil)
	})
	add("HS256 with the published set", refused, func(g *issuerGate) string {
		return idp.Secret("key-RS256", idp.Set(g.keys["RS256"])).Sign(g.claims(nil), nil)
	})
	add("HS256 with an empty secret", refused, func(g *issuerGate) string { return idp.Secret("key-RS256", nil).Sign(g.claims(nil), nil) })
	for _, alg := range []string{"none", "None", "NONE", "", "HS256", "HS512", "RS1", "ES512", "ES256K", "PS512", "dir", "RSA1_5"} {
		add("the algorithm "+wire.Quote(alg)+" without a signature", refused, func(g *issuerGate) string {
			parts := strings.Split(g.keys["ES256"].Sign(g.claims(nil), idp.Claims{"alg": alg}), ".")
			return parts[0] + "." + parts[1] + "."
		})
	}
	add("the algorithm is left out", refused, func(g *issuerGate) string { return g.keys["ES256"].Sign(g.claims(nil), idp.Claims{"alg": nil}) })
	add("the algorithm is a list", refused, func(g *issuerGate) string {
		return g.keys["ES256"].Sign(g.claims(nil), idp.Claims{"alg": []string{"ES256"}})
	})
	add("PS256 with a key for RS256", refused, func(g *issuerGate) string { return g.keys["RS256"].With("PS256").Sign(g.claims(nil), nil) })
	add("RS256 said of a key for ES256", refused, func(g *issuerGate) string { return g.keys["ES256"].Sign(g.claims(nil), idp.Claims{"alg": "RS256"}) })
	add("ES256 said of a key for ES384", refused, func(g *issuerGate) string { return g.keys["ES384"].Sign(g.claims(nil), idp.Claims{"alg": "ES256"}) })
	add("a key of the attacker's under a known id", refused, func(g *issuerGate) string { return idp.NewKey("key-ES256", "ES256").Sign(g.claims(nil), nil) })
	add("a key of the other issuer", refused, func(g *issuerGate) string { return g.other.Keys[0].Sign(g.claims(nil), nil) })
	add("a key of the other issuer under an id of this", refused, func(g *issuerGate) string {
		return g.other.Keys[0].Sign(g.claims(nil), idp.Claims{"kid": "key-ES256"})
	})
	add("a key in the header", refused, func(g *issuerGate) string {
		k := idp.NewKey("mine", "ES256")
		return k.Sign(g.claims(nil), idp.Claims{"jwk": k.JWK(), "kid": nil})
	})
	add("a key in the header under a known id", refused, func(g *issuerGate) string {
		k := idp.NewKey("key-ES256", "ES256")
		return k.Sign(g.claims(nil), idp.Claims{"jwk": k.JWK()})
	})
	for _, name := range []string{"jku", "x5u"} {
		c.cases = append(c.cases, attack{name: "keys at a place that the token names: " + name, do: func(t *testing.T, s *stage) {
			g := s.issuerGate()
			k := idp.NewKey("mine", "ES256")
			theirs := idp.NewServer(k)
			defer theirs.Close()
			g.refuses(t, call(bearer(k.Sign(g.claims(nil), idp.Claims{name: theirs.URL + "/jwks"}))), refused)
			if n := theirs.Asked("/jwks"); n > 0 {
				t.Errorf("it was asked %d times", n)
			}
		}})
	}
	for name, kid := range map[string]any{
		"a path": "../../../../dev/null", "an expression": "x' UNION SELECT 'a", "a URL": "http://169.254.169.254/", "a number": 1, "null": "\x00", "long": strings.Repeat("k", 4000), "a list": []string{"key-ES256"}, "a star": "*",
	} {
		header("a key id that is "+name, idp.Claims{"kid": kid})
	}
	header("something critical that is not known", idp.Claims{"crit": []string{"exp"}, "exp": 1})
	header("a list of critical things that is empty", idp.Claims{"crit": []string{}})
	header("the type of an ID token of logout", idp.Claims{"typ": "logout+jwt"})
	header("the type of a proof", idp.Claims{"typ": "dpop+jwt"})
	header("the type of a request", idp.Claims{"typ": "oauth-authz-req+jwt"})
	header("a payload that is not encoded", idp.Claims{"b64": false, "crit": []string{"b64"}})
	// Forms.
	add("a signature with a letter changed", refused, func(g *issuerGate) string {
		text := g.keys["ES256"].Sign(g.claims(nil), nil)
		return change(text, len(text)-20)
	})
	add("claims with a letter changed", refused, func(g *issuerGate) string {
		parts := strings.Split(g.keys["ES256"].Sign(g.claims(nil), nil), ".")
		return parts[0] + "." + change(parts[1], len(parts[1])-3) + "." + parts[2]
	})
	add("a signature of zeros", refused, func(g *issuerGate) string {
		parts := strings.Split(g.keys["ES256"].Sign(g.claims(nil), nil), ".")
		return parts[0] + "." + parts[1] + "." + strings.Repeat("A", 86)
	})
	add("the signature of another token", refused, func(g *issuerGate) string {
		one, two := g.keys["ES256"].Sign(g.claims(nil), nil), g.keys["ES256"].Sign(g.claims(idp.Claims{"sub": "root"}), nil)
		return two[:strings.LastIndexByte(two, '.')] + one[strings.LastIndexByte(one, '.'):]
	})
	add("four parts", refused, func(g *issuerGate) string { return g.keys["ES256"].Sign(g.claims(nil), nil) + ".e30" })
	add("five parts", refused, func(g *issuerGate) string { return g.keys["ES256"].Sign(g.claims(nil), nil) + ".e30.e30" })
	for _, alg := range []string{"ES256", "ES384", "RS256", "EdDSA"} {
		// 64 and 256 bytes leave four bits of the last letter unused, 96 leave none.
		if alg != "ES384" {
			add("a signature with unused bits, "+alg, refused, func(g *issuerGate) string {
				const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
				token := g.keys[alg].Sign(g.claims(nil), nil)
				last := strings.IndexByte(letters, token[len(token)-1])
				return token[:len(token)-1] + letters[last+1:last+2]
			})
		}
		add("a signature in the alphabet of ordinary base64, "+alg, refused, func(g *issuerGate) string {
			for n := 0; ; n++ { // until it has one of the letters that differ
				token := g.keys[alg].Sign(g.claims(idp.Claims{"jti": fmt.Sprint(n)}), nil)
				signed := token[:strings.LastIndexByte(token, '.')+1]
				if other := strings.NewReplacer("-", "+", "_", "/").Replace(token[len(signed):]); signed+other != token {
					return signed + other
				}
			}
		})
	}
	add("padding", refused, func(g *issuerGate) string { return g.keys["ES256"].Sign(g.claims(nil), nil) + "=" })
	add("17 KiB", "400|401 any", func(g *issuerGate) string {
		return g.keys["ES256"].Sign(g.claims(idp.Claims{"x": strings.Repeat("x", 13<<10)}), nil)
	})
	add("a header twice the algorithm", refused, func(g *issuerGate) string {
		return g.keys["ES256"].SignBoth(`{"alg":"ES256","alg":"none","typ":"at+jwt","kid":"key-ES256"}`, mustJSON(g.claims(nil)))
	})
	for _, name := range []string{"aud", "iss", "sub", "exp", "scope"} {
		add("claims twice: "+name, refused, func(g *issuerGate) string {
			text := mustJSON(g.claims(nil))
			return g.keys["ES256"].SignText(text[:len(text)-1]+`,"`+name+`":`+mustJSON(g.claims(nil)[name])+`}`, nil)
		})
	}
	for name, text := range map[string]string{"a list": "[]", "a text": `"x"`, "null": "null", "nothing": "", "half": `{"iss":`, "two objects": "{}{}"} {
		add("claims that are "+name, refused, func(g *issuerGate) string { return g.keys["ES256"].SignText(text, nil) })
	}
	// Whose, for whom, how long.
	for name, aud := range map[string]any{
		"another": "https://other.example.com/mcp", "nobody": nil, "empty": "", "a prefix": "https://mcp.example.com", "a slash behind": audience + "/", "a path behind": audience + "/x", "in capitals": strings.ToUpper(audience),
		"http": "http://mcp.example.com/mcp", "a port": "https://mcp.example.com:443/mcp", "a suffix": "evil" + audience, "a star": "*", "an empty list": []string{}, "a list of others": []string{"a", "b"}, "an object": map[string]string{"a": audience}, "a number": 1,
		"a list with a number": []any{1, audience}, "all in one text": "x " + audience, "the issuer": "http://127.0.0.1",
	} {
		changed("an audience: "+name, refused, idp.Claims{"aud": aud})
	}
	for name, of := range map[string]func(g *issuerGate) string{
		"a slash behind": func(g *issuerGate) string { return g.one.URL + "/" }, "in capitals": func(g *issuerGate) string { return strings.ToUpper(g.one.URL) }, "the other's": func(g *issuerGate) string { return g.other.URL },
		"nobody configured": func(*issuerGate) string { return "https://evil.example" }, "with a user": func(g *issuerGate) string { return strings.Replace(g.one.URL, "://", "://x@", 1) }, "localhost": func(g *issuerGate) string { return strings.Replace(g.one.URL, "127.0.0.1", "localhost", 1) },
		"empty": func(*issuerGate) string { return "" },
	} {
		add("an issuer: "+name, refused, func(g *issuerGate) string { return g.keys["ES256"].Sign(g.claims(idp.Claims{"iss": of(g)}), nil) })
	}
	now := time.Now().Unix()
	for name, exp := range map[string]any{
		"past": now - 10, "long past": 1, "zero": 0, "negative": -1, "a text": fmt.Sprint(now + 600), "1e20": 1e20, "null": nil, "a list": []int64{now + 600}, "true": true, "in milliseconds": (now + 600) * 1000, "an object": map[string]int64{"a": now},
	} {
		changed("an end: "+name, refused, idp.Claims{"exp": exp})
	}
	changed("a start that is to come", refused, idp.Claims{"nbf": now + 3600})
	changed("issued in an hour", refused, idp.Claims{"iat": now + 3600})
	changed("a start that is a text", refused, idp.Claims{"nbf": "now"})
	for name, sub := range map[string]any{"none": nil, "empty": "", "a number": 7, "a list": []string{"alice"}, "with a line end": "alice\nbob", "with an escape": "alice\x1b[2J", "of 10,000 letters": strings.Repeat("a", 10_000)} {
		changed("a subject: "+name, refused, idp.Claims{"sub": sub})
	}
	changed("an ID token, by its nonce", refused, idp.Claims{"nonce": "n"})
	changed("an ID token, by at_hash", refused, idp.Claims{"at_hash": "h"})
	changed("bound to a certificate, without one", refused, idp.Claims{"cnf": map[string]string{"x5t#S256": strings.Repeat("A", 43)}})
	changed("bound to a key, without a proof", refused, idp.Claims{"cnf": map[string]string{"jkt": strings.Repeat("A", 43)}})
	changed("without the scope", "403 insufficient_scope", idp.Claims{"scope": "other"})
	changed("with a scope that begins like it", "403 insufficient_scope", idp.Claims{"scope": "mcpx mc"})
	changed("with no scope", "403 insufficient_scope", idp.Claims{"scope": nil})
	changed("with the scope in capitals", "403 insufficient_scope", idp.Claims{"scope": "MCP"})
	changed("groups that are an object", refused, idp.Claims{"groups": map[string]any{"a": 1}})
	changed("groups that are left out as too many", refused, idp.Claims{"_claim_names": map[string]string{"groups": "src1"}, "_claim_sources": map[string]any{"src1": map[string]string{"endpoint": "https://graph.example"}}})
	// No provider is a second try for another.
	for name, lines := range map[string]func(g *issuerGate) []string{
		"a bad JWT beside a good one": func(g *issuerGate) []string {
			return []string{bearer(g.keys["ES256"].Sign(g.claims(nil), nil)), bearer("a.b.c")}
		},
		"a good JWT beside a good token": func(g *issuerGate) []string {
			return []string{bearer(g.keys["ES256"].Sign(g.claims(nil), nil)), g.as("alice")}
		},
		"a JWT as a static token": func(g *issuerGate) []string {
			return []string{bearer("mcpctl_" + g.keys["ES256"].Sign(g.claims(nil), nil))}
		},
		"a static token with dots":            func(g *issuerGate) []string { return []string{g.as("alice") + ".a.b"} },
		"a revoked token, issuers configured": func(g *issuerGate) []string { return []string{g.as(revokedToken)} },
	} {
		c.cases = append(c.cases, attack{name: "no second try: " + name, do: func(t *testing.T, s *stage) {
			g := s.issuerGate()
			g.refuses(t, call(lines(g)...), "400|401 any")
		}})
	}
	c.cases = append(c.cases, attack{name: "nothing of a token gets out", do: func(t *testing.T, s *stage) {
		g := s.issuerGate()
		var all []string
		for _, change := range []idp.Claims{nil, {"exp": 1}, {"aud": "x"}, {"scope": "x"}, {"nonce": "n"}} {
			all = append(all, g.keys["ES256"].Sign(g.claims(change), nil))
		}
		for _, token := range all {
			for _, k := range knocks() {
				g.exchange(t, k.request(bearer(token)))
			}
			g.exchange(t, wire.RawPost("/mcp?access_token="+token, ping, local, isJSON, accepts))
			g.exchange(t, wire.RawPost("/"+token, ping, local, isJSON, accepts))
		}
		expect(t, g.exchange(t, call(bearer(all[0]))), "200 result good ")
		heard, err := os.ReadFile(g.heard)
		require.NoError(t, err)
		places := map[string]string{"the log": g.Stderr.String(), "a server": string(heard)}
		for _, words := range []string{"status --json", "doctor --json", "doctor"} {
			places[words] = g.home.mcpctl(t, "", strings.Fields(words)...).output()
		}
		for where, text := range places {
			for _, token := range all {
				parts := strings.Split(token, ".")
				if strings.Contains(text, parts[2]) || strings.Contains(text, parts[1]) {
					t.Errorf("%s has a token", where)
				}
			}
		}
	}})
	for _, k := range knocks() {
		c.cases = append(c.cases, attack{name: "a token of the past: " + k.name, do: func(t *testing.T, s *stage) {
			g := s.issuerGate()
			g.refuses(t, k.request(bearer(g.keys["ES256"].Sign(g.claims(idp.Claims{"exp": now - 10}), nil))), refused+" expired")
		}})
	}
	return c
}

func mustJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // it always has a JSON form
	}
	return string(raw)
}

// published are keys that change, and that cannot be had.
func published() class {
	c := class{name: "published", apart: true}
	add := func(name string, slow bool, do func(t *testing.T, g *issuerGate)) {
		c.cases = append(c.cases, attack{name: name, slow: slow, do: func(t *testing.T, _ *stage) { do(t, newIssuerGate(t)) }})
	}
	add("10,000 ids of keys that nobody has", false, func(t *testing.T, g *issuerGate) {
		expect(t, g.exchange(t, call(bearer(g.keys["ES256"].Sign(g.claims(nil), nil)))), "200 result")
		before := g.one.Asked("/jwks")
		tr := &http.Transport{TLSClientConfig: g.ca.Client(), MaxIdleConnsPerHost: 8}
		defer tr.CloseIdleConnections()
		n := 10_000
		if testing.Short() {
			n = 400
		}
		k := idp.NewKey("x", "ES256")
		signed := k.Sign(g.claims(nil), nil)
		_, rest, _ := strings.Cut(signed, ".")
		var all sync.WaitGroup
		for w := range 8 {
			all.Go(func() {
				for i := w; i < n; i += 8 {
					head := k.SignBoth(fmt.Sprintf(`{"alg":"ES256","typ":"at+jwt","kid":"x%d"}`, i), "{}")
					head, _, _ = strings.Cut(head, ".")
					req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.URL, strings.NewReader(ping))
					if err != nil {
						t.Error(err)
						return
					}
					req.Header.Set("Authorization", "Bearer "+head+"."+rest)
					res, err := tr.RoundTrip(req)
					if err != nil {
						t.Error(err)
						return
					}
					_ = res.Body.Close()
					if res.StatusCode != http.StatusUnauthorized {
						t.Errorf("status %d", res.StatusCode)
					}
				}
			})
		}
		all.Wait()
		if asked := g.one.Asked("/jwks") - before; asked > 1 {
			t.Errorf("the keys were fetched %d times", asked)
		}
		expect(t, g.exchange(t, call(bearer(g.keys["ES256"].Sign(g.claims(nil), nil)))), "200 result")
	})
	add("a new key is found", true, func(t *testing.T, g *issuerGate) {
		expect(t, g.exchange(t, call(bearer(g.keys["ES256"].Sign(g.claims(nil), nil)))), "200 result") // the keys have been fetched
		k := idp.NewKey("new", "ES256")
		g.one.Set(func(s *idp.Server) { s.Keys = append(s.Keys, k) })
		wait.Until(t, "200", func() bool {
			return g.exchange(t, call(bearer(k.Sign(g.claims(nil), nil)))).Status == 200
		})
	})
	return c
}

// silent is an issuer that does not answer.
func silent() class {
	c := class{name: "silent", apart: true}
	for name, status := range map[string]int{"an error": 500, "nothing there": 404, "a redirect": 302} {
		c.cases = append(c.cases, attack{name: "keys that were never had: " + name, do: func(t *testing.T, _ *stage) {
			k := idp.NewKey("k", "ES256")
			s := idp.NewServer(k)
			defer s.Close()
			s.Set(func(s *idp.Server) {
				s.Status = status
				s.Header = map[string]string{"Location": "http://127.0.0.1:1/"}
			})
			good := idp.NewServer(k)
			defer good.Close()
			g := newGate(t, "url: "+audience, "auth:", "  - jwt: {name: bad, issuer: "+s.URL+"}", "  - jwt: {name: good, issuer: "+good.URL+"}")
			token := func(iss string) string {
				return k.Sign(idp.Claims{"iss": iss, "aud": audience, "sub": "a", "exp": time.Now().Unix() + 600}, nil)
			}
			for _, k := range knocks() {
				g.refuses(t, k.request(bearer(token(s.URL))), "503 temporarily_unavailable")
			}
			expect(t, g.exchange(t, call(bearer(token(good.URL)))), "200 result") // others go on
		}})
	}
	return c
}

// certified are certificates of clients.
func certified() class {
	c := class{name: "certified"}
	issue := func(name, want string, leaf func(t *testing.T, g *issuerGate) *tls.Config) {
		c.cases = append(c.cases, attack{name: name, do: func(t *testing.T, s *stage) {
			g := s.issuerGate()
			config := leaf(t, g)
			do := func() {
				res, err := g.overTLS(call(), config)
				switch {
				case err != nil && want == "401":
				case err != nil:
					t.Error(err)
				case strings.HasPrefix(want, "200"):
					expect(t, res, want)
				default:
					expectRefusal(t, res, want+" any")
				}
			}
			if strings.HasPrefix(want, "200") {
				do()
				return
			}
			g.untouched(t, do)
		}})
	}
	by := func(ca func(t *testing.T, g *issuerGate) *pki.Authority, l pki.Leaf) func(*testing.T, *issuerGate) *tls.Config {
		return func(t *testing.T, g *issuerGate) *tls.Config {
			t.Helper()
			return g.ca.Client(ca(t, g).Issue(t, l))
		}
	}
	ours := func(_ *testing.T, g *issuerGate) *pki.Authority { return g.ca }
	issue("let in: a URI", "200 result", by(ours, pki.Leaf{URI: []string{"spiffe://corp/a"}}))
	issue("let in: a DNS name", "200 result", by(ours, pki.Leaf{DNS: []string{"a.corp"}}))
	issue("of a stranger", "401", by(func(t *testing.T, _ *issuerGate) *pki.Authority { return pki.New(t, "stranger") }, pki.Leaf{DNS: []string{"a.corp"}}))
	issue("of a stranger with our name", "401", by(func(t *testing.T, _ *issuerGate) *pki.Authority { return pki.New(t, "root") }, pki.Leaf{DNS: []string{"a.corp"}}))
	issue("a common name only", "401", by(ours, pki.Leaf{Common: "a.corp"}))
	issue("mail, which does not count here", "401", by(ours, pki.Leaf{Email: []string{"a@corp"}}))
	issue("expired", "401", by(ours, pki.Leaf{DNS: []string{"a.corp"}, Begins: time.Now().Add(-2 * time.Hour), Ends: time.Now().Add(-time.Hour)}))
	issue("not yet valid", "401", by(ours, pki.Leaf{DNS: []string{"a.corp"}, Begins: time.Now().Add(time.Hour), Ends: time.Now().Add(2 * time.Hour)}))
	issue("of a server", "401", by(ours, pki.Leaf{DNS: []string{"a.corp"}, Server: true}))
	issue("two URIs", "401", by(ours, pki.Leaf{URI: []string{"spiffe://corp/a", "spiffe://corp/b"}}))
	issue("a wildcard", "401", by(ours, pki.Leaf{DNS: []string{"*.corp"}}))
	issue("with the key of another", "401", func(t *testing.T, g *issuerGate) *tls.Config {
		one, other := g.ca.Issue(t, pki.Leaf{DNS: []string{"a.corp"}}), g.ca.Issue(t, pki.Leaf{DNS: []string{"b.corp"}})
		one.PrivateKey = other.PrivateKey
		return g.ca.Client(one)
	})
	issue("of one whom we have certified for something else", "401", func(t *testing.T, g *issuerGate) *tls.Config {
		leaf := g.ca.Issue(t, pki.Leaf{DNS: []string{"a.corp"}})
		under := g.ca.Under(t, "under")
		mine := under.Issue(t, pki.Leaf{DNS: []string{"root.corp"}})
		mine.Certificate = [][]byte{mine.Certificate[0], leaf.Certificate[0]} // a leaf is in the place of its authority
		return g.ca.Client(mine)
	})
	add := func(name string, do func(t *testing.T, g *issuerGate, mine *tls.Config)) {
		c.cases = append(c.cases, attack{name: name, do: func(t *testing.T, s *stage) {
			g := s.issuerGate()
			do(t, g, g.ca.Client(g.ca.Issue(t, pki.Leaf{DNS: []string{"alice.corp"}})))
		}})
	}
	for name, token := range map[string]func(g *issuerGate) string{
		"a token of nobody": func(*issuerGate) string { return "nobody" }, "a revoked token": func(g *issuerGate) string { return g.tokens[revokedToken] }, "a JWT of the past": func(g *issuerGate) string {
			return g.keys["ES256"].Sign(g.claims(idp.Claims{"exp": 1}), nil)
		},
		"a JWT bound to another": func(g *issuerGate) string {
			return g.keys["ES256"].Sign(g.claims(idp.Claims{"cnf": map[string]string{"x5t#S256": strings.Repeat("A", 43)}}), nil)
		},
	} {
		add("a good one with "+name, func(t *testing.T, g *issuerGate, mine *tls.Config) {
			g.untouched(t, func() {
				res, err := g.overTLS(call(bearer(token(g))), mine)
				if err != nil {
					t.Fatal(err)
				}
				expectRefusal(t, res, "401 invalid_token")
			})
		})
	}
	add("let in: a JWT that is bound to it", func(t *testing.T, g *issuerGate, mine *tls.Config) {
		sum := sha256.Sum256(mine.Certificates[0].Certificate[0])
		token := g.keys["ES256"].Sign(g.claims(idp.Claims{"cnf": map[string]string{"x5t#S256": base64.RawURLEncoding.EncodeToString(sum[:])}}), nil)
		res, err := g.overTLS(call(bearer(token)), mine)
		if err != nil {
			t.Fatal(err)
		}
		expect(t, res, "200 result")
		g.refuses(t, call(bearer(token)), "401 invalid_token") // stolen
	})
	for _, line := range []string{"X-Forwarded-Client-Cert: URI=spiffe://corp/a", "X-SSL-Client-Cert: -----BEGIN CERTIFICATE-----", "X-Client-Cert-Chain: x", "Client-Cert: :MIIB:", "X-SSL-Client-Verify: SUCCESS", "X-SSL-Client-S-DN: CN=alice.corp"} {
		c.cases = append(c.cases, attack{name: "in a header: " + line, do: func(t *testing.T, s *stage) {
			g := s.issuerGate()
			g.refuses(t, call(line), "401 none")
		}})
	}
	return c
}
