package upstream

import (
	"strconv"
	"strings"

	"github.com/mcpctl/mcpctl/internal/revision"
)

// Key says which connection to a server is meant; see proxy.Key.
type Key struct {
	Server       string
	Legacy       bool
	Principal    string // whose it is, "" where principals are not told apart
	Scope        string
	Capabilities string
}

// Beginnings of [Key.Scope].
const (
	scopeSession = "session "
	scopeCall    = "call "
)

// SharedOffer is what a connection declares that any client may come to use:
// all that we can carry. What a server asks goes by what its caller has declared.
const SharedOffer = `{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}},"roots":{},` +
	`"extensions":{"` + revision.ExtensionUI + `":{"mimeTypes":["text/html;profile=mcp-app"]}}}`

// Everybodys returns the key of the connection that all clients of an era share.
func Everybodys(server string, legacy bool) Key {
	return Key{Server: server, Legacy: legacy, Capabilities: SharedOffer}
}

// For returns the key of a principal's own connection instead.
func (k Key) For(principal string) Key {
	k.Principal = principal
	return k
}

// OfSession returns the key of one that is a session's own.
func (k Key) OfSession(id string) Key {
	k.Scope = scopeSession + id
	return k
}

// OfCall returns the key of one that a call has for itself. n is different for each.
func (k Key) OfCall(n uint64) Key {
	k.Scope = scopeCall + strconv.FormatUint(n, 10)
	return k
}

// IsShared reports whether a connection is the one that clients of an era share: all of
// them, or those of one principal.
func (k Key) IsShared() bool { return k.Capabilities == SharedOffer && k.Scope == "" }

// IsEverybodys reports whether all clients of an era share it.
func (k Key) IsEverybodys() bool { return k.IsShared() && k.Principal == "" }

// IsSessions reports whether it is a session's own.
func (k Key) IsSessions() bool { return strings.HasPrefix(k.Scope, scopeSession) }

// Users returns who may use a connection, as a status says it.
func (k Key) Users() string {
	switch {
	case k.IsEverybodys():
		return "everybody"
	case k.IsShared():
		return "principal"
	case k.IsSessions():
		return "session"
	case strings.HasPrefix(k.Scope, scopeCall):
		return "call"
	}
	return "equals"
}
