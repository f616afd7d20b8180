package attacks_test

import "github.com/mcpctl/mcpctl/test/breaks"

// identityBreakages are those of who is let in, and of what belongs to whom.
func identityBreakages() []breakage {
	const (
		access  = "internal/access"
		authn   = "internal/authn"
		web     = "runtime/proxy/internal/httpserver"
		router  = "runtime/proxy/internal/router"
		gateway = "cmd/internal/gateway"
	)
	return []breakage{
		one("identity", "the stream of the old transport asks for nothing", web, "(*SSE).ServeHTTP", `principal, ok := f.o.admit(w, r)`, `var principal *access.Principal; ok := true`,
			"doors/no credential: GET sse", "doors/a revoked token: GET sse"),
		one("identity", "the messages of the old transport ask for nothing", web, "(*SSE).messages", `principal, ok := f.o.admit(w, r)`, `var principal *access.Principal; ok := true`,
			"doors/no credential: POST messages"),
		one("identity", "paths that are not there ask for nothing", web, "Guard", `return r.URL.Path == path || `, `return r.URL.Path != "" || `,
			"doors/no credential: a path that is not there", "doors/path -metrics, GET"),
		one("identity", "what comes through a proxy of this machine is let in", web, "(*AccessControl).Admit", `if w.Authenticator == nil {`, `if w.Authenticator == nil || r.Header.Get("X-Forwarded-For") == "127.0.0.1" {`,
			"doors/header X-Forwarded-For: 127.0.0.1"),
		one("identity", "everybody whom a header names is let in", web, "(*AccessControl).Admit", `if w.Authenticator == nil {`, `if w.Authenticator == nil || r.Header.Get("X-Forwarded-User") != "" {`,
			"doors/header X-Forwarded-User: alice"),
		one("identity", "a header with another path is enough", web, "(*AccessControl).Admit", `if w.Authenticator == nil {`, `if w.Authenticator == nil || r.Header.Get("X-Original-URL") != "" {`,
			"doors/header X-Original-URL: -healthz"),
		one("identity", "a session is enough", web, "(*AccessControl).Admit", `if w.Authenticator == nil {`, `if w.Authenticator == nil || r.Header.Get("Mcp-Session-Id") != "" && len(r.Header["Authorization"]) == 0 {`,
			"doors/no credential: a call in a session", "belongings/a session without its token: nobody"),
		one("identity", "a token in the URL is taken no notice of", web, "(*AccessControl).principal", `return nil, access.ErrInURL`, `_ = q`,
			"places/in the query and the header"),
		one("identity", "of several lines the first counts", web, "bearer", "default:\n\t\treturn \"\", access.ErrMalformed", "default:",
			"places/a good one first", "places/with a line in small letters"),
		one("identity", "of several tokens in a line the first counts", web, "bearer", `contains(token, ' ') || contains(token, ',') || contains(token, '\t')`, `func() bool { token, _, _ = strings.Cut(token, ","); return false }()`,
			"places/twice with a comma"),
		one("identity", "any scheme will do", web, "bearer", `if !strings.EqualFold(name, "Bearer") {`, `if name == "" {`,
			"places/with the scheme Token", "places/with the scheme DPoP"),
		one("identity", "refusals may be kept by caches", web, "(*AccessControl).refuse", `head.Set("Cache-Control", "no-store")`, `head.Set("Cache-Control", "no-cache")`,
			"doors/no credential: initialize", "places/without a scheme"),
		one("identity", "everybody is sent to log in although nothing can be checked", web, "(*AccessControl).refuse", `if refusal.Status == http.StatusServiceUnavailable {`, `if refusal.Status == 0 {`,
			"belongings/a file of tokens that cannot be read"),
		one("static tokens", "a token does not end", access, "(*Principal).Expired", `!now.Before(p.Expires)`, `now.IsZero()`,
			"doors/an expired token: a call", "doors/an expired token: GET sse"),
		one("static tokens", "the id is enough", access, "(*Tokens).Principal", `subtle.ConstantTimeCompare(sum[:], k.sum[:]) != 1`, `subtle.ConstantTimeCompare(sum[:], k.sum[:]) == 2`,
			"places/forged with a right checksum: another secret of the same id"),
		one("static tokens", "half of the hash is enough", access, "(*Tokens).Principal", `subtle.ConstantTimeCompare(sum[:], k.sum[:]) != 1`, `subtle.ConstantTimeCompare(sum[:0], k.sum[:0]) != 1`,
			"places/forged with a right checksum: one letter of the secret changed"),
		one("static tokens", "a revoked token is kept in mind", authn, "(*TokenFollower).Changed", `if before.err == nil && atomicfile.Unchanged(before.info, info) {`, `if before.err == nil {`,
			"belongings/a token that is revoked in the middle of everything"),
		one("static tokens", "a file that cannot be read changes nothing", authn, "(*TokenFollower).Changed", "seen := w.f.contents(info)\n", "seen := w.f.contents(info)\n\tif seen.err != nil {\n\t\tseen = before\n\t}\n",
			"belongings/a file of tokens that cannot be read"),
		one("static tokens", "others can read the file of tokens", "internal/atomicfile", "Update", `0o600); err != nil {`, `0o644); err != nil {`,
			"leaks/the file of tokens is its owner's"),
		one("belongings", "a session is everybody's", web, "(*sessions).get", `s.principal.Key() != principal`, `s.principal.Key() == "nobody"`,
			"belongings/a session: a call", "belongings/a session: its stream"),
		one("belongings", "anybody ends a session", web, "(*sessions).remove", `s.principal.Key() != principal`, `s.principal.Key() == "nobody"`,
			"belongings/a session: its end"),
		one("belongings", "another's session is refused in other words", web, "(*sessions).get", `return nil
	}
	if s != nil {`, `time.Sleep(time.Millisecond)
		return &session{p: s.p, who: &access.Principal{ID: principal}, id: id}
	}
	if s != nil {`,
			"belongings/a session: a ping"),
		one("belongings", "a stream of the old transport is everybody's", web, "(*SSE).messages", `s == nil || s.principal.Key() != principal.Key()`, `s == nil || principal == nil`,
			"belongings/a stream of the old transport"),
		one("belongings", "a state is everybody's", router, "(*Request).unseal", `statePurpose+r.From.Key(), sealed`, `statePurpose+"token|alice", sealed`,
			"belongings/a state of a call that waits"),
		one("belongings", "streams continue when a token has been revoked", web, "expel", `v.Expel(gone)`, `_ = v`,
			"belongings/a token that is revoked in the middle of everything"),
		one("belongings", "nobody looks for tokens that have been revoked", gateway, "(*authenticator).follow", `f.Expel(func(p *access.Principal) bool { return !d.Valid(p) })`, `_ = f`,
			"belongings/a token that is revoked in the middle of everything"),
		one("no leaks", "the log says the credential", web, "(*AccessControl).Admit", "p, refusal := w.principal(r)\n", "p, refusal := w.principal(r)\n\tprintln(r.Header.Get(\"Authorization\"))\n",
			"leaks/the log"),
		one("no leaks", "a refusal says the credential", web, "(*AccessControl).principal", `return w.Authenticator.Who(r.Context(), c)`, `p, refused := w.Authenticator.Who(r.Context(), c); if refused != nil { refused = &access.Refusal{Status: refused.Status, Code: refused.Code, Description: refused.Description + c.Bearer} }; return p, refused`,
			"leaks/answers"),
		one("tokens of issuers", "the audience is not looked at", access+"/jwt", "(*Rules).principal", `if !ok || !slices.ContainsFunc(r.Audiences,`, `if !ok && !slices.ContainsFunc(r.Audiences,`,
			"issued/an audience: another", "issued/an audience: a list of others"),
		one("tokens of issuers", "the beginning of the audience is enough", access+"/jwt", "(*Rules).principal", `return slices.Contains(audience, a)`, `return slices.ContainsFunc(audience, func(b string) bool { return len(b) > 8 && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a)) })`,
			"issued/an audience: a prefix", "issued/an audience: a slash behind"),
		one("tokens of issuers", "an ID token is accepted", access+"/jwt", "(*Rules).principal", `if c["nonce"] != nil || c["at_hash"] != nil {`, `if c["nonce"] != nil && c["at_hash"] != nil {`,
			"issued/an ID token, by its nonce", "issued/an ID token, by at_hash"),
		one("tokens of issuers", "the signature is not looked at", access+"/jwt", "(*Issuer).verify", `return err == nil
	})`, `return err == nil || len(k.thumbprint) > 0
	})`,
			"issued/a signature of zeros", "issued/a key of the attacker's under a known id"),
		one("tokens of issuers", "a key of any issuer will do", access+"/jwt", "(*Provider).verify", `i := p.issuers[t.issuer]`, "i := p.issuers[t.issuer]\n\tfor _, other := range p.issuers {\n\t\tif set := other.keys.Set(); set != nil && i != nil && set.find(t.header) != nil {\n\t\t\ti = &Issuer{i.rules, other.keys}\n\t\t}\n\t}",
			"issued/a key of the other issuer"),
		{
			defence: "tokens of issuers", name: "HS256 with the public key is accepted", below: access + "/jwt",
			edits: []breaks.Edit{
				{Decl: "algorithms", From: `jose.RS256}`, To: `jose.RS256, jose.HS256}`},
				{Decl: "(*KeySet).find", From: `slices.Contains(k.algorithms, jose.SignatureAlgorithm(h.Algorithm))`, To: `(h.Algorithm == "HS256" || slices.Contains(k.algorithms, jose.SignatureAlgorithm(h.Algorithm)))`},
				{Decl: "(*Issuer).verify", From: `_, err := signed.Verify(k.public)`, To: `var err error; if rsa, ok := k.public.(interface{ Size() int }); !ok || t.header.Algorithm != "HS256" || rsa == nil { _, err = signed.Verify(k.public) }`},
			},
			cases: []string{"issued/HS256 with the public key"},
		},
		one("tokens of issuers", "something critical is passed over", access+"/jwt", "checkHeader", `case h.Critical != nil || h.Plain != nil:`, `case h.Critical != nil && h.Plain != nil:`,
			"issued/a list of critical things that is empty"),
		one("tokens of issuers", "any type will do", access+"/jwt", "checkHeader", `case kind != "" && kind != "at+jwt" && kind != "jwt":`, `case kind == "jwe":`,
			"issued/the type of a proof", "issued/the type of an ID token of logout"),
		one("tokens of issuers", "a token of an issuer does not end", access+"/jwt", "times", `if !now.Before(expires) {`, `if expires.IsZero() {`,
			"issued/an end: past", "issued/a token of the past: GET sse"),
		one("tokens of issuers", "a token without an end is accepted", access+"/jwt", "times", `if !ok || expires.IsZero() {`, "if expires.IsZero() {\n\t\texpires = now.Add(time.Hour)\n\t}\n\tif !ok {",
			"issued/an end: null"),
		one("tokens of issuers", "a token counts before its time", access+"/jwt", "times", `case from.After(now.Add(leeway)):`, `case from.After(now.Add(leeway * 1000)):`,
			"issued/a start that is to come", "issued/issued in an hour"),
		one("tokens of issuers", "scopes are not looked at", access+"/jwt", "(*Issuer).verify", `if refusal := i.rules.missing(p); refusal != nil {`, `if refusal := i.rules.missing(p); refusal != nil && p == nil {`,
			"issued/without the scope", "issued/with no scope"),
		one("tokens of issuers", "groups that are left out are none", access+"/jwt", "(*Rules).groups", `if r.leavesOut(c) {`, `if r.leavesOut(c) && c == nil {`,
			"issued/groups that are left out as too many"),
		one("tokens of issuers", "a token of 17 KiB is read", access+"/jwt", "parse", `if len(text) > maxToken || `, `if `,
			"issued/17 KiB"),
		one("tokens of issuers", "the next provider is tried", authn, "(*Authenticator).Who", `			return principal, refusal
`, `			if principal != nil {
				return principal, nil
			}
			c.Bearer = ""
`,
			"certified/a good one with a revoked token", "certified/a good one with a JWT of the past"),
		one("tokens of issuers", "clients are sent to log in although there are no keys", access+"/jwt", "(*Issuer).find", `return nil, nil, access.ErrUnavailable`, `return nil, nil, errUnknownKey`,
			"silent/keys that were never had: an error"),
		one("tokens of issuers", "each unknown key is asked for", access+"/jwt", "minInterval", `30 * time.Second`, `time.Microsecond`,
			"published/10,000 ids of keys that nobody has"),
		{
			defence: "certificates", name: "any authority will do",
			edits: []breaks.Edit{
				{Decl: "(*TLSFiles).read", From: `tls.VerifyClientCertIfGiven`, To: `tls.RequestClientCert`},
				{Decl: "CredentialOf", From: `len(r.TLS.VerifiedChains) > 0`, To: `len(r.TLS.PeerCertificates) > 0`},
				{Decl: "(*authenticator).Who", From: `time.Now()); refusal != nil {`, To: `time.Now()); refusal != nil && c.Certificate == nil {`},
			},
			cases: []string{"certified/of a stranger", "certified/of a stranger with our name"},
		},
		one("certificates", "a common name is a name", authn, "CertificateName", `for _, kind := range kinds {`, "if c.Subject.CommonName != \"\" {\n\t\treturn c.Subject.CommonName, nil\n\t}\n\tfor _, kind := range kinds {",
			"certified/a common name only"),
		one("certificates", "a token that is bound is anybody's", access+"/jwt", "(*Binding).Check", `sha256.Sum256(cert.Raw) != `, `false && sha256.Sum256(cert.Raw) != `,
			"certified/a good one with a JWT bound to another"),
		one("forwarded identity", "everybody is treated as the proxy", authn, "(*Forwarded).listed", `at, err := netip.ParseAddrPort(peer)`, `_ = peer
	return true
	at, err := netip.ParseAddrPort(peer)`,
			"forwarded/not the proxy: X-Forwarded-User: alice"),
		one("forwarded identity", "of two users the first counts", authn, "(*Forwarded).says", `name == want && len(values) == 1`, `name == want && len(values) > 0`,
			"forwarded/the proxy lets through: two users"),
		one("forwarded identity", "underscores are other headers", authn, "alike", `if a == '_' {`, `if a == 0 {`,
			"forwarded/the proxy lets through: another with an underscore"),
		one("forwarded identity", "a token next to a user is ignored", authn, "(*Forwarded).Principal", `case !clear || c.Bearer != "":`, `case !clear:`,
			"forwarded/the proxy lets through: a user and a token of nobody"),
		one("forwarded identity", "users may be a list", authn, "(*Forwarded).of", ` || strings.Contains(s.user, ",")`, ``,
			"forwarded/the proxy lets through: two users with a comma"),
		{
			defence: "belongings", name: "a cursor is everybody's", below: "runtime/proxy/internal/catalog",
			edits: []breaks.Edit{
				{Decl: "SealCursor", From: `+" "+audience`, To: ``},
				{Decl: "OpenCursor", From: `+" "+audience`, To: ``},
			},
			cases: []string{"belongings/a cursor, 2025-11-25", "belongings/a cursor, 2026-07-28"},
		},
		one("belongings", "a server that is a principal's is shared", "runtime/proxy/internal/upstream", "Key.For", `k.Principal = principal`, `k.Principal = "one"`,
			"apart/each principal has a process", "apart/in each era"),
		one("TLS", "any version of TLS will do", "cmd/internal/gateway", "(*TLSFiles).read", `MinVersion: tls.VersionTLS13`, `MinVersion: tls.VersionTLS10`,
			"encrypted/TLS 1.0 is refused", "encrypted/TLS 1.1 is refused"),
	}
}
