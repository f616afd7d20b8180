package catalog

import (
	"crypto/sha256"
	"encoding/base32"
	"maps"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// namer returns the names under which backends' tools and prompts are exposed.
// A name depends on the configuration and on its own server's list alone, so
// it is the same after a restart and on a replica, whichever backends are up.
// No server is ever given a name that begins as another's do.
type namer struct {
	separator string
	limit     int
	unclear   map[string]bool   // servers whose name could run together with another's
	prefixes  map[string]string // the beginnings of names with a hash, by server
	// owners are the servers by what their names begin with, those that were
	// removed included; "" where names of several would. lengths are those of
	// the beginnings, sorted.
	owners  map[string]string
	lengths []int
	nested  map[string]bool // servers with a beginning that another's begins with
}

// namerOf returns the namer for a configuration. before is what names began with
// in the configurations before it: what was a server's stays that server's, also
// where it is not configured any more.
func namerOf(o Options, servers []*upstream.Backend, before map[string]string) namer {
	n := namer{separator: o.Separator, limit: o.NameLimit, unclear: map[string]bool{}, prefixes: map[string]string{}, owners: map[string]string{}, nested: map[string]bool{}}
	maps.Copy(n.owners, before)
	folded := map[string]string{}
	for _, b := range servers {
		s, f := b.Name, fold(b.Name)
		if other, taken := folded[f]; taken {
			n.unclear[s], n.unclear[other] = true, true
		}
		folded[f] = s
		// As exposed: "a.." must not run together with the separator either.
		if c := Clean(s); strings.HasSuffix(c, n.first()) || strings.Contains(c, Clean(o.Separator)) {
			n.unclear[s] = true
		}
	}
	n.assign(servers)
	return n
}

// assign finds the beginnings of each server's names: its own name with the
// separator, and the shortened form of that. Where names of another server begin
// so, they begin with a hash of the server's own name in it.
func (n *namer) assign(servers []*upstream.Backend) {
	full, short := map[string]int{}, map[string]int{}
	for _, b := range servers {
		full[n.full(b.Name)]++
		short[n.shortened(b.Name, 0)]++
	}
	for _, b := range servers {
		s, f := b.Name, n.full(b.Name)
		if full[f] > 1 || n.taken(f, s) {
			n.unclear[s] = true
		}
		if _, known := n.owners[f]; !known {
			n.owners[f] = s
			if full[f] > 1 {
				n.owners[f] = ""
			}
		}
	}
	for _, b := range servers {
		s := b.Name
		prefix := n.shortened(s, 0)
		for size := Hashed / 2; short[prefix] > 1 || n.taken(prefix, s); size++ {
			prefix = n.shortened(s, size)
		}
		n.prefixes[s], n.owners[prefix] = prefix, s
	}
	beginnings := slices.Sorted(maps.Keys(n.owners))
	for i, beginning := range beginnings {
		n.lengths = append(n.lengths, len(beginning))
		for _, longer := range beginnings[i+1:] {
			if !strings.HasPrefix(longer, beginning) {
				break
			}
			if by := n.owners[beginning]; n.owners[longer] != by {
				n.nested[by] = true
			}
		}
	}
	slices.Sort(n.lengths)
	n.lengths = slices.Compact(n.lengths)
}

// taken reports whether a beginning is another server's, or nobody's.
func (n *namer) taken(beginning, server string) bool {
	by, ok := n.owners[beginning]
	return ok && by != server
}

// owner returns the server whose names begin as a name does, now or before it
// was removed; "" where no server's do, or those of several. The longest
// beginning counts.
func (n namer) owner(name string) string {
	for _, length := range slices.Backward(n.lengths) {
		if length > len(name) {
			continue
		}
		if s, ok := n.owners[name[:length]]; ok {
			return s
		}
	}
	return ""
}

// others reports whether a name that begins as a server's do is another's.
func (n namer) others(server, name string) bool {
	return (n.nested[server] || n.unclear[server]) && n.owner(name) != server
}

// forget drops what a server's names begin with: it is not configured, nor
// remembered any more.
func (n namer) forget(server string) {
	maps.DeleteFunc(n.owners, func(_, by string) bool { return by == server })
}

// separates reports whether a name has the separator in it, as configured or as
// exposed: only names with a server in front have it.
func (n namer) separates(name string) bool {
	return strings.Contains(name, n.separator) || strings.Contains(Clean(name), Clean(n.separator))
}

// full returns how a server's names begin that have no hash.
func (n namer) full(server string) string { return Clean(server + n.separator) }

// first returns what a separator begins with, as exposed.
func (n namer) first() string { return Clean(n.separator)[:1] }

// Hashed is how many characters of a hash make a name distinct: 40 bits.
const Hashed = 8

// exposed returns the names for all of one server's tools or prompts.
func (n namer) exposed(server string, names []string) []string {
	return n.form(server, names, n.unclear[server])
}

// form returns the names as they are where the server's is unclear, or is not.
func (n namer) form(server string, names []string, unclear bool) []string {
	clash := make(map[string]int, len(names))
	for _, name := range names {
		clash[fold(name)]++
	}
	out := make([]string, len(names))
	for i, name := range names {
		full := Clean(server + n.separator + name)
		if unclear || clash[fold(name)] > 1 || strings.HasPrefix(Clean(name), n.first()) || len(full) > n.limit || n.others(server, full) {
			full = n.short(server, name)
		}
		out[i] = full
	}
	return out
}

// short returns a name with a hash of server and name in it. It keeps the
// beginning of the server's name and, above all, the end of the tool's: tools
// of one server differ at the tail.
func (n namer) short(server, name string) string {
	hash := hashOf(server + "\x00" + name)[:Hashed]
	prefix := n.prefixes[server] + hash + "_"
	tail := Clean(name)
	if over := len(prefix) + len(tail) - n.limit; over > 0 {
		tail = tail[min(over, len(tail)):]
	}
	return prefix + tail
}

// shortened returns how a server's names with a hash begin, with so many characters
// of a hash of the server's own name in it.
func (n namer) shortened(server string, size int) string {
	prefix, separator := Clean(server), Clean(n.separator)
	tag := ""
	if size > 0 {
		tag = "_" + hashOf(server)[:min(size, 52)]
	}
	if over := len(prefix) + len(tag) + len(separator) - n.limit/3; over > 0 {
		prefix = prefix[:max(len(prefix)-over, 0)]
	}
	return prefix + tag + separator
}

// hashOf returns 52 characters of lower-case base32 that stand for a text.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:52]
}

// Clean replaces what several model APIs refuse in a tool's name: everything
// but A-Z a-z 0-9 _ and -.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, s)
}

// fold returns one form for names that look alike to a model or a case-insensitive
// host.
func fold(s string) string { return strings.ToLower(Clean(s)) }
