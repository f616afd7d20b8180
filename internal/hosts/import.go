package hosts

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpctl/mcpctl/internal/jsonedit"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// Imported is an entry of a host as servers.json has it.
type Imported struct {
	// Entry is the object for servers.json.
	Entry json.RawMessage
	// Notes are what was left out or changed, a phrase each.
	Notes []string
	// Lost are settings that the entry does not have, and without which it allows more than
	// the host does.
	Lost []Loss
	// Skip is why the entry cannot be imported, "" if it can.
	Skip string
	// Own is the alias of servers.json that the entry stands for, "" for none: it was
	// written by an export.
	Own string
}

// Import translates a server. dir is the project's folder, which placeholders such as
// ${workspaceFolder} stand for; "" where there is none.
func (f *File) Import(name, dir string) Imported {
	in := f.Location.Host.readEntry(f.Raw(name), dir)
	if g, ok := f.doc.(*gathered); ok {
		of := g.found[name]
		in.notes = append(of.notes, in.notes...)
		for _, l := range of.lost {
			in.lose(l.Setting, l.Instead)
		}
		if of.skip != "" {
			in.skip = of.skip
		}
	} else if in.d.guarded {
		f.guard(in, name)
	}
	return in.result()
}

func (h *Host) importEntry(raw json.RawMessage, dir string) Imported {
	return h.readEntry(raw, dir).result()
}

func (h *Host) readEntry(raw json.RawMessage, dir string) *incoming {
	in := &incoming{d: h.dialect(), dir: dir}
	doc, err := jsonedit.Parse(raw)
	if err != nil || len(doc.Names()) == 0 {
		in.skip = "the entry is no object with members"
		return in
	}
	for _, name := range doc.Names() {
		in.member(name, doc.Value(name))
	}
	return in
}

// incoming is an entry being read.
type incoming struct {
	d   dialect
	dir string

	command   string
	args      []string
	env       pairs
	cwd       string
	url       string
	headers   pairs
	typ       string
	auth      members
	tools     config.ToolFilter
	off       bool
	timeout   map[string]string // of ours, by member
	unchanged members           // of servers.json, as they are
	notes     []string
	lost      []Loss
	skip      string
}

func (in *incoming) warn(format string, a ...any) {
	in.notes = append(in.notes, fmt.Sprintf(format, a...))
}

// member reads one member of the host's entry. Hosts take over the forms of one another,
// so the common names are read for all of them.
func (in *incoming) member(name string, value json.RawMessage) {
	d := in.d
	if d.special.read != nil && d.special.read(in, name, value) {
		return
	}
	if always, ok := d.always[name]; ok && string(always) == string(value) {
		return
	}
	if d.guarded && name == "auth" {
		in.readAuth(name, value)
		return
	}
	switch name {
	case d.keys.command, "command":
		in.readCommand(name, value)
	case d.keys.args, "args":
		in.args = append(in.args, in.texts(name, value)...)
	case d.keys.env, "env":
		in.env = append(in.env, in.pairs(name, value)...)
	case "cwd":
		in.cwd = in.text(name, value)
	case d.keys.sse:
		in.url, in.typ = in.text(name, value), config.TransportSSE
	case d.keys.url, "url", "serverUrl":
		in.url = in.text(name, value)
	case d.keys.headers, "headers":
		in.headers = append(in.headers, in.pairs(name, value)...)
	case "type", "transport":
		in.readType(name, value)
	case d.keys.disabled, "disabled":
		in.off = in.off || !isOff(value) && string(value) != "null"
	case d.keys.enabled, "enabled":
		in.off = in.off || isOff(value)
	case d.keys.requestTimeout:
		in.duration("requestTimeout", name, value, d.timeoutUnit)
	case d.keys.oauth, "oauth":
		in.readOAuth(name, value)
	default:
		if in.readTools(name, value) || d.guarded && in.guarded(name, value) {
			return
		}
		in.warn("%s is left out: mcpctl has no such setting", name)
	}
}

// isOff reports whether a switch is off, in any spelling.
func isOff(value json.RawMessage) bool {
	return slices.Contains([]string{"false", "0", "no", "off"}, strings.ToLower(strings.Trim(string(value), `"`)))
}

// readCommand reads a program, or a program with its arguments.
func (in *incoming) readCommand(name string, value json.RawMessage) {
	if value[0] != '[' {
		in.command = in.text(name, value)
		return
	}
	if words := in.texts(name, value); len(words) > 0 {
		in.command, in.args = words[0], append(words[1:], in.args...)
	}
}

func (in *incoming) readType(name string, value json.RawMessage) {
	var typ string
	_ = json.Unmarshal(value, &typ)
	switch strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(typ)) {
	case "stdio", "local", "http", "streamablehttp", "remote":
	case "sse":
		in.typ = config.TransportSSE
	default:
		in.skip = fmt.Sprintf("mcpctl has no transport for %s %s", name, value)
	}
}

// readOAuth reads what a host knows of a client that is registered by hand.
func (in *incoming) readOAuth(name string, value json.RawMessage) {
	doc, err := jsonedit.Parse(value)
	if err != nil || len(doc.Names()) == 0 {
		in.warn("%s is left out: mcpctl logs in when a server asks for it", name)
		return
	}
	for _, key := range doc.Names() {
		if key != "enabled" && !in.readClient(name, key, doc.Value(key)) {
			in.warn("%s.%s is left out: mcpctl has no such setting", name, key)
		}
	}
}

