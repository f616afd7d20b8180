package bridge

import (
	"encoding/json"
)

// Conversion is the way of a payload from a server of one revision to a client
// of another. Its methods are pure: they touch what the revisions disagree
// about and leave every other byte alone, unknown members, the text of numbers
// and the order of members included. A payload that needs no change is given
// back as the same bytes. A Conversion may be used concurrently.
type Conversion struct {
	// From is the revision of the connection behind, To the client's. An empty
	// To is a client of the handshake era that has not said: it gets what the
	// newest of those revisions can express. An empty From is Latest.
	From, To string
	// Method is that of the request whose result or error it is.
	Method string
	// Capabilities is what the client has declared, raw; nil is nothing. It
	// decides which results of extensions may pass, and which capabilities an
	// error may ask for.
	Capabilities json.RawMessage
	// Server is who we are, a raw Implementation object. Results for modern
	// clients carry it; nil adds nothing.
	Server json.RawMessage
	// Wrap tells that the tool's output schema is exposed wrapped to this client
	// (see [WrapsOutput]), so that what it returns has to be wrapped too.
	Wrap bool
}

func (c *Conversion) from() string { return orLatest(c.From) }
func (c *Conversion) to() string   { return orLatest(c.To) }

func orLatest(version string) string {
	if version == "" {
		return Latest
	}
	return version
}

// Needed tells, without looking at any, whether results can need a change.
func (c *Conversion) Needed() bool {
	return IsModern(c.To) || IsModern(c.From) || c.to() < c.from()
}

// Result gives a server's result in the client's revision. The error tells why
// the client cannot take it; it is a *runtime.ProtocolError.
func (c *Conversion) Result(raw json.RawMessage) (json.RawMessage, error) { return raw, nil }
