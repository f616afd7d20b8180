package proxy

import (
	"strconv"
	"time"

	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
)

// freshness is how long a list may be kept and by whom.
type freshness struct {
	// until is the end of what its servers promise, the zero Time is no promise.
	until time.Time
	// public: whoever may ask may be given another's answer (2026-07-28,
	// Caching).
	public bool
}

// hints reads what a page of a list promises (2026-07-28, Caching). What is
// absent or of no sense promises nothing.
func hints(page []byte, received time.Time) freshness {
	var at [2]rawjson.Span
	if rawjson.Fields(page, at[:], "ttlMs", "cacheScope") != nil {
		return freshness{}
	}
	scope, _ := rawjson.String(page, at[1])
	f := freshness{until: received, public: scope == "public"}
	if ms, err := strconv.ParseInt(string(at[0].Of(page)), 10, 64); err == nil && ms > 0 {
		f.until = received.Add(time.Duration(min(ms, maxTTL.Milliseconds())) * time.Millisecond)
	}
	return f
}

// maxTTL bounds what servers promise: more would be as good as for ever.
const maxTTL = 24 * time.Hour

// with gives the freshness of two parts together.
func (f freshness) with(o freshness) freshness {
	if o.until.Before(f.until) {
		f.until = o.until
	}
	f.public = f.public && o.public
	return f
}

// merged is the freshness of a list with parts of several servers; of no parts
// there is none.
func merged(parts []freshness) freshness {
	if len(parts) == 0 {
		return freshness{}
	}
	f := parts[0]
	for _, o := range parts[1:] {
		f = f.with(o)
	}
	return f
}