// readClient reads one member about a registered client. It reports whether there is such.
func (in *incoming) readClient(name, key string, v json.RawMessage) bool {
	switch key {
	case "clientId", "client_id", "CLIENT_ID":
		in.auth.set("clientId", in.text(name+"."+key, v))
	case "clientSecret", "client_secret", "CLIENT_SECRET":
		in.auth.set("clientSecret", in.text(name+"."+key, v))
	case "scopes", "scope":
		scopes := in.texts(name+"."+key, v)
		if len(scopes) == 1 {
			scopes = strings.Fields(scopes[0])
		}
		in.auth.set("scopes", scopes)
	case "callbackPort":
		in.auth.set("callbackPort", v)
	default:
		return false
	}
	return true
}

// bearer sets the Authorization header to a token, which may have its scheme.
func (in *incoming) bearer(token string) {
	in.headers = append(in.headers, pair{"Authorization", bearerOf(token)})
}

// text reads a text with the host's placeholders. Numbers and words are taken as text.
func (in *incoming) text(name string, value json.RawMessage) string {
	var s string
	switch {
	case json.Unmarshal(value, &s) == nil:
	case value[0] == '{' || value[0] == '[':
		in.warn("%s is left out: want a text", name)
		return ""
	default:
		s = string(value)
	}
	if in.d.verbatim {
		return s
	}
	if !in.expands(name) {
		return escape(s)
	}
	ours, notes := in.d.syntax.parse(s, in.dir)
	in.notes = append(in.notes, notes...)
	return ours
}

func (in *incoming) expands(name string) bool {
	name, _, _ = strings.Cut(name, ".")
	return in.d.expands == nil || slices.Contains(in.d.expands, name)
}

func (in *incoming) texts(name string, value json.RawMessage) []string {
	var list []json.RawMessage
	if json.Unmarshal(value, &list) != nil {
		return []string{in.text(name, value)}
	}
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = in.text(name, v)
	}
	return out
}

func (in *incoming) pairs(name string, value json.RawMessage) pairs {
	doc, err := jsonedit.Parse(value)
	if err != nil || value[0] != '{' {
		in.warn("%s is left out: want an object", name)
		return nil
	}
	var out pairs
	for _, key := range doc.Names() {
		if text := in.text(name+"."+key, doc.Value(key)); !in.runs(name+"."+key, text) {
			out = append(out, pair{key, text})
		}
	}
	return out
}

// duration reads a number of units as a duration of ours.
func (in *incoming) duration(ours, name string, value json.RawMessage, unit string) {
	n, err := strconv.ParseFloat(string(value), 64)
	if err == nil && n == 0 && in.d.guarded && ours == "requestTimeout" {
		in.setTimeout(ours, "never")
		return
	}
	if err != nil || n <= 0 {
		in.warn("%s is left out: want a number above 0", name)
		return
	}
	text := strconv.FormatFloat(n, 'f', -1, 64) + unit
	if unit == "ms" && n >= 1000 && n == float64(int(n/1000))*1000 {
		text = strconv.Itoa(int(n/1000)) + "s"
	}
	in.setTimeout(ours, text)
}

func (in *incoming) setTimeout(ours, text string) {
	if in.timeout == nil {
		in.timeout = map[string]string{}
	}
	in.timeout[ours] = text
}

// result returns the entry, or why there is none.
func (in *incoming) result() Imported {
	in.unbridge()
	switch {
	case in.skip != "":
	case in.command == "" && in.url == "":
		in.skip = "it has no command and no address"
	case in.command != "" && in.url != "":
		in.skip = "it has both a command and an address"
	case strings.HasPrefix(in.url, "unix:") || strings.HasPrefix(in.url, "pipe:"):
		in.skip = "mcpctl reaches no server over a socket or a pipe"
	}
	if len(in.auth.names) > 0 && in.url == "" && in.skip == "" && in.d.guarded {
		in.warn("auth is left out: only a remote server is logged in to")
	}
	if v := in.auth.values; in.url != "" && v["clientSecret"] != nil && v["issuer"] == nil && v["tokenEndpoint"] == nil {
		in.warn("auth.clientSecret is sent to nobody yet: auth.issuer has to name the authorization server that knows it")
	}
	out := Imported{Notes: in.notes, Lost: in.lost, Skip: in.skip}
	if in.skip != "" {
		return out
	}
	base := strings.TrimSuffix(in.command[strings.LastIndexAny(in.command, `/\`)+1:], ".exe")
	if n := len(in.args); base == program && n >= 2 && slices.Contains([]string{"run", "bridge"}, in.args[n-2]) {
		out.Own = in.args[n-1]
	}
	var m members
	m.set("command", in.command)
	m.set("args", in.args)
	m.set("env", in.env)
	m.set("cwd", in.cwd)
	if in.url != "" && in.typ != "" {
		m.set("type", in.typ)
	}
	m.set("url", in.url)
	m.set("headers", in.headers)
	if in.url != "" && len(in.auth.names) > 0 {
		m.set("auth", in.auth.raw())
	}
	for _, name := range []string{"connectTimeout", "requestTimeout", "shutdownTimeout"} {
		m.set(name, in.timeout[name])
	}
	m.set("tools", in.tools)
	for _, name := range in.unchanged.names {
		m.put(name, in.unchanged.values[name])
	}
	if in.off {
		m.set("disabled", true)
	}
	out.Entry = m.raw()
	return out
}
