package lockfile

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/mcpctl/mcpctl/internal/rawjson"
)

// Mode is what happens to what is not as it is locked.
type Mode string

// The modes. The empty text is Warn.
const (
	Off  Mode = "off"  // nothing is compared
	Warn Mode = "warn" // it is said, and everything goes on
	Hold Mode = "hold" // it is held back until somebody approves it
)

// Or returns the mode, Warn for the empty one.
func (m Mode) Or() Mode {
	if m == "" {
		return Warn
	}
	return m
}

// Policy is what holds for one server.
type Policy struct {
	Mode Mode
	// Locked is nil where the lock has nothing of the server.
	Locked *Server
}

// Verdict is what a comparison has shown. It is immutable.
type Verdict struct {
	Mode Mode
	// Unlocked reports that there is nothing to compare with.
	Unlocked bool
	// Changes are those that matter at a connection: what is gone is none, because a
	// server may offer less to a client that can do less.
	Changes []Change

	held         [Lists]map[string]bool
	instructions bool // they are held
}

// Holds reports whether an entry of a list is held back.
func (v *Verdict) Holds(l List, key string) bool { return v != nil && v.held[l][key] }

// HoldsAny reports whether anything is held back.
func (v *Verdict) HoldsAny() bool {
	return v != nil && (v.instructions || slices.ContainsFunc(v.held[:], func(held map[string]bool) bool { return len(held) > 0 }))
}

// HoldsInstructions reports whether the server's instructions are held back.
func (v *Verdict) HoldsInstructions() bool { return v != nil && v.instructions }

// Held returns the keys of a list that are held back, nil for none. It is not to be
// changed.
func (v *Verdict) Held(l List) map[string]bool {
	if v == nil {
		return nil
	}
	return v.held[l]
}

// Count returns how many changes have a state.
func (v *Verdict) Count(s State) (n int) {
	for i := range v.Changes {
		if v.Changes[i].State == s {
			n++
		}
	}
	return n
}

// Check compares an offer by a policy. It is nil where nothing is compared.
func Check(p Policy, o *Offer) *Verdict {
	v := &Verdict{Mode: p.Mode.Or(), Unlocked: p.Locked == nil}
	switch {
	case v.Mode == Off:
		return nil
	case v.Unlocked && v.Mode == Warn:
		return v // nothing is locked yet
	}
	v.Changes = slices.DeleteFunc(p.Locked.Compare(o), func(c Change) bool { return c.State == Gone })
	if v.Mode != Hold {
		return v
	}
	for i := range v.Changes {
		c := &v.Changes[i]
		if !c.Entry() {
			v.instructions = v.instructions || c.What == "instructions"
			continue
		}
		if v.held[c.list] == nil {
			v.held[c.list] = map[string]bool{}
		}
		v.held[c.list][c.Key] = true
	}
	return v
}

// Guard compares what servers offer with what is locked of them. Its methods may be
// called concurrently. The zero value compares nothing.
type Guard struct {
	// Log gets one warning for each new difference; nil discards.
	Log *slog.Logger

	mu      sync.Mutex // guards what follows
	servers map[string]*watched
}

// watched is one server of a guard.
type watched struct {
	policy  Policy
	offer   *Offer   // compared last, nil before the first time
	verdict *Verdict // of that
	told    string   // what was said last
	pinned  [Lists]map[string]looked
}

// looked is an entry that was compared alone.
type looked struct {
	raw    []byte
	locked bool // as it is locked
}

// Set replaces what holds for all servers, and returns the names of those for which
// it is something else than before. What was compared is compared again.
func (g *Guard) Set(all map[string]Policy) (changed []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	next := make(map[string]*watched, len(all))
	for name, p := range all {
		w := g.servers[name]
		if w == nil || w.policy.Mode.Or() != p.Mode.Or() || !w.policy.Locked.equal(p.Locked) {
			changed = append(changed, name)
			fresh := &watched{policy: p}
			if w != nil {
				fresh.told = w.told
			}
			w = fresh
		}
		next[name] = w
	}
	g.servers = next
	slices.Sort(changed)
	return changed
}

// equal reports whether the same is locked.
func (s *Server) equal(o *Server) bool {
	if s == nil || o == nil {
		return s == o
	}
	if s.About != o.About {
		return false
	}
	for l := range Lists {
		if len(s.Items[l]) != len(o.Items[l]) {
			return false
		}
		for key, it := range s.Items[l] {
			if other, ok := o.Items[l][key]; !ok || other.Digest != it.Digest {
				return false
			}
		}
	}
	return true
}

