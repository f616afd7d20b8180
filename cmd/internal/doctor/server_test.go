package doctor

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/login"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
)

// TestUnattended: what is set to wait for ever, or for a person, is not.
func TestUnattended(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ flag, entry, want time.Duration }{
		{0, 0, defaultLimit},
		{-1, 0, defaultLimit},
		{0, -1, defaultLimit},
		{-1, time.Second, defaultLimit},
		{time.Minute, -1, time.Minute},
		{0, time.Second, 0}, // the entry's
	} {
		if got := unattended(dial.Options{ConnectTimeout: c.flag}, config.Entry{ConnectTimeout: c.entry}).ConnectTimeout; got != c.want {
			t.Errorf("%v, entry %v: got %v", c.flag, c.entry, got)
		}
	}
	person := &dial.Auth{Person: &login.Person{}}
	if o := unattended(dial.Options{Auth: person}, config.Entry{}); o.Auth.Person != nil || person.Person == nil {
		t.Error("somebody is asked to log in, or nobody is any more")
	}
}

// TestSchemaFaults: the tool, which of its schemas, and the place in it.
func TestSchemaFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, out, of, place string }{
		{`{"type":"object"}`, "", "", ""},
		{`{"type":"object"}`, `{"type":"object"}`, "", ""},
		{"", "", "t: it has no inputSchema", ""},
		{`{"properties":{"a":{"type":"objekt"}}}`, "", "t: inputSchema", "/properties/a/type: "},
		{`{"type":"object"}`, `[]`, "t: outputSchema", "neither an object nor a boolean"},
	} {
		got := strings.Join(schemaFaults(runtime.Tool{Name: "t", InputSchema: json.RawMessage(c.in), OutputSchema: json.RawMessage(c.out)}), "\n")
		if (got == "") != (c.of == "") || !strings.HasPrefix(got, c.of) || !strings.Contains(got, c.place) || strings.Contains(got, "\n") {
			t.Errorf("%s %s: got %q", c.in, c.out, got)
		}
	}
}
