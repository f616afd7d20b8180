package inventory

import (
	"strconv"
	"time"

	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
)

// Freshness is how long a list may be kept and by whom.
type Freshness struct {
	// Until is the end of what its servers promise, the zero Time is no promise.
	Until time.Time
	// Public: whoever may ask may be given another's answer (2026-07-28,
	// Caching).
	Public bool
}

// Hints reads what a page of a list promises (2026-07-28, Caching). What is
// absent or of no sense promises nothing.
func Hints(page []byte, received time.Time) Freshness {
	var at [2]rawjson.Span
	if rawjson.Fields(page, at[:], "ttlMs", "cacheScope") != nil {
		return Freshness{}
	}
	scope, _ := rawjson.String(page, at[1])
	f := Freshness{Until: received, Public: scope == "public"}
	if ms, err := strconv.ParseInt(string(at[0].Of(page)), 10, 64); err == nil && ms > 0 {
		f.Until = received.Add(time.Duration(min(ms, maxTTL.Milliseconds())) * time.Millisecond)
	}
	return f
}

// maxTTL bounds what servers promise: more would be as good as for ever.
const maxTTL = 24 * time.Hour

// with gives the freshness of two parts together.
func (f Freshness) with(o Freshness) Freshness {
	if o.Until.Before(f.Until) {
		f.Until = o.Until
	}
	f.Public = f.Public && o.Public
	return f
}

// Merged is the freshness of a list with parts of several servers; of no parts
// there is none.
func Merged(parts []Freshness) Freshness {
	if len(parts) == 0 {
		return Freshness{}
	}
	f := parts[0]
	for _, o := range parts[1:] {
		f = f.with(o)
	}
	return f
}
