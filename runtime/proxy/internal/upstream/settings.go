package upstream

import (
	"fmt"
	"time"

	"github.com/mcpctl/mcpctl/internal/store"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
)

// Settings are those of one server; see proxy.Server, whose fields these are.
type Settings struct {
	Name, Transport string
	// Labels are those of its entry, for policies, which believe the annotations of its
	// tools if TrustAnnotations.
	Labels           string // with spaces between them: Settings can be compared
	TrustAnnotations bool
	Local            bool // it is started on this machine
	Isolation        Isolation
	PerPrincipal     bool // its credentials are those of who calls
	MaxPrincipals    int
	WrapURIs         bool
	Start            Start
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

// When a server is connected.
const (
	startLazy   Start = "lazy"
	StartEager  Start = "eager"
	StartCached Start = "cached"
)

// Isolation is which clients share a connection; see proxy.Isolation.
type Isolation string

// Which clients share a connection.
const (
	IsolationAuto      Isolation = "auto"
	IsolationShared    Isolation = "shared"
	IsolationPrincipal Isolation = "principal"
	IsolationSession   Isolation = "session"
)

// defaultPrincipals is MaxPrincipals where nothing is configured: each has a process.
const defaultPrincipals = 64

// ByPrincipal reports whether principals never share a connection.
func (s *Settings) ByPrincipal() bool {
	return s.PerPrincipal || s.Isolation == IsolationPrincipal
}

// Way stands for how the server is reached.
func (s *Settings) Way() string {
	if s.Connection == "" {
		return s.Digest
	}
	return s.Connection
}

// WithDefaults returns the settings with defaults filled in.
func (s Settings) WithDefaults(requestTimeout time.Duration) Settings {
	if s.Isolation == "" {
		s.Isolation = IsolationAuto
	}
	if s.PerPrincipal && s.Isolation == IsolationAuto {
		s.Isolation = IsolationPrincipal
	}
	if s.MaxPrincipals <= 0 {
		s.MaxPrincipals = defaultPrincipals
	}
	if s.Start == "" {
		s.Start = startLazy
	}
	if s.RequestTimeout == 0 {
		s.RequestTimeout = requestTimeout
	}
	return s
}

// DiscoverTime is how long lists wait for a server that has offered nothing yet,
// from when it began to be connected.
const DiscoverTime = 30 * time.Second

// DiscoverWait returns how long lists wait for the server.
func (s *Settings) DiscoverWait() time.Duration {
	switch {
	case s.DiscoveryTimeout < 0:
		return limits.RequestCeiling
	case s.DiscoveryTimeout == 0:
		return DiscoverTime
	}
	return s.DiscoveryTimeout
}

const (
	// BusyIdle is how long a server may be idle before its connections are closed
	// that has more than busyRate requests an hour, on average; calmIdle that of one
	// with no less than calmRate, rareIdle that of another.
	BusyIdle = 5 * time.Minute
	calmIdle = 3 * time.Minute
	rareIdle = time.Minute
	busyRate = 20
	calmRate = 5
)

// IdleBound returns how long a server may be idle before its connections are
// closed, by how it is used; false is for ever. A connection that no client has
// used yet gets the most: whoever had it made may be about to.
func (s *Settings) IdleBound(u store.Usage, used bool) (time.Duration, bool) {
	switch {
	case s.IdleTimeout < 0, s.IdleTimeout == 0 && s.Start == StartEager:
		return 0, false
	case s.IdleTimeout > 0:
		return s.IdleTimeout, true
	}
	least, most := s.MinIdleTimeout, s.MaxIdleTimeout
	if least <= 0 {
		least = rareIdle
	}
	if most <= 0 {
		most = max(BusyIdle, least)
	}
	d := rareIdle
	switch {
	case !used:
		d = most
	case u.Interval <= 0: // there was one request
	case u.Interval < time.Hour/busyRate:
		d = BusyIdle
	case u.Interval <= time.Hour/calmRate:
		d = calmIdle
	}
	return min(max(d, least), most), true
}

// Distinct refuses servers that cannot be told apart.
func Distinct(servers []Settings) error {
	seen := map[string]bool{}
	for _, s := range servers {
		if s.Name == "" || seen[s.Name] {
			return fmt.Errorf("proxy: server %q: the name is empty or repeated", s.Name)
		}
		seen[s.Name] = true
	}
	return nil
}
