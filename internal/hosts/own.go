package hosts

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpctl/mcpctl/internal/jsonedit"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// camel returns the name of a member of servers.json for one that is spelled with
// underscores, and any other name as it is.
func camel(name string) string {
	words := strings.Split(name, "_")
	for i, word := range words[1:] {
		if word != "" {
			words[i+1] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	if ours := strings.Join(words, ""); slices.Contains(config.Keys(), ours) {
		return ours
	}
	return name
}

// keep takes over a member of servers.json. One that cannot be read is lost.
func (in *incoming) keep(name, ours string, value json.RawMessage) {
	if ours != name && strings.HasSuffix(ours, "Timeout") {
		switch value = seconds(value); {
		case string(value) == `"adaptive"`: // without the setting it adapts
			return
		case unsound(ours, value) != "":
			in.warn("%s is left out: want a duration such as 30s", name)
			return
		}
	}
	if ours == "cliRoots" {
		value = in.translated(name, value)
	}
	why := unsound(ours, value)
	if why == "" && in.unchanged.values[ours] != nil {
		why = "it is there twice"
	}
	if why != "" {
		in.lose(name, "mend it in the file: "+why)
		return
	}
	in.unchanged.put(ours, value)
}

// seconds returns a duration of avelino, which may be a number of seconds, as servers.json
// has it.
func seconds(value json.RawMessage) json.RawMessage {
	text := strings.TrimSpace(strings.Trim(string(value), `"`))
	if n, err := strconv.ParseUint(text, 10, 32); err == nil {
		text = strconv.FormatUint(n, 10) + "s"
	}
	return rawjson.Quote(nil, text)
}

// unsound says why servers.json cannot have a member, "" if it can.
func unsound(name string, value json.RawMessage) string {
	entry := `{"command":"x",`
	if name == "auth" {
		entry = `{"url":"https://x",`
	}
	f, err := config.Parse("", []byte(`{"mcpServers":{"x":`+entry+`"`+name+`":`+string(value)+"}}}"))
	if err != nil {
		return "it is no JSON"
	}
	for _, e := range f.Entries() {
		if e.Fault != nil {
			return e.Fault.Message
		}
	}
	return ""
}

// translated returns a value whose texts have the placeholders of servers.json.
func (in *incoming) translated(name string, value json.RawMessage) json.RawMessage {
	switch value[0] {
	case '"':
		return rawjson.Quote(nil, in.text(name, value))
	case '[':
		var list []json.RawMessage
		if json.Unmarshal(value, &list) != nil {
			return value
		}
		out := []byte{'['}
		for i, v := range list {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, in.translated(name, v)...)
		}
		return append(out, ']')
	case '{':
		doc, err := jsonedit.Parse(value)
		if err != nil {
			return value
		}
		var m members
		for _, key := range doc.Names() {
			m.put(key, in.translated(name+"."+key, doc.Value(key)))
		}
		return m.raw()
	}
	return value
}

// readAuth reads how a login is made: as servers.json says it, or as other programs do of a
// client that is registered by hand.
func (in *incoming) readAuth(name string, value json.RawMessage) {
	if saysNothing(value) || string(value) == `"oauth"` {
		return // mcpctl logs in when a server asks for it
	}
	doc, err := jsonedit.Parse(value)
	if err != nil || value[0] != '{' {
		in.lose(name, asAuth)
		return
	}
	if ours := in.translated(name, value); unsound("auth", ours) == "" {
		if doc, err = jsonedit.Parse(ours); err == nil {
			for _, key := range doc.Names() {
				in.auth.put(key, doc.Value(key))
			}
		}
		return
	}
	if slices.Contains(doc.Names(), "grant") { // no other program has it
		in.lose(name, "mend it in the file: "+unsound("auth", value))
		return
	}
	before := len(in.lost)
	for _, key := range doc.Names() {
		switch v := doc.Value(key); key {
		case "clientId", "client_id", "CLIENT_ID", "clientSecret", "client_secret", "CLIENT_SECRET", "scopes", "scope", "callbackPort", "resource":
		case "credentialId":
			in.warn("%s.%s is left out: mcpctl logs in by itself", name, key)
		default:
			if key != "type" || string(v) != `"oauth"` {
				in.lose(name+"."+key, asAuth)
			}
		}
	}
	if len(in.lost) > before { // the rest alone may send a secret to somebody else
		return
	}
	for _, key := range doc.Names() {
		if v := doc.Value(key); key == "resource" {
			in.auth.set(key, in.text(name+"."+key, v))
		} else {
			in.readClient(name, key, v)
		}
	}
}

// ourAlone reports whether no other program has a member of entries.
func ourAlone(member string) bool {
	switch member {
	case "command", "args", "env", "cwd", "url", "headers", "auth", "type", "disabled", "cli", "tools", "labels", "start", "requestIdFormat":
		return false
	}
	return slices.Contains(config.Keys(), member)
}

// guess returns the host whose form a file has whose servers are below mcpServers, and which
// is not in any host's place.
func (f *File) guess(text, path, own string) *Host {
	holds := func(names ...string) bool {
		return slices.ContainsFunc(f.doc.names(nil), func(name string) bool { return slices.Contains(names, name) })
	}
	entry := func(matches func(member string) bool) bool {
		return slices.ContainsFunc(f.Names(), func(name string) bool {
			doc, err := jsonedit.Parse(f.Raw(name))
			return err == nil && slices.ContainsFunc(doc.Names(), matches)
		})
	}
	schema := string(f.doc.value([]string{"$schema"}))
	gateway := holds("serverAuth", "acl", "oauthAs", "audit")
	switch {
	case path == own || filepath.Base(filepath.Dir(path)) == ".mcpctl" || strings.Contains(schema, "mcpctl"),
		!gateway && !holds("mcpProxy", "httpServer", "middleware", "disabledServers", "enabledServers") && (entry(ourAlone) || strings.Contains(text, "${principal.")):
		return &Host{Name: program, Title: program, files: nowhere, dialect: whole}
	case holds("mcpProxy"):
		return Find("mcp-proxy")
	case holds("httpServer", "middleware") || entry(func(m string) bool { return m == "authorizationToken" }):
		return Find("mcproxy")
	case holds("disabledServers", "enabledServers") || strings.Contains(schema, "oh-my-pi"):
		return &Host{Name: "oh-my-pi", Title: "oh-my-pi", files: nowhere, dialect: ohMyPi}
	case gateway || entry(func(m string) bool { return camel(m) != m }):
		return Find("avelino")
	case strings.Contains(text, `"baseUrl"`):
		return Find("mcporter").wary()
	case strings.Contains(text, "${env:"):
		return Find("cursor").wary()
	}
	return &Host{Name: "file", Title: "a file", files: nowhere, dialect: ours}
}

// wary returns a host of which nothing that limits a server is left out unsaid: the form
// of the file may be that of another program.
func (h *Host) wary() *Host {
	out, of := *h, h.dialect
	out.dialect = func() dialect {
		d := of()
		d.guarded = true
		return d
	}
	return &out
}
