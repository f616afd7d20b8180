package eras_test

import "github.com/mcpctl/mcpctl/test/breaks"

// breakage is a deliberate mistake: with it, the lines named turn red.
type breakage struct {
	name  string
	below string // the package that the edits are in, or one above it
	edits []breaks.Edit
	lines []string
	pairs string // where to look, a regular expression of endpoints and one of backends; "" is fourSides
}

// fourSides are pairs of both eras over both kinds of transport.
const fourSides = `^(stdio|http|modern-stdio|modern-http)$/^(stdio|http|modern-stdio|modern-http)$`

// breakages are mistakes in proxy, bridge and below that are easily made.
func breakages() []breakage {
	one := func(name, below, decl, from, to string, lines ...string) breakage {
		return breakage{name: name, below: below, edits: []breaks.Edit{{Decl: decl, From: from, To: to}}, lines: lines}
	}
	at := func(pairs string, b breakage) breakage {
		b.pairs = pairs
		return b
	}
	const (
		bridge   = "internal/negotiate"
		proxy    = "runtime/proxy"
		revision = "internal/revision"
		seal     = "internal/seal"
	)
	return []breakage{
		at("^http$/^401$", one("a tool that a view renames does not say whose it is", "runtime/proxy/internal/catalog", "(*Publisher).Resolve",
			`asked = cmp.Or(part.view.Exposed(name), name)`, `asked = cmp.Or(name)`, "view")),
		one("progress goes back with a token that is not the client's", proxy, "(*Request).exchange",
			`events.token = r.Msg.MetaToken.Of(r.Line)`, `events.token = []byte("\"other\"")`, "progress"),
		one("only the first progress message is passed on", proxy, "(*progressGate).Restore",
			`g.begun && n <= g.last`, `g.begun`, "progress"),
		one("a cancel by message ends nothing", proxy, "(*InProgress).cancel",
			`s.End(upstream.ErrCancelled)`, `_ = upstream.ErrCancelled`, "cancel-message"),
		one("a call without a goroutine cannot be cancelled", "runtime/proxy/internal/router", "abandon",
			`if conn.Pipe.Abandon(n, why.Error()) {`, `if n == 1<<63 {`, "cancel-message"),
		one("calls outlive the client on stdio", proxy, "Serve",
			`defer p.Router.AbandonFastCalls(f.owns)`, ``, "cancel-disconnect"),
		one("the end of a modern client's stream is no cancel", proxy, "(*Streamable).serveModern",
			"cancel(why)\n", "_ = why\n", "cancel-disconnect"),
		one("a state is valid for any tool", proxy, "(*Request).unseal",
			`s.Method != r.Method || s.Target != target`, `s.Method != r.Method`, "state-target"),
		one("a state never expires", seal, "(*Keyring).Open",
			`time.Now().UnixMilli() >= until {`, `until < 0 {`, "state-expired"),
		{
			name: "what is sealed is valid for any principal", below: seal,
			edits: []breaks.Edit{
				{Decl: "(*Keyring).Seal", From: `append(head, purpose...)`, To: `head`},
				{Decl: "(*Keyring).Open", From: `append(b[:sealHead:sealHead], purpose...)`, To: `b[:sealHead]`},
			},
			lines: []string{"state-principal"},
		},
		one("a backend's own state is lost in front", proxy, "(*Request).again",
			`members = append(members, rawjson.Member{Name: "requestState", Value: s.Inner})`, `_ = s.Inner`, "form", "again"),
		one("a backend's own state is lost behind", bridge, "nextParams",
			`add = append(add, rawjson.Member{Name: revision.MemberRequestState, Value: state})`, `_ = state`, "form", "state-only"),
		one("answers of a client of the handshake era are left out", bridge, "nextParams",
			`add = append(add, rawjson.Member{Name: revision.MemberInputResponses, Value: answers})`, `_ = answers`, "form", "sampling", "two"),
		one("the modern members of _meta reach older servers", revision, "OfProtocol",
			`return strings.HasPrefix(name, MetaPrefix) }`, `return strings.HasPrefix(name, "never"+MetaPrefix) }`, "meta"),
		one("resultType reaches older clients", revision, "(*Conversion).toLegacy",
			`o.Remove(MemberResultType)`, `_ = o`, "object", "call"),
		one("a result for a modern client has no resultType", revision, "(*Conversion).toModern",
			`o.Add(MemberResultType, rawjson.Quote(nil, kind))`, `_ = kind`, "object", "call"),
		one("cache hints are left out", revision, "(*Conversion).toModern",
			`case kind == ResultComplete && Cacheable(c.Method):`, `case false:`, "read"),
		one("an output schema that is not an object is not wrapped", revision, "(*Conversion).Item",
			`o.Replace(e, wrapSchema(e.Value.Of(item)))`, `_ = wrapSchema`, "array"),
		one("references into a wrapped schema stay as they are", revision, "rebase",
			`rawjson.Quote(nil, "#/properties/result"+ref[1:])`, `rawjson.Quote(nil, ref)`, "array"),
		at(`/^exits$`, one("a server that ends on the probe is given up", bridge, "(*Options).decide",
			`return o.respawn(ctx, t, a.err)`, `return nil, a.err`, "call")),
		at(`/^silent$`, one("the probe has no time limit", bridge, "(*Options).wait",
			`limit, end := o.ProbeTimeout, time.Now()`, `limit, end := time.Hour, time.Now()`, "call")),
		at(`/^(404|refuses|http)$`, one("an error that is not a modern one proves nothing", bridge, "(*Options).decide",
			"return nil, a.err\n\t}\n\treturn o.initializeLegacy(ctx, t, revision.Latest)", "return nil, a.err\n\t}\n\treturn nil, a.err", "call")),
		at(`/^lists-legacy$`, one("a server that discovers only older revisions is treated as modern", bridge, "(*Options).decide",
			"case a.err == nil:\n\t\treturn o.initializeLegacy(ctx, t, newest(a.versions))", "case a.err == nil:\n\t\treturn o.modern(t, a), nil", "call")),
		at(`^(stdio|http)$/^dual`, one("a server of both eras is spoken to in the modern one for every client", bridge, "(*Options).decide",
			`if o.Legacy && revision.Mutual(a.versions) != "" {`, `if o.Legacy && false {`, "meta")),
		one("headers are sent as they are", revision, "EncodeHeader",
			"if plain {\n\t\treturn value", "if plain || value != \"\" {\n\t\treturn value", "unicode-name", "unicode-uri", "header-unicode"),
		one("headers that say something else than the body are let through", proxy, "(*Request).checkParamHeaders",
			`sent, r.Header); err != nil {`, `sent, r.Header); err != nil && false {`, "header-invalid"),
		one("a tool whose x-mcp-header breaks the rules is listed", bridge, "(*toolHeaders).learn",
			`faulty[i] = true`, `faulty[i] = false`, "list", "header-invalid"),
		one("an annotation that breaks the rules is left in", bridge, "(*toolHeaders).learn",
			`revision.RemoveMirrors(result, rawjson.Span{Start: at.Start + schema.Start, End: at.Start + schema.End})`, `[]rawjson.Edit(nil)`, "header-invalid"),
		one("an end of a subscription is told as a beginning", proxy, "(*Hub).sync",
			`method := revision.MethodResourcesUnsubscribe`, `method := revision.MethodResourcesSubscribe`, "update"),
		one("events of a listen bear another's id", proxy, "(*listening).Notify",
			`[]rawjson.Member{{Name: metaSubscription, Value: s.id}}`, `[]rawjson.Member{{Name: metaSubscription, Value: []byte("1")}}`, "list-change", "update"),
		one("a listen is not acknowledged", proxy, "(*Hub).Listen",
			`to.Send(jsonrpc.AppendNotification(nil, revision.NotificationListenAcknowledged, acknowledged(id, &honoured)))`, `_, _ = revision.NotificationListenAcknowledged, acknowledged(id, &honoured)`, "list-change", "update"),
		one("nobody hears of a list that has changed", proxy, "(*Listeners).tell",
			"l.Notify(method, nil)", "_ = l", "list-change"),
		one("any cursor is good", proxy, "OpenCursor",
			"if err == nil && (json.Unmarshal", "if err != nil {\n\t\tplain, err = []byte(`{\"after\":\"a\"}`), nil\n\t}\n\tif err == nil && (json.Unmarshal", "cursor"),
		one("a client's log level is forgotten on the way to a modern server", proxy, "(*Relay).adapt",
			"return setMeta(req, revision.MetaLogLevel, []byte(`\"`+level.String()+`\"`))", "_ = level\n\treturn nil", "log-level"),
		one("a server of the handshake era is never told a log level", proxy, "TellLevel",
			`if !ok {`, `if !ok || true {`, "log-level"),
		one("a forgotten session is not replaced", bridge, "(*legacyTransport).inSession",
			`if !errors.As(err, &lost) || !lost.SessionExpired() {`, `if errors.As(err, &lost) || true {`, "session-404"),
		one("a session lives on after DELETE", proxy, "(*Streamable).end",
			`if !h.Sessions.remove(id, principal.Key(), h.o.address(r)) {`, `if h.Sessions.get(id, principal.Key(), h.o.address(r)) == nil {`, "session-404"),
		one("a tool that runs as a task only is called plainly", bridge, "(*legacyTransport).inRounds",
			`r.send, r.finish = l.callAsTask, l.awaitTask`, `r.finish = l.awaitTask`, "task-required"),
		one("-32042 reaches modern clients", proxy, "(*conversation).run",
			`if pages := revision.URLElicitations(rpc); pages != nil {`, `if pages := revision.URLElicitations(rpc); pages != nil && false {`, "32042"),
		one("a link for a client of 2025-11-25 has no elicitationId", revision, "(*Question).elicitation",
			`o.Add("elicitationId", rawjson.Quote(nil, q.newID()))`, `_ = q.newID`, "url"),
		one("elicitationId reaches modern clients", revision, "(*Question).elicitation",
			`o.Remove("elicitationId")`, `_ = o`, "url"),
		one("questions to one client all have one id", proxy, "(*Client).Ask",
			`strconv.FormatUint(cl.asked, 10)`, `strconv.FormatUint(1, 10)`, "two"),
		one("a modern server is told that the client can be asked nothing", proxy, "(*Relay).adapt",
			`if e.From.Modern() || e.From.Ask != nil {`, `if e.From.Modern() && e.From.Ask != nil && false {`, "form", "sampling", "roots"),
		one("questions of the handshake era are refused while a modern client calls", proxy, "(*conversation).run",
			`r.From.Emit, r.From.Ask = call.Emit, call.Ask`, `r.From.Emit = call.Emit`, "form", "two"),
	}
}
