package proxy

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"
)

// namer gives the names under which backends' tools and prompts are exposed.
// A name depends on the configuration and on its own server's list alone, so
// it is the same after a restart and on a replica, whichever backends are up.
type namer struct {
	separator string
	limit     int
	plain     bool
	// unclear are servers whose name could run together with another's.
	unclear map[string]bool
}

func namerOf(o Options, servers []Server) namer {
	n := namer{separator: o.Separator, limit: o.NameLimit, plain: o.NoPrefix, unclear: map[string]bool{}}
	folded := map[string]string{}
	for _, server := range servers {
		s := server.Name
		f := fold(s)
		if other, taken := folded[f]; taken {
			n.unclear[s], n.unclear[other] = true, true
		}
		folded[f] = s
		// As exposed: "a.." must not run together with the separator either.
		if c := clean(s); strings.HasSuffix(c, n.first()) || strings.Contains(c, clean(o.Separator)) {
			n.unclear[s] = true
		}
	}
	return n
}

// first is what a separator begins with, as exposed.
func (n namer) first() string { return clean(n.separator)[:1] }

// hashed is how many characters of a hash make a name distinct: 40 bits.
const hashed = 8

// exposed gives the names for all of one server's tools or prompts.
func (n namer) exposed(server string, names []string) []string {
	return n.form(server, names, n.unclear[server])
}

// form gives the names as they are where the server's is unclear, or is not.
func (n namer) form(server string, names []string, unclear bool) []string {
	clash := make(map[string]int, len(names))
	for _, name := range names {
		clash[fold(name)]++
	}
	out := make([]string, len(names))
	for i, name := range names {
		full := clean(server + n.separator + name)
		if unclear || clash[fold(name)] > 1 || strings.HasPrefix(clean(name), n.first()) || len(full) > n.limit {
			full = n.short(server, name)
		}
		out[i] = full
	}
	return out
}

// short gives a name with a hash of server and name in it. It keeps the
// beginning of the server's name and, above all, the end of the tool's: tools
// of one server differ at the tail.
func (n namer) short(server, name string) string {
	sum := sha256.Sum256([]byte(server + "\x00" + name))
	hash := strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:hashed]
	prefix := n.shortened(server) + hash + "_"
	tail := clean(name)
	if over := len(prefix) + len(tail) - n.limit; over > 0 {
		tail = tail[min(over, len(tail)):]
	}
	return prefix + tail
}

// shortened is how a server's names with a hash begin.
func (n namer) shortened(server string) string {
	prefix, separator := clean(server), clean(n.separator)
	if over := len(prefix) + len(separator) - n.limit/3; over > 0 {
		prefix = prefix[:max(len(prefix)-over, 0)]
	}
	return prefix + separator
}

// may tells whether an exposed name can be one of a server's, by its beginning.
func (n namer) may(server, name string) bool {
	return strings.HasPrefix(name, clean(server+n.separator)) || strings.HasPrefix(name, n.shortened(server))
}

// clean replaces what several model APIs refuse in a tool's name: everything
// but A-Z a-z 0-9 _ and -.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, s)
}

// fold gives names that look alike to a model or a case-insensitive host the
// same form.
func fold(s string) string { return strings.ToLower(clean(s)) }
