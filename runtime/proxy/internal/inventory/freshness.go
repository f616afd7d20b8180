package inventory

import (
	"strconv"
	"time"

	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
)

// Freshness is how long a list may be kept and by whom.
type Freshness struct {
	Until  time.Time // zero for no promise
	Public bool      // one client's answer may be given to others (2026-07-28, Caching)
}

// Hints reads what a page of a list promises (2026-07-28, Caching): nothing where the
// members are absent or invalid.
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

// maxTTL bounds what servers promise.
const maxTTL = 24 * time.Hour

// Merged returns the freshness of a list with parts of several servers, none without
// parts.
func Merged(parts []Freshness) (f Freshness) {
	for i, o := range parts {
		if i == 0 || o.Until.Before(f.Until) {
			f.Until = o.Until
		}
		f.Public = o.Public && (i == 0 || f.Public)
	}
	return f
}
