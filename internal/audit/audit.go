// Package audit is what is recorded of requests: who asked for what, what policies said, and
// what came of it. A record is one line of JSON, and its bytes are what is hashed, stored,
// exported and verified. It never has a credential, a header, a value of the environment,
// arguments or results: of those it has keyed digests and sizes.
package audit

import (
	"net/netip"
	"time"
)

// Kind is what a record is about.
type Kind string

// Kinds of records. Those of requests have the names that policies have for actions.
const (
	// KindCall, KindGet, KindRead, KindQuestion, KindLink, KindOperate and KindDeliver are
	// decisions about a request; Outcome is what came of it, where that was known in time.
	KindCall     Kind = "call"
	KindGet      Kind = "get"
	KindRead     Kind = "read"
	KindQuestion Kind = "question"
	KindLink     Kind = "link"
	KindOperate  Kind = "operate"
	KindDeliver  Kind = "deliver"
	// KindDone is the outcome of a request whose decision was recorded before: the record
	// Of of the same run.
	KindDone Kind = "done"
	// KindAuth is refused credentials: Text is why, Count how many alike since the last one.
	KindAuth Kind = "auth"
	// KindList is that a view of the catalogue was listed: Text is the list's method, Count
	// how many items it had.
	KindList Kind = "list"
	// KindPolicy, KindPin, KindToken are that these were replaced, KindApprove is what a
	// person has answered, KindAudit that the log was read over HTTP.
	KindPolicy  Kind = "policy"
	KindPin     Kind = "pin"
	KindToken   Kind = "token"
	KindApprove Kind = "approve"
	KindAudit   Kind = "audit"
	// KindStart and KindStop are the first and the last record of a run, KindRotate is that
	// another key signs from here on.
	KindStart  Kind = "start"
	KindStop   Kind = "stop"
	KindRotate Kind = "rotate"
	// KindGap is that Count records could not be written, KindPrune that all records before
	// the number Count have been removed.
	KindGap   Kind = "gap"
	KindPrune Kind = "prune"
)

// Verdicts of policies, as records have them.
const (
	VerdictAllow = "allow"
	VerdictDeny  = "deny"
	VerdictLimit = "limit"
)

// Values of Outcome.Out.
const (
	OutOK        = "ok"
	OutToolError = "toolerror"
	OutError     = "error"
	OutTimeout   = "timeout"
	OutCancelled = "cancelled"
	OutLost      = "lost"
)

// Lost is the digest of bytes that were not yet hashed when their process ended.
const Lost = "lost"

// Record is one record. Empty members are left out of its JSON, but v, t, run, n and kind.
type Record struct {
	// Time is in UTC, exact to the microsecond.
	Time time.Time
	// Run names the process, N counts its records from 1: holes show that some are missing.
	Run string
	N   uint64
	// Kind is what the record is about, Of the N of the decision that a KindDone is about.
	Kind Kind
	Of   uint64

	Principal Principal
	Target    Target
	Decision  Decision
	Arguments Arguments
	Outcome   Outcome
	// Text and Count are what some kinds say beside.
	Text  string
	Count int64
}

// Principal is who has asked.
type Principal struct {
	// ID is that of the principal, "local" for the user of this machine. Name is for people.
	ID, Name string
	// Groups are those that the credential and the settings give the principal, without
	// those that policies make it a member of: what replays of the log need to know.
	Groups []string
	// Client is the program, Via the kind of the provider that knows the principal.
	Client, Via string
	// Addr is the peer's address; zero for none.
	Addr netip.Addr
	// Flow stands for the conversation.
	Flow string
}

// Target is what was asked for.
type Target struct {
	// Server and Item are the server's own names. A URI has no query and no user.
	Server, Item string
	// Era is the client's revision of the protocol.
	Era string
	// Definition is the digest of the item's definition as the client was shown it.
	Definition string
	// Trace is the trace id that the client sent.
	Trace string
	// View is the view through which the client saw the item, "" for none.
	View string
	// Through is the tool of the proxy's own through which a call was made, "" for none.
	Through string
}

// Decision is what policies have said.
type Decision struct {
	// Verdict is VerdictAllow, VerdictDeny or VerdictLimit; "" where nobody was asked.
	Verdict string
	// By are the ids of the policies that have decided, Would those of shadow policies
	// that would have denied, Scopes what the credential lacks.
	By, Would, Scopes []string
	// Generation is the digest of all policies.
	Generation string
	// Seen are the labels of the conversation, Found those of guards.
	Seen, Found []string
}

// Arguments are the arguments that the server gets.
type Arguments struct {
	// Digest is their keyed digest, or Lost; "" for none.
	Digest string
	// Size is how many bytes they have.
	Size int64
}

// Outcome is what came of a request.
type Outcome struct {
	// Out is one of the Out constants; "" for a request that was not let through, or is not
	// over.
	Out string
	// Took is the time from the decision on, exact to the millisecond in the record.
	Took time.Duration
	// ResultDigest is the keyed digest of the result as the server sent it, ResultSize how
	// many bytes it has.
	ResultDigest string
	ResultSize   int64
}
