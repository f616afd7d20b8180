package config

import (
	"encoding/json"

	"github.com/tailscale/hujson"

	"github.com/mcpctl/mcpctl/internal/authconfig"
)

// auth reads the auth object of an entry, as written.
func (d *decoder) auth(e *Entry, at string, v hujson.Value) {
	if _, ok := v.Value.(*hujson.Object); !ok {
		d.wrong(v, at, "an object")
		return
	}
	plain := v.Clone()
	plain.Minimize()
	e.Auth = plain.Pack()
	inAuth := v.Clone()
	maskStrings(&inAuth, "", func(name, text string) string {
		d.principals("auth."+name, v, text)
		return text
	})
	c, err := authconfig.Parse(e.Auth)
	if err != nil {
		d.fault(v.StartOffset, at+": "+err.Error(), "docs/auth.md has the keys of each grant")
		return
	}
	if c.NeedsNamed() && c.Named() == "" {
		d.warn(v.StartOffset, at+" has a secret for an authorization server, and does not name it: nobody gets it", `write "issuer": "https://…" into it, or "tokenEndpoint"`)
	}
}

// maskAuth masks a text in auth by the name of its member. Those that say where something
// is have names as secrets do.
func maskAuth(name, text string) string {
	switch name {
	case "tokenEndpoint", "authorizationEndpoint", "issuer", "subjectIssuer":
		return maskURL(text)
	case "tokenFile":
		return maskNamed("", text)
	}
	return maskNamed(name, text)
}

// isAuthPlace reports whether a member of auth says where something is.
func isAuthPlace(field string) bool {
	return field == "auth.tokenEndpoint" || field == "auth.authorizationEndpoint" || field == "auth.issuer"
}

// object expands the texts in a JSON value; nil is nil.
func (x *expander) object(field string, raw json.RawMessage) []byte {
	root, err := hujson.Parse(raw)
	if raw == nil || err != nil {
		return nil
	}
	maskStrings(&root, "", func(name, text string) string { return x.field(field+"."+name, text) })
	return root.Pack()
}
