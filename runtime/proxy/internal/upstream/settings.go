package upstream

import (
	"time"
)

// Settings are those of one server; see proxy.Server, whose fields these are.
type Settings struct {
	Name, Transport string
	Isolation       Isolation
	WrapURIs        bool
	Start           Start
	// IdleTimeout of zero is adaptive, between MinIdleTimeout and MaxIdleTimeout;
	// negative is never.
	IdleTimeout, MinIdleTimeout, MaxIdleTimeout time.Duration
	// RequestTimeout and DiscoveryTimeout of zero are the defaults.
	RequestTimeout, DiscoveryTimeout time.Duration
	// Connection and Digest stand for how the server is reached and for all that is
	// configured of it.
	Connection, Digest string
}

// Start is when a server is connected; see proxy.Start.
type Start string

const (
	startLazy   Start = "lazy"
	startEager  Start = "eager"
	startCached Start = "cached"
)

// Isolation is which clients share a connection; see proxy.Isolation.
type Isolation string

const (
	isolationAuto      Isolation = "auto"
	isolationShared    Isolation = "shared"
	isolationPrincipal Isolation = "principal"
	isolationSession   Isolation = "session"
)

// Key tells which connection to a server is meant; see proxy.Key.
type Key struct {
	Server       string
	Legacy       bool
	Scope        string
	Capabilities string
}

// Way stands for how the server is reached.
func (s *Settings) Way() string {
	if s.Connection == "" {
		return s.Digest
	}
	return s.Connection
}
