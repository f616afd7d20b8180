package attacks_test

// identityBreakages are those of who is let in, and of what belongs to whom.
func identityBreakages() []breakage {
	const (
		access  = "runtime/access"
		wall    = "runtime/proxy/internal/front/wall"
		web     = "runtime/proxy/internal/front/web"
		router  = "runtime/proxy/internal/router"
		gateway = "cmd/internal/gateway"
	)
	return []breakage{
		one("identity", "the stream of the old transport asks for nothing", web, "(*SSE).ServeHTTP", `who, ok := f.o.admit(w, r)`, `var who *access.Principal; ok := true`,
			"doors/no credential: GET sse", "doors/a revoked token: GET sse"),
		one("identity", "the messages of the old transport ask for nothing", web, "(*SSE).messages", `who, ok := f.o.admit(w, r)`, `var who *access.Principal; ok := true`,
			"doors/no credential: POST messages"),
		one("identity", "paths that are not there ask for nothing", web, "Guard", `if !slices.Contains(walled, r.URL.Path) {`, `if !slices.Contains(append(walled, r.URL.Path), r.URL.Path) {`,
			"doors/no credential: a path that is not there", "doors/path |metrics, GET"),
		one("identity", "what comes through a proxy of this machine is let in", wall, "(*Wall).Admit", `if w.Door == nil {`, `if w.Door == nil || r.Header.Get("X-Forwarded-For") == "127.0.0.1" {`,
			"doors/header X-Forwarded-For: 127.0.0.1"),
		one("identity", "whoever a header names is let in", wall, "(*Wall).Admit", `if w.Door == nil {`, `if w.Door == nil || r.Header.Get("X-Forwarded-User") != "" {`,
			"doors/header X-Forwarded-User: alice"),
		one("identity", "whoever asks for another path is let in", wall, "(*Wall).Admit", `if w.Door == nil {`, `if w.Door == nil || r.Header.Get("X-Original-URL") != "" {`,
			"doors/header X-Original-URL: |healthz"),
		one("identity", "a session is enough", wall, "(*Wall).Admit", `if w.Door == nil {`, `if w.Door == nil || r.Header.Get("Mcp-Session-Id") != "" && len(r.Header["Authorization"]) == 0 {`,
			"doors/no credential: a call in a session", "belongings/a session without its token: nobody"),
		one("identity", "a token in the URL is taken no notice of", wall, "(*Wall).principal", `return nil, access.ErrInURL`, `_ = q`,
			"places/in the query and the header"),
		one("identity", "of several lines the first counts", wall, "bearer", "default:\n\t\treturn \"\", access.ErrMalformed", "default:",
			"places/a good one first", "places/beside a line in small letters"),
		one("identity", "of several tokens in a line the first counts", wall, "bearer", `strings.ContainsAny(token, " ,\t")`, `func() bool { token, _, _ = strings.Cut(token, ","); return false }()`,
			"places/twice with a comma"),
		one("identity", "any scheme will do", wall, "bearer", `if !strings.EqualFold(name, "Bearer") {`, `if name == "" {`,
			"places/with the scheme Token", "places/with the scheme DPoP"),
		one("identity", "refusals may be kept by caches", wall, "(*Wall).refuse", `head.Set("Cache-Control", "no-store")`, `head.Set("Cache-Control", "no-cache")`,
			"doors/no credential: initialize", "places/without a scheme"),
		one("identity", "where nothing can be checked, everybody is sent to log in", wall, "(*Wall).refuse", `if no.Status == http.StatusServiceUnavailable {`, `if no.Status == 0 {`,
			"belongings/a file of tokens that cannot be read"),
		one("static tokens", "a token does not end", access, "(*Principal).Expired", `!now.Before(p.Expires)`, `now.IsZero()`,
			"doors/an expired token: a call", "doors/an expired token: GET sse"),
		one("static tokens", "the id is enough", access, "(*Tokens).Principal", `subtle.ConstantTimeCompare(sum[:], k.sum[:]) != 1`, `subtle.ConstantTimeCompare(sum[:], k.sum[:]) == 2`,
			"places/forged with a right checksum: another secret of the same id"),
		one("static tokens", "half of the hash is enough", access, "(*Tokens).Principal", `subtle.ConstantTimeCompare(sum[:], k.sum[:]) != 1`, `subtle.ConstantTimeCompare(sum[:0], k.sum[:0]) != 1`,
			"places/forged with a right checksum: one letter of the secret changed"),
		one("static tokens", "a revoked token is kept in mind", access+"/tokenfile", "(*Follower).Changed", `if same {`, `if same || w.seen != nil {`,
			"belongings/a token that is revoked in the middle of everything"),
		one("static tokens", "a file that cannot be read changes nothing", access+"/tokenfile", "(*Follower).look", "before := w.err\n", "before := w.err\n\tif err != nil {\n\t\ttokens = w.tokens\n\t}\n",
			"belongings/a file of tokens that cannot be read"),
		one("static tokens", "others can read the file of tokens", "runtime/internal/atomicfile", "Update", `0o600); err != nil {`, `0o644); err != nil {`,
			"leaks/the file of tokens is its owner's"),
		one("belongings", "a session is everybody's", web, "(*sessions).get", `s.who.Key() != principal`, `s.who.Key() == "nobody"`,
			"belongings/a session: a call", "belongings/a session: its stream"),
		one("belongings", "anybody ends a session", web, "(*sessions).remove", `s.who.Key() != principal`, `s.who.Key() == "nobody"`,
			"belongings/a session: its end"),
		one("belongings", "another's session is refused in other words", web, "(*sessions).get", `return nil
	}
	if s != nil {`, `time.Sleep(time.Millisecond)
		return &session{p: s.p, who: &access.Principal{ID: principal}, id: id}
	}
	if s != nil {`,
			"belongings/a session: a ping"),
		one("belongings", "a stream of the old transport is everybody's", web, "(*SSE).messages", `s == nil || s.who.Key() != who.Key()`, `s == nil || who == nil`,
			"belongings/a stream of the old transport"),
		one("belongings", "a state is everybody's", router, "Request.unseal", `statePurpose+r.From.Principal, sealed`, `statePurpose+"token|alice", sealed`,
			"belongings/a state of a call that waits"),
		one("belongings", "streams go on when a token has been revoked", web, "(*SSE).Expel", `if s.who != nil && gone(s.who) {`, `if s.who == nil && gone(s.who) {`,
			"belongings/a token that is revoked in the middle of everything"),
		one("belongings", "nobody looks for tokens that have been revoked", gateway, "(*entrance).follow", `f.Expel(func(p *access.Principal) bool { return !d.Valid(p) })`, `_ = f`,
			"belongings/a token that is revoked in the middle of everything"),
		one("no leaks", "the log says the credential", wall, "(*Wall).Admit", "p, no := w.principal(r)\n", "p, no := w.principal(r)\n\tprintln(r.Header.Get(\"Authorization\"))\n",
			"leaks/the log"),
		one("no leaks", "a refusal says the credential", wall, "(*Wall).principal", `return w.Door.Who(r.Context(), c)`, `p, refused := w.Door.Who(r.Context(), c); if refused != nil { refused = &access.Refusal{Status: refused.Status, Code: refused.Code, Description: refused.Description + c.Bearer} }; return p, refused`,
			"leaks/answers"),
		one("TLS", "any version of TLS will do", gateway, "(*gateway).newServer", `MinVersion: tls.VersionTLS12`, `MinVersion: tls.VersionTLS10`,
			"encrypted/TLS 1.0 is refused", "encrypted/TLS 1.1 is refused"),
	}
}
