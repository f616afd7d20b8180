package upstream

import (
	"encoding/json"
	"testing"

	"github.com/mcpctl/mcpctl/internal/revision"
)

func TestChoose(t *testing.T) {
	t.Parallel()
	const form = `{"elicitation":{"form":{}}}`
	session := ShareRequest{Version: revision.Latest, Capabilities: json.RawMessage(form), InSession: true}
	mute := ShareRequest{Version: revision.Latest, InSession: true}
	alone := ShareRequest{Version: revision.Modern, Capabilities: json.RawMessage(form)}
	asks := Era{AsksClients: true}
	tests := map[string]struct {
		from      ShareRequest
		era       Era
		isolation Isolation
		want      ShareChoice
		legacy    bool
	}{
		"a server that does not ask":                 {session, Era{}, IsolationAuto, ShareEra, false},
		"one that asks":                              {session, asks, IsolationAuto, ShareSession, false},
		"one that asks a client that cannot be":      {mute, asks, IsolationAuto, ShareEquals, false},
		"one that asks and names the call":           {alone, asks, IsolationAuto, ShareEquals, false},
		"one that asks and names none":               {alone, Era{AsksClients: true, Unattributed: true}, IsolationAuto, ShareCall, false},
		"one that asks in its modern era":            {alone, Era{Modern: true, AsksClients: true}, IsolationAuto, ShareEra, false},
		"one of both eras":                           {session, Era{Modern: true, SpeaksBoth: true}, IsolationAuto, ShareEra, true},
		"one of both eras that asks":                 {session, Era{Modern: true, SpeaksBoth: true, AsksClients: true}, IsolationAuto, ShareSession, true},
		"a remote one, without a session":            {alone, Era{Remote: true}, IsolationAuto, ShareEquals, false},
		"a remote one, in a session":                 {session, Era{Remote: true}, IsolationAuto, ShareEra, false},
		"shared, and it asks":                        {session, asks, IsolationShared, ShareEra, false},
		"shared by a principal, and it asks":         {session, asks, IsolationPrincipal, ShareEra, false},
		"each session's":                             {mute, Era{}, IsolationSession, ShareSession, false},
		"each session's, of a client without one":    {alone, Era{}, IsolationSession, ShareEra, false},
		"each session's, without one, when it asks":  {alone, asks, IsolationSession, ShareEquals, false},
		"shared, a remote one that gets no truth":    {alone, Era{Remote: true}, IsolationShared, ShareEra, false},
		"a principal's, a remote one without truth,": {alone, Era{Remote: true}, IsolationPrincipal, ShareEra, false},
	}
	for name, test := range tests {
		got, offer := test.from.Choose(&test.era, test.isolation)
		if got != test.want || test.from.Legacy(&test.era) != test.legacy || (offer == SharedOffer) != (got == ShareEra) {
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