// Mode returns what holds for a server: Off where nothing was said of it.
func (g *Guard) Mode(server string) Mode {
	if g == nil {
		return Off
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if w := g.servers[server]; w != nil {
		return w.policy.Mode.Or()
	}
	return Off
}

// Verdict returns what the last comparison of a server has shown, nil before that.
func (g *Guard) Verdict(server string) *Verdict {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if w := g.servers[server]; w != nil {
		return w.verdict
	}
	return nil
}

// Pinned reports whether an entry of a list, as the server sent it, is as it is locked. It
// is not where nothing is compared. An entry with the bytes of the last time is not
// compared again; raw must not be changed afterwards.
func (g *Guard) Pinned(server string, l List, key string, raw []byte) bool {
	if g == nil {
		return false
	}
	g.mu.Lock()
	w := g.servers[server]
	if w == nil || w.policy.Mode.Or() == Off {
		g.mu.Unlock()
		return false
	}
	locked, ok := w.policy.Locked.Item(l, key)
	before, known := w.pinned[l][key]
	g.mu.Unlock()
	switch {
	case !ok:
		return false
	case known && bytes.Equal(before.raw, raw):
		return before.locked
	}
	same := locked.Digest == digestOf(normal(l, raw))
	g.mu.Lock()
	defer g.mu.Unlock()
	if w.pinned[l] == nil {
		w.pinned[l] = map[string]looked{} // of what is locked: no more than the file has
	}
	w.pinned[l][key] = looked{raw, same}
	return same
}

// Check compares an offer with what is locked of a server, and logs what is new about
// that. An offer with the bytes of the last one is not compared again. The offer must
// not be changed afterwards.
func (g *Guard) Check(server string, o *Offer) *Verdict {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	w := g.servers[server]
	var policy Policy
	var last *Offer
	var verdict *Verdict
	if w != nil {
		policy, last, verdict = w.policy, w.offer, w.verdict
	}
	g.mu.Unlock()
	if w == nil || policy.Mode.Or() == Off {
		return nil
	}
	if last == nil || !o.same(last) {
		verdict = Check(policy, o)
	}
	text := verdict.String()
	g.mu.Lock()
	news := w.told != text
	w.offer, w.verdict, w.told = o, verdict, text
	g.mu.Unlock()
	if news && text != "" && g.Log != nil {
		g.Log.Warn("server does not offer what is locked", "server", server, "pin", string(verdict.Mode), "difference", text, "hint", Hint(server, verdict))
	}
	return verdict
}

// Hint returns the command that shows or mends what a verdict says.
func Hint(server string, v *Verdict) string {
	if v.Unlocked {
		return "mcpctl lock " + server
	}
	return "mcpctl lock diff " + server
}

// shownNames is how many names a verdict shows of each state.
const shownNames = 5

// String returns the verdict in a few words, "" where everything is as it is locked.
func (v *Verdict) String() string {
	if v == nil || len(v.Changes) == 0 {
		return ""
	}
	var parts []string
	if v.Unlocked {
		parts = append(parts, "nothing is locked, so everything is held")
	} else {
		for _, state := range []State{Changed, New} {
			if text := v.names(state); text != "" {
				parts = append(parts, text)
			}
		}
		if v.Mode == Hold {
			parts = append(parts, "held back")
		}
	}
	return strings.Join(parts, "; ")
}

// names returns the changes of a state: changed: tool a, tool b.
func (v *Verdict) names(state State) string {
	var names []string
	more := 0
	for i := range v.Changes {
		c := &v.Changes[i]
		switch {
		case c.State != state:
		case len(names) == shownNames:
			more++
		case c.Entry():
			names = append(names, c.What+" "+c.Key)
		default:
			names = append(names, "its "+c.What)
		}
	}
	if names == nil {
		return ""
	}
	text := string(state) + ": " + strings.Join(names, ", ")
	if more > 0 {
		text += ", and " + count(more)
	}
	return text
}

// Filter returns a page of a list without the entries that are held back; the page
// itself where there are none.
func (v *Verdict) Filter(l List, page []byte) []byte {
	if v == nil || len(v.held[l]) == 0 {
		return page
	}
	spans, err := rawjson.List(page, rawjson.Whole(page), l.Member())
	if err != nil {
		return page
	}
	edits := rawjson.Removals(spans, func(i int) bool {
		key, _ := rawjson.FieldString(bytes.TrimSpace(spans[i].Of(page)), l.Key())
		return v.held[l][key]
	})
	return rawjson.Splice(nil, page, edits...)
}
