package hosts

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/runtime/config"
)

// Loss is a setting of a host that limits a server or who may use it, and that an imported
// entry does not have.
type Loss struct {
	// Setting is where it is in the host's file. It holds no text of the setting.
	Setting string `json:"setting"`
	// Instead is what does the same here, and the page that says how.
	Instead string `json:"instead"`
}

// What stands here for the settings of others.
const (
	asView    = "write tools with allow and deny into the entry (docs/configure.md), a view into config.yaml (docs/views.md), or rules for everybody (docs/policy.md)"
	asHook    = "write serve.hooks into config.yaml (docs/hooks.md)"
	asAccess  = "write access into config.yaml (docs/policy.md); mcpctl policy import prints the rules of an acl"
	asAudit   = "write audit into config.yaml (docs/audit.md)"
	asLogin   = "write serve.auth into config.yaml (docs/share.md)"
	asAuth    = "write auth into the entry (docs/auth.md)"
	asCommand = "auth.command in the entry runs a program that prints a token (docs/auth.md); a variable is written ${NAME} (docs/configure.md)"
	asSwitch  = `write "disabled": true into the entries of the servers that are off`
)

func (in *incoming) lose(setting, instead string) {
	if l := (Loss{setting, instead}); !slices.Contains(in.lost, l) {
		in.lost = append(in.lost, l)
	}
}

// guard reads what a file says of its servers outside of their entries.
func (f *File) guard(in *incoming, name string) {
	for _, top := range f.doc.names(nil) {
		value := f.doc.value([]string{top})
		switch top {
		case "disabledServers":
			in.off = in.off || f.off(in, name, value)
		case "httpServer":
			f.middleware(in, name, []string{top, "middleware"})
			if n := f.doc.value([]string{top, "shutdownTimeout"}); n != nil && in.command != "" {
				in.duration("shutdownTimeout", top+".shutdownTimeout", n, "s")
			}
		case "middleware":
			f.middleware(in, name, []string{top})
		case "mcpProxy":
			if options := f.doc.value([]string{top, "options"}); options != nil {
				in.proxyOptions(top+".options", options)
			}
		case "serverAuth":
			f.serverAuth(in, value)
		case "oauthAs":
			in.loseUnlessEmpty(top, value, asLogin)
		case "acl":
			in.loseUnlessEmpty(top, value, asAccess)
		case "audit":
			if off := f.doc.value([]string{top, "enabled"}); string(off) != "false" && string(f.doc.value([]string{top, "output"})) != `"none"` {
				in.loseUnlessEmpty(top, value, asAudit)
			}
		}
	}
}

// off reports whether a list of servers that are off has a name. A list of another form may
// have it.
func (*File) off(in *incoming, name string, value json.RawMessage) bool {
	var names []string
	var switches map[string]bool
	switch {
	case json.Unmarshal(value, &names) == nil:
		return slices.Contains(names, name)
	case json.Unmarshal(value, &switches) == nil:
		return switches[name]
	}
	in.lose("disabledServers", asSwitch)
	return false
}

func (f *File) serverAuth(in *incoming, value json.RawMessage) {
	var of struct {
		ACL       json.RawMessage `json:"acl"`
		Providers []string        `json:"providers"`
	}
	if json.Unmarshal(value, &of) == nil && !saysNothing(of.ACL) {
		in.lose("serverAuth.acl", asAccess)
	}
	if names := f.doc.names([]string{"serverAuth"}); len(names) == 1 && names[0] == "acl" {
		return
	}
	if len(of.Providers) > 0 && !slices.ContainsFunc(of.Providers, func(p string) bool { return p != "none" }) {
		return
	}
	in.loseUnlessEmpty("serverAuth", value, asLogin)
}

