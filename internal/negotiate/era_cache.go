package negotiate

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime"
)

// LegacyEraLife is how long a server that was found to be legacy is taken for
// one without asking: for longer, and an upgraded one would never be noticed.
const LegacyEraLife = 24 * time.Hour

// KnownEra is what a connection has found out about a server's era, for the next
// one to the same server. The zero value is nothing.
type KnownEra struct {
	// Era is "modern", or "legacy" for a server that speaks nothing else.
	Era string `json:"era"`
	// ProbeKills is set where the server's process ends on any first message
	// but initialize: it is never probed again.
	ProbeKills bool `json:"mortal,omitempty"`
	// Found is when.
	Found time.Time `json:"found"`
	// Handshake is what a server that lists the stateless era alone makes of a
	// handshake: "taken" or "refused", "" where it was not tried. Tried is when.
	Handshake string    `json:"handshake,omitempty"`
	Tried     time.Time `json:"tried,omitzero"`
}

const (
	eraModern = "modern"
	eraLegacy = "legacy"

	handshakeTaken   = "taken"
	handshakeRefused = "refused"
)

// handshake returns what became of the handshake, as long as that can be relied on.
func (v KnownEra) handshake(now time.Time) string {
	if now.Sub(v.Tried) < LegacyEraLife {
		return v.Handshake
	}
	return ""
}

// holds reports whether it can still be relied on.
func (v KnownEra) holds(now time.Time) bool {
	return v.Era == eraModern || v.ProbeKills || v.Era == eraLegacy && now.Sub(v.Found) < LegacyEraLife
}

// EraCache remembers eras between connections, by [Options.Key]. Methods may be
// called concurrently.
type EraCache interface {
	// Get returns what is known, the zero value for nothing.
	Get(key string) KnownEra
	// Put replaces it; the zero value forgets.
	Put(key string, v KnownEra)
}

// MemoryCache is an [EraCache] for the life of a process. The zero value is
// ready.
type MemoryCache struct {
	mu sync.Mutex // guards m
	m  map[string]KnownEra
}

// Get implements [EraCache].
func (m *MemoryCache) Get(key string) KnownEra {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.m[key]
}

// Put implements [EraCache].
func (m *MemoryCache) Put(key string, v KnownEra) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.m == nil {
		m.m = map[string]KnownEra{}
	}
	if m.m[key] = v; v == (KnownEra{}) {
		delete(m.m, key)
	}
}

// knownEra returns what is remembered of the server and still holds.
func (o *Options) knownEra() KnownEra {
	if o.Eras == nil || o.Key == "" {
		return KnownEra{}
	}
	if v := o.Eras.Get(o.Key); v.holds(time.Now()) {
		return v
	}
	return KnownEra{}
}

// rememberEra stores an era; an equal one keeps its time.
func (o *Options) rememberEra(era string, probeKills bool) {
	if o.Eras == nil || o.Key == "" {
		return
	}
	v := KnownEra{Era: era, ProbeKills: probeKills}
	if old := o.knownEra(); old.Era == v.Era && (old.ProbeKills || !probeKills) {
		return
	}
	v.Found = time.Now()
	o.Eras.Put(o.Key, v)
}

// rememberHandshake remembers what a server that lists the stateless era alone makes of a
// handshake.
func (o *Options) rememberHandshake(outcome string) {
	if o.Eras == nil || o.Key == "" {
		return
	}
	v := o.knownEra()
	if v.Era != eraModern {
		v = KnownEra{Era: eraModern, Found: time.Now()}
	}
	v.Handshake, v.Tried = outcome, time.Now()
	o.Eras.Put(o.Key, v)
}

func (o *Options) forgetEra() {
	if o.Eras != nil && o.Key != "" {
		o.Eras.Put(o.Key, KnownEra{})
	}
}

// eraChanged forgets the server's era and returns the error that says so.
func (o *Options) eraChanged(cause error) error {
	o.forgetEra()
	o.Logger.Info("the server no longer speaks as was settled", "err", cause)
	return &SessionError{cause}
}

// refusesVersion reports whether a server of the handshake era refuses the
// revision that was agreed on.
func refusesVersion(err error) bool {
	var rpc *runtime.Error
	if !errors.As(err, &rpc) {
		return false
	}
	return unsupported(rpc) || statusOf(err) == 400 && strings.Contains(strings.ToLower(rpc.Message), "protocol version")
}

// Codes of drafts of 2026-07-28, before they were given others. Released servers
// of the handshake era use the same numbers for something else.
const (
	draftMissingCapability  = -32003
	draftUnsupportedVersion = -32004
)

// unsupported reports whether an error says that a revision is not spoken.
func unsupported(e *runtime.Error) bool {
	return e.Code == runtime.CodeUnsupportedVersion ||
		e.Code == draftUnsupportedVersion && hasMember(e.Data, "supported") && hasMember(e.Data, "requested")
}

// wantsCapability reports whether an error says that the client lacks one.
func wantsCapability(e *runtime.Error) bool {
	return e.Code == runtime.CodeMissingCapability || e.Code == draftMissingCapability && hasMember(e.Data, "requiredCapabilities")
}

func hasMember(object json.RawMessage, name string) bool {
	at, err := rawjson.Field(object, name)
	return err == nil && at.Present()
}
