package eras_test

// breakage is a deliberate mistake: with it, the lines named turn red.
type breakage struct {
	name  string
	file  string // below the top of the module
	edits [][2]string
	lines []string
	pairs string // where to look, a regular expression of fronts and one of backends; "" is fourSides
}

// fourSides are pairs of both eras over both kinds of transport.
const fourSides = `^(stdio|http|modern-stdio|modern-http)$/^(stdio|http|modern-stdio|modern-http)$`

// breakages are mistakes in bridge and proxy that are easily made.
func breakages() []breakage {
	one := func(name, file, from, to string, lines ...string) breakage {
		return breakage{name: name, file: file, edits: [][2]string{{from, to}}, lines: lines}
	}
	at := func(pairs string, b breakage) breakage {
		b.pairs = pairs
		return b
	}
	const (
		bridge = "runtime/bridge/"
		proxy  = "runtime/proxy/"
	)
	return []breakage{
		one("progress goes back with a token that is not the client's", proxy+"forward.go",
			`events.token = r.msg.MetaToken.Of(r.line)`, `events.token = []byte("\"other\"")`, "progress"),
		one("only the first progress message is passed on", proxy+"rewrite.go",
			`i.begun && n <= i.last`, `i.begun`, "progress"),
		one("a cancel by message ends nothing", proxy+"cancel.go",
			`(*cancel)(errCancelled)`, `_ = errCancelled`, "cancel-message"),
		one("a call without a goroutine cannot be cancelled", proxy+"call.go",
			`if pipe.Abandon(n, errCancelled.Error()) {`, `if n == 1<<63 {`, "cancel-message"),
		one("calls outlive the client on stdio", proxy+"stdio.go",
			`defer p.abandonQuick(f.owns)`, ``, "cancel-disconnect"),
		one("the end of a modern client's stream is no cancel", proxy+"modern_http.go",
			"ctx, cancel := context.WithCancelCause(r.Context())\n\tdefer cancel(nil)\n\treq := request{", "ctx, cancel := context.WithCancelCause(context.WithoutCancel(r.Context()))\n\tcancel = func(error) {}\n\tdefer cancel(nil)\n\treq := request{", "cancel-disconnect"),
		one("a state holds for any tool", proxy+"modern_state.go",
			`s.Method != r.method || s.Target != target`, `s.Method != r.method`, "state-target"),
		one("a state never expires", bridge+"seal.go",
			`time.Now().UnixMilli() >= until {`, `until < 0 {`, "state-expired"),
		{
			name: "what is sealed holds for any principal", file: bridge + "seal.go",
			edits: [][2]string{{`append(head, purpose...)`, `head`}, {`append(b[:sealHead:sealHead], purpose...)`, `b[:sealHead]`}},
			lines: []string{"state-principal"},
		},
		one("a backend's own state is lost in front", proxy+"modern_state.go",
			`members = append(members, rawjson.Member{Name: "requestState", Value: s.Inner})`, `_ = s.Inner`, "form", "again"),
		one("a backend's own state is lost behind", bridge+"inputs.go",
			`add = append(add, rawjson.Member{Name: memberState, Value: state})`, `_ = state`, "form", "state-only"),
		one("answers of a client of the handshake era are left out", bridge+"inputs.go",
			`add = append(add, rawjson.Member{Name: memberAnswers, Value: answers})`, `_ = answers`, "form", "sampling", "two"),
		one("the modern members of _meta reach older servers", bridge+"meta.go",
			`return strings.HasPrefix(name, metaPrefix) }`, `return strings.HasPrefix(name, "never"+metaPrefix) }`, "meta"),
		one("resultType reaches older clients", bridge+"convert_legacy.go",
			`o.Remove("resultType")`, `_ = o`, "object", "call"),
		one("a result for a modern client has no resultType", bridge+"convert.go",
			`o.Add("resultType", rawjson.Quote(nil, kind))`, `_ = kind`, "object", "call"),
		one("cache hints are left out", bridge+"convert.go",
			`case kind == resultComplete && Cacheable(c.Method):`, `case false:`, "read"),
		one("an output schema that is no object is not wrapped", bridge+"convert_tool.go",
			`o.Replace(e, wrapSchema(e.Value.Of(item)))`, `_ = wrapSchema`, "array"),
		one("references into a wrapped schema stay as they are", bridge+"convert_tool.go",
			`rawjson.Quote(nil, "#/properties/result"+ref[1:])`, `rawjson.Quote(nil, ref)`, "array"),
		at(`/^exits$`, one("a server that ends on the probe is given up", bridge+"connect.go",
			`return o.respawn(ctx, t, a.err)`, `return nil, a.err`, "call")),
		at(`/^silent$`, one("the probe has no time limit", bridge+"connect.go",
			`limit, end := o.ProbeTimeout, time.Now()`, `limit, end := time.Hour, time.Now()`, "call")),
		at(`/^(404|refuses|http)$`, one("an error that is none of the modern ones proves nothing", bridge+"connect.go",
			"return nil, a.err\n\t}\n\treturn o.settle(ctx, t, Latest)", "return nil, a.err\n\t}\n\treturn nil, a.err", "call")),
		at(`/^lists-legacy$`, one("a server that discovers only older revisions is taken for modern", bridge+"connect.go",
			"case a.err == nil:\n\t\treturn o.settle(ctx, t, newest(a.versions))", "case a.err == nil:\n\t\treturn o.modern(t, a), nil", "call")),
		at(`^(stdio|http)$/^dual`, one("a server of both eras is spoken to in the modern one for every client", bridge+"connect.go",
			`if o.Legacy && mutual(a.versions) != "" {`, `if o.Legacy && false {`, "meta")),
		one("headers are sent as they are", bridge+"mirror_header.go",
			"if plain {\n\t\treturn value", "if plain || value != \"\" {\n\t\treturn value", "unicode-name", "unicode-uri", "header-unicode"),
		one("headers that say something else than the body are let through", proxy+"modern_serve.go",
			`r.msg.Arguments.Of(r.line), r.header); err != nil {`, `r.msg.Arguments.Of(r.line), r.header); err != nil && false {`, "header-invalid"),
		one("a tool whose x-mcp-header breaks the rules is listed", bridge+"toolbox.go",
			`faulty[i] = true`, `faulty[i] = false`, "list", "header-invalid"),
		one("an annotation that breaks the rules is left in", bridge+"toolbox.go",
			`unannotated(schema.Of(tool), true)`, `[]rawjson.Edit(nil)`, "header-invalid"),
		one("an end of a subscription is told as a beginning", proxy+"subscribe.go",
			`method := "resources/unsubscribe"`, `method := "resources/subscribe"`, "update"),
		one("events of a listen bear another's id", proxy+"modern_listen.go",
			`[]rawjson.Member{{Name: metaSubscription, Value: s.id}}`, `[]rawjson.Member{{Name: metaSubscription, Value: []byte("1")}}`, "list-change", "update"),
		one("a listen is not acknowledged", proxy+"modern_listen.go",
			`to.send(jsonrpc.AppendNotification(nil, "notifications/subscriptions/acknowledged", acknowledged(id, &honoured)))`, `_ = acknowledged(id, &honoured)`, "list-change", "update"),
		one("nobody hears of a list that has changed", proxy+"reconfigure.go",
			"l.notify(method, nil)", "_ = l", "list-change"),
		one("any cursor is good", proxy+"cursor.go",
			`if err := json.Unmarshal(plain, &c); err != nil || c.Version != s.version(k) || c.Next <= 0 || c.Next >= s.count[k] {`, `if err := json.Unmarshal(plain, &c); err != nil {`+"\n\t\t_ = err\n\t}\n\tif c.Next < 0 || c.Next >= s.count[k]-1 {", "list"),
		one("a client's log level is forgotten on the way to a modern server", proxy+"forward.go",
			"req.Params = params\n\treturn nil", "_ = params\n\treturn nil", "log-level"),
		one("a server of the handshake era is never told a log level", proxy+"legacy_log.go",
			`if l >= before {`, `if l >= 0 {`, "log-level"),
		one("a forgotten session is not begun anew", bridge+"legacy_session.go",
			`if !errors.As(err, &lost) || !lost.SessionExpired() {`, `if errors.As(err, &lost) || true {`, "session-404"),
		one("a session lives on after DELETE", proxy+"http.go",
			`if !h.sessions.remove(id) {`, `if h.sessions.get(id) == nil {`, "session-404"),
		one("a tool that runs as a task only is called plainly", bridge+"legacy.go",
			`r.send, r.last = l.asTask, l.absorb`, `r.last = l.absorb`, "task-required"),
		one("-32042 reaches modern clients", proxy+"modern_inputs.go",
			`if pages := pagesOf(err); pages != nil {`, `if pages := pagesOf(err); pages != nil && false {`, "32042"),
		one("a link for a client of 2025-11-25 has no elicitationId", bridge+"convert_question.go",
			`o.Add("elicitationId", rawjson.Quote(nil, q.mint()))`, `_ = q.mint`, "url"),
		one("elicitationId reaches modern clients", bridge+"convert_question.go",
			`o.Remove("elicitationId")`, `_ = o`, "url"),
		one("questions to one client all have one id", proxy+"legacy_peer.go",
			`strconv.FormatUint(p.asked, 10)`, `strconv.FormatUint(1, 10)`, "two"),
		one("a modern server is told that the client can be asked nothing", proxy+"forward.go",
			`if e.from.modern() || e.from.ask != nil {`, `if e.from.modern() && e.from.ask != nil && false {`, "form", "sampling", "roots"),
		one("questions of the handshake era are refused while a modern client calls", proxy+"modern_inputs.go",
			`r.from.emit, r.from.ask = call.Emit, call.Ask`, `r.from.emit = call.Emit`, "form", "two"),
	}
}
