package config

import (
	"encoding/json"

	"github.com/tailscale/hujson"

	"github.com/mcpctl/mcpctl/runtime/auth/authconfig"
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
	if _, err := authconfig.Parse(e.Auth); err != nil {
		d.fault(v.StartOffset, at+": "+err.Error(), "docs/auth.md has the keys of each grant")
	}
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
