package sharing

import (
	"encoding/json"
	"testing"

	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/settings"
)

func TestChoose(t *testing.T) {
	t.Parallel()
	const form = `{"elicitation":{"form":{}}}`
	session := Request{Version: revision.Latest, Capabilities: json.RawMessage(form), InSession: true}
	mute := Request{Version: revision.Latest, InSession: true}
	alone := Request{Version: revision.Modern, Capabilities: json.RawMessage(form)}
	asks := Era{AsksClients: true}
	tests := map[string]struct {
		from      Request
		era       Era
		isolation settings.Isolation
		want      Choice
		legacy    bool
	}{
		"a server that does not ask":                 {session, Era{}, settings.IsolationAuto, Shared, false},
		"one that asks":                              {session, asks, settings.IsolationAuto, Session, false},
		"one that asks a client that cannot be":      {mute, asks, settings.IsolationAuto, Equals, false},
		"one that asks and names the call":           {alone, asks, settings.IsolationAuto, Equals, false},
		"one that asks and names none":               {alone, Era{AsksClients: true, Unattributed: true}, settings.IsolationAuto, Call, false},
		"one that asks in its modern era":            {alone, Era{Modern: true, AsksClients: true}, settings.IsolationAuto, Shared, false},
		"one of both eras":                           {session, Era{Modern: true, SpeaksBoth: true}, settings.IsolationAuto, Shared, true},
		"one of both eras that asks":                 {session, Era{Modern: true, SpeaksBoth: true, AsksClients: true}, settings.IsolationAuto, Session, true},
		"a remote one, without a session":            {alone, Era{Remote: true}, settings.IsolationAuto, Equals, false},
		"a remote one, in a session":                 {session, Era{Remote: true}, settings.IsolationAuto, Shared, false},
		"shared, and it asks":                        {session, asks, settings.IsolationShared, Shared, false},
		"shared by a principal, and it asks":         {session, asks, settings.IsolationPrincipal, Shared, false},
		"each session's":                             {mute, Era{}, settings.IsolationSession, Session, false},
		"each session's, of a client without one":    {alone, Era{}, settings.IsolationSession, Shared, false},
		"each session's, without one, when it asks":  {alone, asks, settings.IsolationSession, Equals, false},
		"shared, a remote one that gets no truth":    {alone, Era{Remote: true}, settings.IsolationShared, Shared, false},
		"a principal's, a remote one without truth,": {alone, Era{Remote: true}, settings.IsolationPrincipal, Shared, false},
	}
	for name, test := range tests {
		got, offer := test.from.Choose(&test.era, test.isolation)
		if got != test.want || test.from.Legacy(&test.era) != test.legacy || (offer == SharedOffer) != (got == Shared) {
			t.Errorf("%s: got %v, %s", name, got, offer)
		}
	}
}

// TestUsers: each kind of connection has a key of its own.
func TestUsers(t *testing.T) {
	t.Parallel()
	all := Everybodys("a", false)
	own := all
	own.Capabilities = "{}"
	seen := map[Key]bool{}
	for want, key := range map[string]Key{"everybody": all, "session": own.OfSession("1"), "call": own.OfCall(1), "equals": own} {
		if got := key.Users(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if seen[key] || key.IsSessions() != (want == "session") || key.IsShared() != (want == "everybody") {
			t.Errorf("%s: %+v", want, key)
		}
		seen[key] = true
	}
}
