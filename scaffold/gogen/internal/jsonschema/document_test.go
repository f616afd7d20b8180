package jsonschema_test

import (
	"testing"

	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/jsonschema"
)

// TestResolve: where references lead, by pointer, or why they lead nowhere.
func TestResolve(t *testing.T) {
	const modern = `{"$id":"https://e.example/a","$defs":{"A":{"$anchor":"x","enum":[{"$anchor":"no"}]},"a/b":{"$id":"b","$defs":{"C":{"$anchor":"x"}}}},
		"x-more":{"D":{"$anchor":"late"}},"title":"t"}`
	const legacy = `{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"A":{"$id":"#x"},"B":{"$ref":"#x","$id":"#hidden"}},"prefixItems":[{"$id":"#no"}]}`
	for _, c := range []struct{ schema, ref, want string }{
		{modern, "#", ""},
		{modern, "https://e.example/a#/$defs/A", "/$defs/A"},
		{modern, "#/%24defs/a~1b/$defs/C", "/$defs/a~1b/$defs/C"},
		{modern, "#x", "/$defs/A"},
		{modern, "b", "/$defs/a~1b"},
		{modern, "b#x", "/$defs/a~1b/$defs/C"},
		{modern, "b#/$defs/C", "/$defs/a~1b/$defs/C"},
		{modern, "#/x-more/D", "/x-more/D"},
		{modern, "#no", "the reference #no leads nowhere"},
		{modern, "#late", "the reference #late leads nowhere"},
		{modern, "#/$defs/A/enum/00", "the reference #/$defs/A/enum/00 leads nowhere"},
		{modern, "#/title", "the reference #/title leads to no schema"},
		{modern, "https://e.example/c", "the reference https://e.example/c leads to another document"},
		{modern, "%", "the reference % is not a URI"},
		{legacy, "#x", "/definitions/A"},
		{legacy, "#hidden", "the reference #hidden leads nowhere"},
		{legacy, "#no", "the reference #no leads nowhere"},
	} {
		v, err := jsonschema.Decode([]byte(c.schema))
		if err != nil {
			t.Fatal(err)
		}
		d := jsonschema.NewDocument(v)
		p, err := d.Resolve(d.Bases()[0], c.ref)
		got := p.Pointer
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s leads to %q, want %q", c.ref, got, c.want)
		}
	}
}