// middleware reads what MCProxy has around calls and lists. What a server has of its own
// takes the place of the default.
func (f *File) middleware(in *incoming, name string, at []string) {
	join := func(names ...string) []string { return append(slices.Clone(at), names...) }
	places := [][]string{join("proxy"), join("client", "default")}
	if own := join("client", "servers", name); f.doc.value(own) != nil {
		places[1] = own
	}
	value := f.doc.value(at)
	known := value == nil || string(value) == "null" || value[0] == '{'
	for _, part := range f.doc.names(at) {
		known = known && (part == "proxy" || part == "client")
	}
	for _, part := range f.doc.names(join("client")) {
		known = known && (part == "default" || part == "servers")
	}
	if !known {
		in.lose(strings.Join(at, "."), asHook)
		return
	}
	for _, place := range places {
		value, setting := f.doc.value(place), strings.Join(place, ".")
		var list []struct {
			Type    string          `json:"type"`
			Enabled *bool           `json:"enabled"`
			Config  json.RawMessage `json:"config"`
		}
		if value != nil && json.Unmarshal(value, &list) != nil {
			in.lose(setting, asHook)
		}
		for _, m := range list {
			if m.Enabled != nil && !*m.Enabled {
				continue
			}
			switch m.Type {
			case "logging", "description_enricher", "tool_search": // they limit nothing
			case "tool_filter":
				if strings.HasSuffix(setting, ".proxy") || !in.filterRule(m.Config) {
					in.lose(m.Type+" in "+setting, asView)
				}
			default:
				in.lose(m.Type+" in "+setting, asHook)
			}
		}
	}
}

func (in *incoming) loseUnlessEmpty(setting string, value json.RawMessage, instead string) {
	if !saysNothing(value) {
		in.lose(setting, instead)
	}
}

// saysNothing reports whether a value is one that switches nothing on.
func saysNothing(value json.RawMessage) bool {
	switch string(value) {
	case "", "null", "false", "{}", "[]", `""`:
		return true
	}
	return false
}

// limit returns what does the same here as a member that says, by its name in whatever
// spelling, which tools a server may show or what may be done with them; "" for another
// member. limits is false where it lets everything through.
func limit(name string, value json.RawMessage) (instead string, limits bool) {
	switch plain := plainName(name); {
	case slices.Contains(allows(), plain):
		return asView, string(value) == "[]" || string(value) != `["*"]` && !saysNothing(value)
	case slices.Contains(denies(), plain), plain == "toolfilter":
		return asView, !saysNothing(value)
	case plain == "toolacl", plain == "acl":
		return asAccess, !allEmpty(value)
	case plain == "middleware":
		return asHook, !saysNothing(value)
	}
	return "", false
}

// allEmpty reports whether a value says nothing, or is an object whose members do.
func allEmpty(value json.RawMessage) bool {
	var members map[string]json.RawMessage
	if saysNothing(value) {
		return true
	}
	if json.Unmarshal(value, &members) != nil {
		return false
	}
	for _, v := range members {
		if !saysNothing(v) {
			return false
		}
	}
	return true
}

// guarded reads a member that the host's own form does not have: one of servers.json, or one
// that limits the server. It reports whether it is read.
func (in *incoming) guarded(name string, value json.RawMessage) bool {
	ours := camel(name)
	instead, limits := limit(name, value)
	if ours == "tools" && string(value) == "[]" && in.d.verbatim { // it changes no tool
		return true
	}
	switch {
	case name == "authorizationToken":
		if token := in.text(name, value); token != "" && !in.runs(name, token) {
			in.bearer(token)
		}
	case name == "headerPolicy" && string(value) == `"origin-locked"`: // as it is here
	case slices.Contains(config.Keys(), ours) && (instead == "" || string(value) != "[]" && unsound(ours, value) == ""):
		in.keep(name, ours, value)
	case limits:
		in.lose(name, instead)
	default:
		return instead != ""
	}
	return true
}

// runs reports whether a text is a command that another program runs for the value, in a
// shell. It is no value. One that prints a token is the command of auth; nothing is run here.
func (in *incoming) runs(name, text string) bool {
	command, ok := strings.CutPrefix(text, "!")
	if !in.d.guarded || in.d.verbatim || !ok {
		return false
	}
	if token := strings.EqualFold(name, "headers.Authorization") || name == "authorizationToken"; token && len(in.auth.names) == 0 && strings.TrimSpace(command) != "" {
		in.auth.set("command", []string{"sh", "-c", command})
		in.warn("%s is auth.command: it is run in a shell when a token is needed", name)
		return true
	}
	in.lose(name, asCommand)
	return true
}
