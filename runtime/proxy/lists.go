package proxy

import (
	"strconv"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/runtime/bridge"
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
)

// variant is one list as the clients of one era see it, built when the first of
// them asks.
type variant struct {
	once sync.Once
	// text is the items with commas between them; ends[i] is where item i ends.
	text []byte
	ends []int
}

// freshness is how long a list may be kept and by whom.
type freshness struct {
	// until is the end of what its servers promise, the zero Time is no promise.
	until time.Time
	// public: whoever may ask may be given another's answer (2026-07-28,
	// Caching).
	public bool
}

// partialTTL bounds how long a list may be kept that leaves a server out.
const partialTTL = 5 * time.Second

// variant gives a list as clients of an era see it. The revisions of the
// handshake era see the same.
func (s *snapshot) variant(k kind, modern bool) *variant {
	v, to := &s.variants[k][0], bridge.Latest
	if modern {
		v, to = &s.variants[k][1], bridge.Modern
	}
	v.once.Do(func() {
		c := bridge.Conversion{To: to, Method: k.listing().method}
		for i, item := range s.items[k] {
			if i > 0 {
				v.text = append(v.text, ',')
			}
			v.text = append(v.text, c.Item(item)...)
			v.ends = append(v.ends, len(v.text))
		}
	})
	return v
}

// page gives the answer to a list method that begins at an item.
func (p *Proxy) page(s *snapshot, k kind, modern bool, first int) []byte {
	v := s.variant(k, modern)
	last := len(v.ends)
	if p.o.PageSize > 0 {
		last = min(last, first+p.o.PageSize)
	}
	var text []byte
	if last > first {
		start := 0
		if first > 0 {
			start = v.ends[first-1] + 1 // and the comma
		}
		text = v.text[start:v.ends[last-1]]
	}
	out := make([]byte, 0, len(text)+256)
	out = append(out, '{')
	if modern {
		out = append(out, `"resultType":"complete","ttlMs":`...)
		out = strconv.AppendInt(out, s.remaining(k, time.Now()).Milliseconds(), 10)
		scope := `,"cacheScope":"private",`
		if s.fresh[k].public {
			scope = `,"cacheScope":"public",`
		}
		out = append(out, scope...)
	}
	out = append(append(out, '"'), k.listing().member...)
	out = append(append(append(out, `":[`...), text...), ']')
	if last < len(v.ends) {
		out = rawjson.Quote(append(out, `,"nextCursor":`...), p.next(s, k, last))
	}
	if server := p.info; modern && server != nil {
		out = append(append(out, `,"_meta":{"io.modelcontextprotocol/serverInfo":`...), server...)
		if s.partial[k] != nil {
			out = append(append(out, `,"dev.mcpctl/partial":`...), s.partial[k]...)
		}
		out = append(out, '}')
	} else if s.partial[k] != nil {
		out = append(append(append(out, `,"_meta":{"dev.mcpctl/partial":`...), s.partial[k]...), '}')
	}
	return append(out, '}')
}

// remaining is for how much longer a list may be kept.
func (s *snapshot) remaining(k kind, now time.Time) time.Duration {
	ttl := max(s.fresh[k].until.Sub(now), 0)
	if s.partial[k] != nil {
		ttl = min(ttl, partialTTL)
	}
	return ttl
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
