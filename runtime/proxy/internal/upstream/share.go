package upstream

import (
	"encoding/json"

	"github.com/mcpctl/mcpctl/internal/revision"
)

// Era is how a server speaks with its clients.
type Era struct {
	Modern       bool   // its preferred era is the modern one
	SpeaksBoth   bool   // and it speaks the handshake, too: clients of that era are better served in it
	NoHandshake  bool   // it lists the stateless era alone, and has refused the handshake or has less in it
	Remote       bool   // it shakes hands, and is no process of ours
	AsksClients  bool   // it has asked a client something in the handshake era
	Unattributed bool   // and did not say inside which call
	Offer        string // what it was told that it can ask when it offered what is stored
}

// ShareChoice is which connection a request takes.
type ShareChoice int

// Which connection a request takes.
const (
	ShareEra     ShareChoice = iota // the one that clients of the era share
	ShareSession                    // its session's own
	ShareEquals                     // one for all clients that can be asked the same
	ShareCall                       // one that nobody else uses until the request has ended
)

// ShareRequest is what of a client's request decides.
type ShareRequest struct {
	// Version is the client's revision, Capabilities are what it can be asked, raw.
	Version      string
	Capabilities json.RawMessage
	// InSession says that it belongs to a session.
	InSession bool
}

// Legacy reports whether the request takes the handshake era of the server. A server that
// lists the other era alone is tried where the client can be asked something: some take
// the handshake all the same, and ask in no other era.
func (r *ShareRequest) Legacy(e *Era) bool {
	if revision.IsModern(r.Version) {
		return false
	}
	return e.SpeaksBoth || e.IsUntold() && r.InSession && revision.Asks(r.Capabilities)
}

// IsUntold reports whether the server may take a handshake without saying so.
func (e *Era) IsUntold() bool { return e.Modern && !e.SpeaksBoth && !e.NoHandshake }

// Choose returns which connection the request takes, and what the server is told
// over it that it can ask.
func (r *ShareRequest) Choose(e *Era, isolation Isolation) (_ ShareChoice, offer string) {
	modern, legacy := revision.IsModern(r.Version), r.Legacy(e)
	private := isolation == IsolationSession && r.InSession
	asked := e.AsksClients && (legacy || !e.Modern) && isolation != IsolationShared && isolation != IsolationPrincipal
	// A connection that costs no process tells the server the truth: some go by
	// what a client has declared without ever asking. Sessions are told apart
	// when there is more to it than that.
	truth := e.Remote && modern && isolation == IsolationAuto
	if !private && !asked && !truth {
		return ShareEra, SharedOffer
	}
	to := revision.Latest
	if e.Modern && !legacy {
		to = revision.Modern
	}
	offer = string(revision.Offer(r.Capabilities, r.Version, to))
	switch {
	case offer == SharedOffer && !private && !asked:
		return ShareEra, SharedOffer
	case r.InSession && (private || offer != "{}"):
		return ShareSession, offer
	case offer == "{}" || !e.Unattributed:
		return ShareEquals, offer
	}
	return ShareCall, offer
}
