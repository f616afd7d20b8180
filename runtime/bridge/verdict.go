package bridge

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
)

// LegacyVerdictLife is how long a server that was found to be legacy is taken
// for one without asking: longer, and one that has been upgraded would never be
// noticed.
const LegacyVerdictLife = 24 * time.Hour

// Verdict is what a connection has found out about a server's era, for the next
// one to the same server. The zero value is nothing.
type Verdict struct {
	// Era is "modern", or "legacy" for a server that speaks nothing else.
	Era string `json:"era"`
	// Mortal tells that the server's process ends on any first message but
	// initialize: it is never asked again.
	Mortal bool `json:"mortal,omitempty"`
	// Found is when.
	Found time.Time `json:"found"`
}

const (
	eraModern = "modern"
	eraLegacy = "legacy"
)

// fresh tells whether a verdict still holds.
func (v Verdict) fresh(now time.Time) bool {
	return v.Era == eraModern || v.Mortal || v.Era == eraLegacy && now.Sub(v.Found) < LegacyVerdictLife
}

// Verdicts keeps verdicts between connections, by [Options.Key]. Methods may be
// called concurrently.
type Verdicts interface {
	// Verdict gives what is known, the zero value for nothing.
	Verdict(key string) Verdict
	// Keep replaces it; the zero value forgets.
	Keep(key string, v Verdict)
}

// Memory is a [Verdicts] for the life of a process. The zero value is ready.
type Memory struct {
	mu sync.Mutex // guards m
	m  map[string]Verdict
}

// Verdict implements [Verdicts].
func (m *Memory) Verdict(key string) Verdict {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.m[key]
}

// Keep implements [Verdicts].
func (m *Memory) Keep(key string, v Verdict) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.m == nil {
		m.m = map[string]Verdict{}
	}
	if m.m[key] = v; v == (Verdict{}) {
		delete(m.m, key)
	}
}

// verdict gives what is known of the server and still holds.
func (o *Options) verdict() Verdict {
	if o.Verdicts == nil || o.Key == "" {
		return Verdict{}
	}
	if v := o.Verdicts.Verdict(o.Key); v.fresh(time.Now()) {
		return v
	}
	return Verdict{}
}

// found keeps a verdict; an equal one keeps its time.
func (o *Options) found(era string, mortal bool) {
	if o.Verdicts == nil || o.Key == "" {
		return
	}
	v := Verdict{Era: era, Mortal: mortal}
	if old := o.verdict(); old.Era == v.Era && (old.Mortal || !mortal) {
		return
	}
	v.Found = time.Now()
	o.Verdicts.Keep(o.Key, v)
}

func (o *Options) forget() {
	if o.Verdicts != nil && o.Key != "" {
		o.Verdicts.Keep(o.Key, Verdict{})
	}
}

// stale gives up what was agreed with the server.
func (o *Options) stale(cause error) error {
	o.forget()
	o.Logger.Info("the server no longer speaks as was settled", "err", cause)
	return &SessionError{cause}
}

// refusesVersion tells whether a server of the handshake era refuses the
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

// unsupported tells whether an error says that a revision is not spoken.
func unsupported(e *runtime.Error) bool {
	return e.Code == runtime.CodeUnsupportedVersion ||
		e.Code == draftUnsupportedVersion && hasMember(e.Data, "supported") && hasMember(e.Data, "requested")
}

// wantsCapability tells whether an error says that the client lacks one.
func wantsCapability(e *runtime.Error) bool {
	return e.Code == runtime.CodeMissingCapability || e.Code == draftMissingCapability && hasMember(e.Data, "requiredCapabilities")
}

func hasMember(object json.RawMessage, name string) bool {
	at, err := rawjson.Field(object, name)
	return err == nil && at.Present()
}
