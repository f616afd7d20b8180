package access

import (
	"strconv"
	"time"
)

// Codes of refused requests. Those above -32000 are an application's own (JSON-RPC 2.0,
// 5.1).
const (
	// CodeDenied is that policies do not allow a request, CodeLimited that there were too
	// many of its kind.
	CodeDenied  = -31009
	CodeLimited = -31029
	// CodeUnrecorded is that a request cannot be recorded, and is refused for that.
	CodeUnrecorded = -31050
)

// Denied is why policies refuse a request. It has no part of the request but its names.
type Denied struct {
	// Code is one of the codes above.
	Code int64
	// Reason is for people: that of the policy, or what could not be checked.
	Reason string
	// Policy is the id of the policy that has decided, "" where none allows.
	Policy string
	// Server and Item are the server's names, "" for none.
	Server, Item string
	// RetryAfter is when a limit lets the next one pass, zero for unknown.
	RetryAfter time.Duration
	// Scopes are all that the credential would need, those that it has included; nil
	// where scopes would change nothing.
	Scopes []string
	// URL is the page on which a person can allow the request, "" for none.
	URL string
}

// Error returns the reason and the policy.
func (d *Denied) Error() string {
	text := "denied"
	switch d.Code {
	case CodeLimited:
		text = "too many requests"
	case CodeUnrecorded:
		text = "the audit log cannot be written, and nothing is done without it: see mcpctl doctor"
	}
	if d.Reason != "" {
		text += ": " + d.Reason
	}
	if d.RetryAfter > 0 {
		text += ", again in " + strconv.Itoa(int((d.RetryAfter+time.Second-1)/time.Second)) + " s"
	}
	if d.URL != "" {
		text += "; to allow it, open " + d.URL + " and call again"
	}
	if d.Policy != "" {
		text += " (policy " + d.Policy + ")"
	}
	return text
}

// ErrorKind returns the kind as errors name it: "denied", "limit" or "unrecorded".
func (d *Denied) ErrorKind() string {
	switch d.Code {
	case CodeLimited:
		return "limit"
	case CodeUnrecorded:
		return "unrecorded"
	}
	return "denied"
}
