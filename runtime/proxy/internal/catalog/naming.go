package catalog

import (
	"crypto/sha256"
	"encoding/base32"
	"maps"
	"slices"
	"strings"
)

// Names returns the names under which backends' tools and prompts are exposed.
// A name depends on the configuration and on its own server's list alone, so
// it is the same after a restart and on a replica, whichever backends are up.
// No server is ever given a name that begins as another's do.
type Names struct {
	Separator string
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

// NewNames returns the names for a configuration: what stands between server and name, how
// long a name may be, and the servers. before are the names of the configuration before
// it: what was a server's stays that server's, also where it is not configured any more.
func NewNames(separator string, limit int, servers []string, before Names) Names {
	n := Names{Separator: separator, limit: limit, unclear: map[string]bool{}, prefixes: map[string]string{}, owners: map[string]string{}, nested: map[string]bool{}}
	maps.Copy(n.owners, before.owners)
	folded := map[string]string{}
	for _, s := range servers {
		f := fold(s)
		if other, taken := folded[f]; taken {
			n.unclear[s], n.unclear[other] = true, true
		}
		folded[f] = s
		// As exposed: "a.." must not run together with the separator either.
		if c := CleanName(s); strings.HasSuffix(c, n.first()) || strings.Contains(c, CleanName(separator)) {
			n.unclear[s] = true
		}
	}
	n.assign(servers)
	return n
}

// assign finds the beginnings of each server's names: its own name with the
// separator, and the shortened form of that. Where names of another server begin
// so, they begin with a hash of the server's own name in it.
func (n *Names) assign(servers []string) {
	full, short := map[string]int{}, map[string]int{}
	for _, s := range servers {
		full[n.full(s)]++
		short[n.shortened(s, 0)]++
	}
	for _, s := range servers {
		f := n.full(s)
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
	for _, s := range servers {
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
			if owner := n.owners[beginning]; n.owners[longer] != owner {
				n.nested[owner] = true
			}
		}
	}
	slices.Sort(n.lengths)
	n.lengths = slices.Compact(n.lengths)
}

// taken reports whether a beginning is another server's, or nobody's.
func (n *Names) taken(beginning, server string) bool {
	owner, ok := n.owners[beginning]
	return ok && owner != server
}

// Owner returns the server whose names begin as a name does, now or before it
// was removed; "" where no server's do, or those of several. The longest
// beginning counts.
func (n Names) Owner(name string) string {
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

// Others reports whether a name that begins as a server's do is another's.
func (n Names) Others(server, name string) bool {
	return (n.nested[server] || n.unclear[server]) && n.Owner(name) != server
}

// Only returns who owns names, of some servers alone. It makes no names.
func (n Names) Only(known func(server string) bool) Names {
	out := Names{Separator: n.Separator, owners: map[string]string{}}
	for beginning, server := range n.owners {
		if server == "" || known(server) {
			out.owners[beginning] = server
			out.lengths = append(out.lengths, len(beginning))
		}
	}
	slices.Sort(out.lengths)
	out.lengths = slices.Compact(out.lengths)
	return out
}

// Unclear reports whether a server's name could run together with another's: all names of
// its tools have a hash then.
func (n Names) Unclear(server string) bool { return n.unclear[server] }

// Forget drops what a server's names begin with: it is not configured, nor
// remembered any more.
func (n Names) Forget(server string) {
	maps.DeleteFunc(n.owners, func(_, owner string) bool { return owner == server })
}

// Separates reports whether a name has the separator in it, as configured or as
// exposed: only names with a server in front have it.
func (n Names) Separates(name string) bool {
	return strings.Contains(name, n.Separator) || strings.Contains(CleanName(name), CleanName(n.Separator))
}

// full returns how a server's names begin that have no hash.
func (n Names) full(server string) string { return CleanName(server + n.Separator) }

// Beginnings returns what the names of a server's tools and prompts begin with: one of these.
func (n Names) Beginnings(server string) []string {
	return []string{n.full(server), n.prefixes[server]}
}

// first returns what a separator begins with, as exposed.
func (n Names) first() string { return CleanName(n.Separator)[:1] }

// Hashed is how many characters of a hash make a name distinct: 40 bits.
const Hashed = 8

// Exposed returns the names for all of one server's tools or prompts.
func (n Names) Exposed(server string, names []string) []string {
	return n.Form(server, names, n.unclear[server])
}

// Form returns the names as they are where the server's is unclear, or is not.
func (n Names) Form(server string, names []string, unclear bool) []string {
	clash := make(map[string]int, len(names))
	for _, name := range names {
		clash[fold(name)]++
	}
	out := make([]string, len(names))
	for i, name := range names {
		full := CleanName(server + n.Separator + name)
		if unclear || clash[fold(name)] > 1 || strings.HasPrefix(CleanName(name), n.first()) || len(full) > n.limit || n.Others(server, full) {
			full = n.short(server, name)
		}
		out[i] = full
	}
	return out
}

// short returns a name with a hash of server and name in it. It keeps the
// beginning of the server's name and, above all, the end of the tool's: tools
// of one server differ at the tail.
func (n Names) short(server, name string) string {
	hash := hashOf(server + "\x00" + name)[:Hashed]
	prefix := n.prefixes[server] + hash + "_"
	tail := CleanName(name)
	if over := len(prefix) + len(tail) - n.limit; over > 0 {
		tail = tail[min(over, len(tail)):]
	}
	return prefix + tail
}

// shortened returns how a server's names with a hash begin, with so many characters
// of a hash of the server's own name in it.
func (n Names) shortened(server string, size int) string {
	prefix, separator := CleanName(server), CleanName(n.Separator)
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

// CleanName replaces what several model APIs refuse in a tool's name: everything
// but A-Z a-z 0-9 _ and -.
func CleanName(s string) string {
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
func fold(s string) string { return strings.ToLower(CleanName(s)) }
