package proxy

import "time"

// Server is one server behind the proxy. The zero value of each field but Name
// is useful.
type Server struct {
	// Name is the configured one, unique.
	Name string
	// Transport is how the server is reached, in a word, for [Status].
	Transport string
	// Labels are those of the server's entry, for policies, with spaces between them.
	Labels string
	// TrustAnnotations has policies believe the annotations of its tools.
	TrustAnnotations bool
	// Local says that connecting starts a program on this machine: a few are started
	// at once, and one that a call waits for at once. Time before that counts for no
	// timeout.
	Local bool
	// Isolation is which clients share a connection; "" is IsolationAuto.
	Isolation Isolation
	// PerPrincipal says that Dial connects with the credentials of Key.Principal, so that
	// no two principals share a connection: IsolationAuto is IsolationPrincipal then. What
	// the server offers is learned over the connection of whoever needs it first.
	PerPrincipal bool
	// MaxPrincipals bounds the principals that have connections of their own; zero is
	// 64. For a further one those of a principal are closed that are idle, else its
	// requests fail.
	MaxPrincipals int
	// WrapURIs always exposes resource URIs in the form that names the server, so
	// that links that are in no list lead there on every replica.
	WrapURIs bool
	// Start is when the server is connected; "" is StartLazy.
	Start Start
	// IdleTimeout is how long the server may go without a call before its
	// connections are closed. Zero is adaptive, between MinIdleTimeout and
	// MaxIdleTimeout; negative is never.
	IdleTimeout time.Duration
	// MinIdleTimeout and MaxIdleTimeout bound an adaptive IdleTimeout; zero is 1
	// min and 5 min.
	MinIdleTimeout, MaxIdleTimeout time.Duration
	// RequestTimeout bounds how long the server may be silent on a client's
	// request; zero is that of the Options, negative is no bound.
	RequestTimeout time.Duration
	// Connection stands for how the server is configured to be reached, secrets
	// unexpanded: if it changes, the server is connected again, see Reconfigure.
	// "" is Digest.
	Connection string
	// DiscoveryTimeout is how long lists wait for a server whose offer is not
	// known, from when it begins to be connected. Zero is 30 s, negative an hour.
	DiscoveryTimeout time.Duration
	// Digest stands for the whole configuration of the server, secrets unexpanded:
	// what was stored under another digest is of another server. "" is never
	// stored.
	Digest string
}

// Isolation is which clients share a backend's connection, and with it the state
// that the server keeps for it.
type Isolation string

// Ways to isolate clients from each other.
const (
	// IsolationAuto shares one connection in each era until the server asks a
	// client something. From then on each client session that can answer has a
	// connection of its own, those that cannot share one, and requests without
	// a session have one for each call that may be asked. It is the default.
	IsolationAuto Isolation = "auto"
	// IsolationShared shares one connection in each era, always. A question that
	// cannot be attributed to one client is refused.
	IsolationShared Isolation = "shared"
	// IsolationPrincipal shares among the clients of one principal, and among all
	// clients of whom the authenticator does not say who they are.
	IsolationPrincipal Isolation = "principal"
	// IsolationSession connects each client session on its own, for
	// servers that keep state. Requests without a session share one.
	IsolationSession Isolation = "session"
)

// Start is when a server is connected.
type Start string

// When to connect a server.
const (
	// StartLazy connects with the first call, or when the proxy starts if nothing is
	// stored of what the server offers. What is stored is served at once and
	// refreshed in the background. It is the default.
	StartLazy Start = "lazy"
	// StartEager connects when the proxy starts, and again when the connection
	// is lost.
	StartEager Start = "eager"
	// StartCached connects with the first call, or with the first list if nothing is
	// stored. What is stored is refreshed only when a call connects the server.
	StartCached Start = "cached"
)

// Named returns servers without settings of their own.
func Named(names ...string) []Server {
	out := make([]Server, len(names))
	for i, name := range names {
		out[i].Name = name
	}
	return out
}
