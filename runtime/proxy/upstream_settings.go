package proxy

import "time"

// settings are those of one server; see proxy.Server, whose fields these are.
type settings struct {
	Name, Transport string
	Isolation       isolation
	WrapURIs        bool
	Start           start
	// IdleTimeout of zero is adaptive, between MinIdleTimeout and MaxIdleTimeout;
	// negative is never.
	IdleTimeout, MinIdleTimeout, MaxIdleTimeout time.Duration
	// RequestTimeout and DiscoveryTimeout of zero are the defaults.
	RequestTimeout, DiscoveryTimeout time.Duration
	// Connection and Digest stand for how the server is reached and for all that is
	// configured of it.
	Connection, Digest string
}

// start is when a server is connected; see proxy.Start.
type start string

const (
	startLazy   start = "lazy"
	startEager  start = "eager"
	startCached start = "cached"
)

// isolation is which clients share a connection; see proxy.Isolation.
type isolation string

const (
	isolationAuto      isolation = "auto"
	isolationShared    isolation = "shared"
	isolationPrincipal isolation = "principal"
	isolationSession   isolation = "session"
)

// key tells which connection to a server is meant; see proxy.Key.
type key struct {
	Server       string
	Legacy       bool
	Scope        string
	Capabilities string
}

// way stands for how the server is reached.
func (s *settings) way() string {
	if s.Connection == "" {
		return s.Digest
	}
	return s.Connection
}
