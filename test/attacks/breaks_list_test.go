package attacks_test

import (
	"slices"

	"github.com/mcpctl/mcpctl/test/breaks"
)

// breakage takes one defence out of the program: with it, the cases named turn
// red.
type breakage struct {
	defence, name string
	below         string // the package that the edits are in, or one above it
	edits         []breaks.Edit
	// cases are CLASS/CASE.
	cases []string
}

// one is a break of one edit.
func one(defence, name, below, decl, from, to string, cases ...string) breakage {
	return breakage{defence: defence, name: name, below: below, edits: []breaks.Edit{{Decl: decl, From: from, To: to}}, cases: cases}
}

// breakages are all of them, by the defence that they are about.
func breakages() []breakage {
	const (
		proxy     = "runtime/proxy"
		transport = "runtime/transport"
		cli       = "cmd/internal/cli"
		gateway   = "cmd/internal/gateway"
	)
	return append([]breakage{
		one("Host and Origin", "any Host is taken", proxy, "(*AccessControl).checkOrigin", `if !w.own(r.Host) {`, `if r.Host == "" {`,
			"hosts/another name", "hosts/localhost as a part"),
		one("Host and Origin", "a host that begins like loopback is taken", proxy, "loopback", `if len(hostport) == len(name) && strings.EqualFold(hostport, name) {`, `if strings.HasPrefix(strings.ToLower(hostport), name) {`,
			"hosts/localhost as a part", "origins/localhost as a part"),
		one("Host and Origin", "any Origin is taken", proxy, "(*AccessControl).checkOrigin", `case len(origins) == 1 && !w.ownOrigin(origins[0]):`, `case len(origins) == 1 && origins[0] == "":`,
			"origins/another", "origins/null"),
		one("Host and Origin", "the stream of the old transport is open to every page", proxy, "(*SSE).ServeHTTP", `principal, ok := f.o.admit(w, r)`, `var principal *access.Principal; ok := true`,
			"hosts/attacker.example asks for GET sse", "origins/another's page asks for GET sse"),
		one("Host and Origin", "the messages of the old transport are open to every page", proxy, "(*SSE).messages", `principal, ok := f.o.admit(w, r)`, `var principal *access.Principal; ok := true`,
			"hosts/attacker.example asks for POST messages?sessionId=x", "origins/another's page asks for POST messages?sessionId=x"),
		one("Host and Origin", "any kind of content is taken", proxy, "receive", `!isJSON(r.Header.Get("Content-Type"))`, `r == nil`,
			"contents/text, as of a form", "contents/none"),
		one("secure start", "any address is listened on", gateway, "(*Options).checkAddress", `if o.Insecure || `, `if true || o.Insecure || `,
			"listening/all interfaces is refused", "listening/an address of the net is refused"),

		one("strict JSON", "members may be there twice", "internal/rawjson", "(*scanner).message", `if at.Present() {`, `if at.Present() && s == nil {`,
			"json/id twice, HTTP", "json/tool twice, once escaped, HTTP", "json/method twice, stdio"),
		one("strict JSON", "invalid UTF-8 is taken", "internal/rawjson", "Scan", `if !utf8.Valid(text) {`, `if text == nil {`,
			"json/invalid UTF-8, HTTP", "json/overlong UTF-8, stdio"),
		one("strict JSON", "text behind a message is passed over", "internal/rawjson", "(*scanner).finish", `case s.at < len(s.text):`, `case false:`,
			"json/text behind, HTTP", "json/two messages, stdio"),
		one("strict JSON", "an id may be anything", proxy, "malformed", `usableID(m.ID.Of(line)) == nil`, `m.ID.Of(line) == nil`,
			"json/id that is an object, HTTP", "json/id that is null, HTTP"),
		one("strict JSON", "a batch may have any number of messages", proxy, "(*Set).Batch", ` || len(spans) > MaxBatch`, ` || len(spans) > 1<<30`,
			"json/a batch bomb, HTTP", "bounds/a batch of 101"),
		one("one parse", "a line end in the arguments reaches a server", "internal/jsonrpc", "oneLine", `if bytes.IndexByte(value, '\n') >= 0 || bytes.IndexByte(value, '\r') >= 0 {`, `if value == nil || bytes.IndexByte(value, 0) >= 0 {`,
			"forwarding/a raw line end becomes a space"),
		one("header and body agree", "another method in the header is let through", proxy, "checkMirrorHeaders", `if why := mirrors(header["Mcp-Method"], "Mcp-Method", method); why != "" {`, `if why := mirrors(header["Mcp-Method"], "Mcp-Method", method); why != "" && header == nil {`,
			"mirrored/a harmless method", "mirrored/no method"),
		one("header and body agree", "another name in the header is let through", proxy, "mirrors", `case got != want:`, `case got != want && lines == nil:`,
			"mirrored/another name", "mirrored/a resource under another's URI"),
		one("header and body agree", "a header twice is let through", proxy, "mirrors", "case 1:\n\tdefault:", "default:\n\tcase -1:",
			"mirrored/two names", "mirrored/two methods"),
		one("header and body agree", "another revision in the header is let through", proxy, "checkVersionHeader", `case lines[0] != claim:`, `case lines == nil:`,
			"mirrored/a revision that is not there"),
		one("header and body agree", "another parameter in the header is let through", proxy, "(*Request).checkParamHeaders", `sent, r.Header); err != nil {`, `sent, r.Header); err != nil && r.rt == nil {`,
			"mirrored/another parameter"),

		one("sessions", "ids can be guessed", proxy, "newSession", `id: rand.Text()`, `id: "session"+rand.Text()[:0]`,
			"sessions/guessed: a word", "sessions/ids do not repeat and cannot be told ahead"),
		one("sessions", "ids are looked for without case", proxy, "(*sessions).get", `s := t.m[id]`, "s := t.m[id]\n\tfor k, v := range t.m {\n\t\tif len(k) == len(id) && k[:4] == id[:4] {\n\t\t\ts = v\n\t\t}\n\t}",
			"sessions/guessed: last letter changed"),
		one("sessions", "a session does not end", proxy, "(*sessions).remove", `delete(t.m, id)`, `_ = id`,
			"sessions/the id of one that has ended"),
		one("sessions", "anybody can cancel any call", proxy, "(*Router).CancelFastCall", `bytes.Equal(c.ID, id) && of(c.replyTo)`, `bytes.Equal(c.ID, id) && of != nil`,
			"sessions/a call cancelled from another session continues"),

		one("names and answers", "an answer to any id ends a call", "internal/jsonrpc", "(*inbound).message", "p, ok := c.pending[id]\n", "p, ok := c.pending[id]\n\tfor id, p = range c.pending {\n\t\tok = true\n\t\tbreak\n\t}\n",
			"answers/before the right one: an id that nobody has"),
		one("names and answers", "a negative id is one without its sign", "internal/jsonrpc", "(*inbound).answered", "bytes.Trim(raw, `\"`)", "bytes.Trim(raw, `\"-`)",
			"answers/before the right one: its own id, negative"),
		one("names and answers", "progress with any token goes to some call", "internal/jsonrpc", "(*inbound).progress", `if p.token != nil && bytes.Equal(p.token, token) {`, `if p.token != nil || token != nil {`,
			"answers/before the right one: progress with another's token"),
		one("names and answers", "an answer over HTTP with any id is taken", transport, "sameID", `if bytes.Equal(a, b) {`, `if bytes.Equal(a, b) || len(a) > 0 {`,
			"remotes/another id", "remotes/a negative id"),
		one("names and answers", "names are not cleaned", proxy, "CleanName", `return '_'`, `return r`,
			"names/listed: spaces", "names/listed: an escape sequence"),
		one("names and answers", "names that differ in capitals run together", proxy, "Names.Form", `clash[fold(name)] > 1 || `, `clash[fold(name)] > 1<<20 || `,
			"names/listed: names that differ in capitals stay apart"),
		one("names and answers", "news of one server's resource are passed on for another's", proxy, "(*Hub).Updated", `for bare, w := range h.slots[l] {`, "for _, m := range h.slots {\n\t\tfor k, v := range m {\n\t\t\tif h.slots[l] == nil {\n\t\t\t\th.slots[l] = m\n\t\t\t}\n\t\t\t_, _ = k, v\n\t\t}\n\t}\n\tfor bare, w := range h.slots[l] {",
			"ownership/what a server listens for is no other's"),

		{
			defence: "sealed handles", name: "a cursor is valid for any list", below: proxy,
			edits: []breaks.Edit{
				{Decl: "SealCursor", From: `purpose+k.Listing().Method`, To: `purpose`},
				{Decl: "OpenCursor", From: `purpose+k.Listing().Method`, To: `purpose`},
			},
			cases: []string{"sealed/a cursor: of another list"},
		},
		one("sealed handles", "a state is valid for any tool", proxy, "(*Request).unseal", `s.Method != r.Method || s.Target != target`, `s.Method != r.Method`,
			"sealed/a state: for another tool"),
		one("sealed handles", "a state is valid for any method", proxy, "(*Request).unseal", `s.Method != r.Method || s.Target != target`, `s.Target == ""`,
			"sealed/a state: for another method"),
		{
			defence: "sealed handles", name: "what is sealed can be read and changed", below: "internal/seal",
			edits: []breaks.Edit{
				{Decl: "(*Keyring).Seal", From: `k.aead.Seal(out, nil, inner, append(head, purpose...))`, To: `append(append(out, head[:0]...), inner...)`},
				{Decl: "(*Keyring).Open", From: `k.aead.Open(nil, nil, b[sealHead:], append(b[:sealHead:sealHead], purpose...))`, To: `append([]byte(nil), b[sealHead:]...), func(ringKey) error { return nil }(k)`},
			},
			cases: []string{"sealed/a state: it tells nothing of what is in it", "sealed/a cursor: it tells nothing of what is in it"},
		},

		one("child environment", "a server gets all of mcpctl's variables", "internal/proc", "ChildEnv", `if takes(append(names, raceOptions()...), fold(name)) {`, `if takes(append(names, raceOptions()...), fold(name)) || name != "" {`,
			"environments/GITHUB_TOKEN does not reach a server", "environments/NODE_OPTIONS does not reach a server"),
		one("child environment", "functions of a shell reach a server", "internal/proc", "ChildEnv", `strings.HasPrefix(value, "()")`, `value == "\x00"`,
			"environments/a function of a shell as LC_TIME does not"),
		one("processes", "a server has no separate group", "internal/proctree", "Prepare", `Setpgid: true`, `Setpgid: false`,
			"processes/a server has a separate group"),
		one("processes", "the guardian does nothing", "internal/guardian", "Run", `m.sweep()`, `return`,
			"processes/one that does not hear SIGTERM, serve is killed", "processes/one that has a child in another session, serve is killed"),
		one("processes", "a shell reads the command", "internal/proc", "Start", `exec.Command(o.Command, o.Args...)`, "exec.Command(\"/bin/sh\", \"-c\", o.Command+\" \"+func() (s string) {\n\t\tfor _, a := range o.Args {\n\t\t\ts += \" \" + a\n\t\t}\n\t\treturn\n\t}())",
			`processes/an argument "$(touch pwned)"`, `processes/a command "true; touch pwned"`),

		one("terminal", "nothing is taken out of what servers say", "internal/plain", "isClean", `if dropped(r, last) {`, `if dropped(r, last) && s == "" {`,
			"terminals/a description that clears the screen", "terminals/the name of a tool"),
		one("terminal", "characters that reorder are left in", "internal/plain", "dropped", `unicode.In(r, unicode.Cf, `, `unicode.In(r, `,
			"terminals/a description that reorders"),
		one("links", "a shell reads the address of a page", "cmd/internal/ui", "OpenBrowser", `exec.CommandContext(context.WithoutCancel(ctx), path, words[1:]...)`, `exec.CommandContext(context.WithoutCancel(ctx), "/bin/sh", "-c", path+" "+strings.Join(words[1:], " "))`,
			"links/a command behind", "links/a command behind an and"),
		one("links", "any address is a page", "cmd/internal/elicit", "ParseQuestion", ` || u.Scheme != "https" && u.Scheme != "http"`, ``,
			"links/an application with a host"),

		one("files", "a change is written where the file is", "internal/atomicfile", "write", `if err = os.Rename(tmp.Name(), path); err != nil {`, "for range 400 {\n\t\t_ = os.WriteFile(path, data[:len(data)/2], perm)\n\t}\n\tif err = os.Rename(tmp.Name(), path); err != nil {",
			"edits/who reads in the middle"),
		one("files", "two changes do not wait for each other", "internal/atomicfile", "Lock", `l.TryLockContext(ctx, lockTry)`, `ctx.Err() == nil, error(nil)`,
			"edits/many at once"),
		one("files", "others can read a new servers.json", "internal/atomicfile", "Update", `0o600); err != nil {`, `0o644); err != nil {`,
			"files/a new servers.json is its owner's"),
		one("files", "a link is replaced", "internal/atomicfile", "Resolve", `case info.Mode()&fs.ModeSymlink == 0:`, `case info.Mode() != 0:`,
			"edits/a link is followed"),

		one("redirects", "a redirect to another origin is followed", transport, "(*wire).redirectRule", `!same || status`, `from == nil || status`,
			"redirects/to another port, 307", "redirects/to another name, 307"),
		one("redirects", "a redirect that changes the request is followed", transport, "(*wire).redirectRule", `status != http.StatusTemporaryRedirect && status != http.StatusPermanentRedirect {`, `status == 0 {`,
			"redirects/to the same origin as a GET, 302"),

		one("bounds", "a body may have any size", proxy, "(*received).read", `case n > o.MaxBody:`, `case n > o.MaxBody && n < 0:`,
			"bounds/a body that is said to be of 100 GB"),
		one("bounds", "a header may have any size", gateway, "newServer", `MaxHeaderBytes: 64 << 10`, `MaxHeaderBytes: 64 << 20`,
			"bounds/a header of 100 KiB"),
		one("bounds", "a session may have any number of streams", proxy, "(*session).listen", `len(s.listening) >= limits.MaxSessionStreams`, `len(s.listening) >= 1<<20`,
			"bounds/a seventeenth stream of a session"),
		one("bounds", "a session may have any number of requests", proxy, "(*session).enter", `<= limits.MaxSessionServing`, `<= 1<<20`,
			"bounds/more requests than a session may have"),
		one("bounds", "a registry may answer without end", "registry", "(*Client).read", `if int64(len(body)) > c.o.MaxBody {`, `if int64(len(body)) < 0 {`,
			"registry/answer: an answer of more than 32 MiB"),

		one("registry records", "a remote may be in clear", "scaffold", "(*builder).checkURL", `case origin.IsLoopback(u.Hostname()):`, `case u.Scheme == "http":`,
			"registry/a remote in clear"),
		one("registry records", "a header may have a line end", "scaffold", "(*builder).header", `if strings.ContainsAny(text, "\r\n\x00") {`, `if text == "\x00" {`,
			"registry/a header with a line end in its value"),
		one("registry records", "a container may have all rights", "scaffold", "(*builder).checkOption", `if reason = r.does[name]; reason == "" {`, `if reason = ""; name == "" {`,
			"registry/docker: all rights", "registry/docker: a device", "registry/npm: a command"),
		one("registry records", "a word may be before the package", "scaffold", "(*builder).checkOption", `return 1, "", fmt.Sprintf("%q is before the package and would run instead of it", display(word))`, "_ = fmt.Sprint()\n\t\treturn 1, \"\", \"\"",
			"registry/docker: another image in front"),
		one("registry records", "a mount may have any part", "scaffold", "mount", "default:\n\t\t\tok = false", "default:",
			"registry/docker: the whole disk as a volume's device"),
		one("registry records", "variables are told apart by case", "scaffold", "family", `name = strings.ToUpper(name)`, `_ = name`,
			"registry/a variable of the loader in small letters"),
		one("registry records", "any version is a version", "scaffold", "identifierFault", `if v != "" && v != "latest" && !matches(version, v) {`, `if v == "-" && !matches(version, v) {`,
			"registry/npm: a version that is another package"),
		one("registry records", "a remote may be link-local", "internal/origin", "AddressFaults", `isLinkLocal(ip.WithZone("").Unmap())`, `!ip.IsValid()`,
			"registry/a remote that is link-local", "registry/a remote that is the metadata of a cloud"),
		one("registry records", "credentials of a registry follow a redirect", "registry", "redirectRule", `!origin.Same(r.URL, via[0].URL)`, `r.URL.Hostname() != via[0].URL.Hostname()`,
			"registry/credentials do not follow to another port, 307"),

		one("ownership", "a name that begins with a server's may be anybody's", proxy, "Names.Separates", `return strings.Contains(name, n.Separator) || `, `return n.limit < 0 && `,
			"ownership/an app's tool, it is left out"),
		one("ownership", "a bare name is taken of any server", proxy, "(*Catalog).alias", ` || !c.apps[r.Backend]`, ``,
			"ownership/a tool by its bare name"),
		one("ownership", "a URI that names a server leads to who lists it", proxy, "(*Owners).Named", `ok && o.folds[strings.ToLower(server)]`, `ok && o.folds[strings.ToLower(server)] && o.exact[uri].Nobody()`,
			"ownership/a wrapped URI of the other"),
		one("ownership", "the last one to hand out a link has it", proxy, "(*Links).Add", `h.of[uri] = was.With(server)`, `h.of[uri] = Claim{Server: was.Server[:0] + server}`,
			"ownership/a link that two servers hand out is nobody's"),
		{
			defence: "ownership", name: "names with a hash of one server may begin as another's", below: proxy,
			edits: []breaks.Edit{
				{Decl: "(*Names).assign", From: `short[prefix] > 1 || n.taken(prefix, s)`, To: `prefix == ""`},
				{Decl: "Names.Others", From: `n.Owner(name) != server`, To: `n.Owner(name) == "\x00"`},
			},
			cases: []string{"ownership/a tool named like the hash of another's"},
		},

		one("questions", "a server may ask anything", "internal/revision", "IsQuestion", `method == MethodElicitationCreate`, `method != MethodPing`,
			"questions/a call of a tool is not asked", "questions/initialize is not asked"),
		one("sessions", "a second initialize counts", proxy, "(*Client).SetTerms", `return ErrInitialized`, `p.Terms.Store(&Terms{version, capabilities})`,
			"sessions/a second initialize on standard input is refused"),
		one("header and body agree", "the stateless era has other methods than POST", proxy, "(*Streamable).ServeHTTP", `case version == revision.Modern:`, `case version == "never":`,
			"mirrored/method DELETE of the stateless era"),
		one("Host and Origin", "Sec-Fetch-Site is not looked at", proxy, "(*AccessControl).checkOrigin", `if site != "none" && site != "same-origin" {`, `if site == "" {`,
			"origins/fetch: cross-site without an origin"),

		one("secrets", "errors repeat what a server says", "internal/secret", "(*Redactor).replace", `if r.Empty() {`, `if true || r.Empty() {`,
			"secrets/a program writes its secret to standard error and ends, as it is"),
		one("secrets", "list prints addresses as they are", cli, "(*app).list", `config.DisplayURL(e.URL)`, `e.URL`,
			"secrets/list"),
		one("secrets", "a token in use is repeated", "runtime/auth", "(*Authorizer).use", `if a.o.Redactor != nil {`, `if false {`,
			"logins/a browser"),
		one("secrets", "what a token endpoint says is repeated", "runtime/auth", "(*guard).post", `if status/100 != 2 {`, `if status == 1 {`,
			"logins/a browser"),
		one("files", "a pipe is read", "internal/atomicfile", "Regular", `case mode.IsRegular():`, `case mode&fs.ModeDir == 0:`,
			"files/a pipe that nobody writes to as servers.json, list"),
		one("files", "what a killed edit has left stays", "internal/atomicfile", "Update", `Sweep(target)`, `_ = target`,
			"edits/what was left of one is removed"),
	}, slices.Concat(identityBreakages(), pageBreakages(), policyBreakages())...)
}
