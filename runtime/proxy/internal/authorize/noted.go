package authorize

import (
	"net/netip"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

const (
	// listEvery is how often a list of a view is recorded at most, maxListed how many are
	// told apart.
	listEvery = time.Minute
	maxListed = 4096
	// refusedEvery is how often alike refusals of credentials are recorded at most,
	// maxRefused how many kinds of them are told apart; more are one.
	refusedEvery = 10 * time.Second
	maxRefused   = 1024
)

// listed are the lists that were recorded last. The zero value is ready.
type listed struct {
	mu sync.Mutex // guards at
	at map[listKey]time.Time
}

type listKey struct {
	k       inventory.Kind
	version string
}

// Listed records that a list was given out, once a minute for all who see the same.
func (j *Authorizer) Listed(from *upstream.Caller, k inventory.Kind) {
	if j.Journal == nil {
		return
	}
	version, items := j.Catalog.Listed(from.Audience, k)
	if !j.listed.due(listKey{k, version}, time.Now()) {
		return
	}
	_ = j.Journal.Append(&audit.Record{ // a list is given out in any case
		Kind: audit.KindList, Principal: j.asker(&Asked{From: *from}), Target: audit.Target{Era: from.Version, View: from.View, Definition: version},
		Decision: audit.Decision{Generation: j.Gate.Set().Digest()}, Text: k.Listing().Method, Count: int64(items),
	})
}

func (l *listed) due(key listKey, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if last, ok := l.at[key]; ok && now.Sub(last) < listEvery {
		return false
	}
	if l.at == nil || len(l.at) >= maxListed {
		l.at = map[listKey]time.Time{}
	}
	l.at[key] = now
	return true
}

// refusals counts refused credentials. The zero value is ready.
type refusals struct {
	mu    sync.Mutex // guards what follows
	of    map[refusal]int64
	timer *time.Timer // runs as long as of has any
}

// refusal is what is counted together: the peer, zero where there are too many, and why.
type refusal struct {
	peer netip.Addr
	why  string
}

// CredentialRefused counts a request that was not let in. peer is HOST:PORT, why one of a
// few words. What was counted is recorded every ten seconds.
func (j *Authorizer) CredentialRefused(peer, why string) {
	if j.Journal == nil {
		return
	}
	key := refusal{why: why}
	if at, err := netip.ParseAddrPort(peer); err == nil {
		key.peer = at.Addr().Unmap().WithZone("")
	}
	r := &j.refused
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil {
		r.of = map[refusal]int64{}
	}
	if _, known := r.of[key]; !known && len(r.of) >= maxRefused {
		key.peer = netip.Addr{}
	}
	r.of[key]++
	if r.timer == nil {
		r.timer = time.AfterFunc(refusedEvery, j.Flush)
	}
}

// Flush records the refused credentials that were counted.
func (j *Authorizer) Flush() {
	r := &j.refused
	r.mu.Lock()
	all := r.of
	if r.timer != nil {
		r.timer.Stop()
	}
	r.of, r.timer = nil, nil
	r.mu.Unlock()
	for key, n := range all {
		_ = j.Journal.Append(&audit.Record{Kind: audit.KindAuth, Principal: audit.Principal{Addr: key.peer}, Decision: audit.Decision{Verdict: audit.VerdictDeny}, Text: key.why, Count: n})
	}
}
