package proxy

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/runtime/bridge"
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
)

// snapshot is what clients may see and where it leads. It is immutable.
type snapshot struct {
	// routes lead from an exposed name, URI or template to its backend.
	routes [kinds]map[string]*route
	// items are what the lists hold, under the names that clients see; lists are
	// the same in one text, to tell changes.
	items [kinds][][]byte
	lists [kinds][]byte
	// variants are the lists in the words of each era: the handshake's first.
	variants [kinds][2]variant
	// fresh is how long each list may be kept, partial the report of what it
	// leaves out, nil where it leaves out nothing.
	fresh   [kinds]freshness
	partial [kinds][]byte
	// readers are the backends with resources.
	readers []*backend
	// ambiguous URIs are listed by several backends; the value names the
	// exposed forms.
	ambiguous map[string][]string
}

// route is where an exposed name leads.
type route struct {
	b *backend
	// bare is what the backend calls it, quoted is that as JSON.
	bare   string
	quoted []byte
	// definition is the item as the backend sent it.
	definition []byte
	// mirrors are the arguments of a tool that HTTP requests of the stateless era
	// repeat as headers.
	mirrors []bridge.Mirror
	// wrapped tells that the exposed URI is not the backend's own.
	wrapped bool
	// wraps tells that clients of the handshake era see a tool's output schema
	// wrapped in an object, so that what it returns must be wrapped, too.
	wraps bool
}

// newSnapshot builds the lists of all catalogues, backends in configured order
// and each one's items in its own. The caller holds Proxy.mu.
func newSnapshot(p *Proxy) *snapshot {
	s := &snapshot{ambiguous: map[string][]string{}}
	for _, b := range p.backends {
		if b.catalog != nil && b.catalog.resources {
			s.readers = append(s.readers, b)
		}
	}
	for k := range kinds {
		s.routes[k] = map[string]*route{}
		var parts []freshness
		owners := keyOwners(p, k)
		for _, b := range p.backends {
			cat := b.catalog
			if cat == nil {
				continue
			}
			if cat.offered[k] {
				parts = append(parts, cat.fresh[k])
			}
			for i, exposed := range s.exposedKeys(p, k, b, cat, owners) {
				it := cat.items[k][i]
				r := &route{b: b, bare: it.key, quoted: rawjson.Quote(nil, it.key), wrapped: exposed != it.key, definition: it.raw, mirrors: it.mirrors}
				r.wraps = k == tools && bridge.WrapsOutput(it.raw)
				if _, taken := s.routes[k][exposed]; taken {
					p.log.Warn("backend lists one name twice; the first counts", "server", b.name, "name", it.key)
					continue
				}
				s.routes[k][exposed] = r
				s.items[k] = append(s.items[k], rewriteItem(p, k, b, it, exposed))
			}
		}
		s.lists[k] = bytes.Join(s.items[k], []byte{','})
		s.fresh[k], s.partial[k] = merged(parts), partialReport(p, k)
	}
	return s
}

// keyOwners counts how many backends list each URI.
func keyOwners(p *Proxy, k kind) map[string]int {
	owners := map[string]int{}
	for _, b := range p.backends {
		if cat := b.catalog; cat != nil {
			seen := map[string]bool{}
			for _, it := range cat.items[k] {
				if !seen[it.key] {
					seen[it.key] = true
					owners[it.key]++
				}
			}
		}
	}
	return owners
}

// exposedKeys gives what clients call each item of a backend's list.
func (s *snapshot) exposedKeys(p *Proxy, k kind, b *backend, cat *catalog, owners map[string]int) []string {
	items := cat.items[k]
	keys := make([]string, len(items))
	for i, it := range items {
		keys[i] = it.key
	}
	if k == resources || k == templates {
		for i, key := range keys {
			if owners[key] > 1 {
				keys[i] = wrapURI(b.name, key)
				s.ambiguous[key] = append(s.ambiguous[key], keys[i])
			}
		}
		return keys
	}
	prefixed := p.names.exposed(b.name, keys)
	if !p.o.NoPrefix {
		return prefixed
	}
	for i, key := range keys {
		if r := s.routes[k][key]; r != nil && r.b != b {
			p.log.Warn("two servers offer one name; the later keeps its prefix", "name", key, "servers", []string{r.b.name, b.name}, "exposed", prefixed[i])
			keys[i] = prefixed[i]
		}
	}
	return keys
}

// rewriteItem gives a list item with its name and URI as exposed.
func rewriteItem(p *Proxy, k kind, b *backend, it item, exposed string) []byte {
	var edits []rawjson.Edit
	if exposed != it.key {
		edits = append(edits, rawjson.Edit{Span: it.keyAt, New: rawjson.Quote(nil, exposed)})
	}
	if (k == resources || k == templates) && it.nameAt.Present() && !p.o.NoPrefix {
		edits = append(edits, rawjson.Edit{Span: it.nameAt, New: rawjson.Quote(nil, b.name+p.o.Separator+it.name)})
	}
	slices.SortFunc(edits, func(a, b rawjson.Edit) int { return a.Start - b.Start })
	return rawjson.Splice(nil, it.raw, edits...)
}

// partialReport names the backends that a list leaves out and why, nil for none:
// [{"server":…,"error":…}].
func partialReport(p *Proxy, k kind) []byte {
	type missing struct {
		Server string `json:"server"`
		Error  string `json:"error"`
	}
	var out []missing
	for _, b := range p.backends {
		err := b.failure()
		if b.catalog != nil {
			err = b.catalog.failed[k]
		}
		if err != nil {
			out = append(out, missing{b.name, err.Error()})
		}
	}
	if out == nil {
		return nil
	}
	raw, err := json.Marshal(out)
	if err != nil {
		panic("proxy: a report of strings has no JSON form: " + err.Error())
	}
	return raw
}

// wrapped URIs are mcpctl+SCHEME://SERVER/REST, where REST is the URI behind
// its scheme's colon; ui:// keeps its scheme, which hosts insist on.
const wrapPrefix = "mcpctl+"

func wrapURI(server, uri string) string {
	scheme, rest, ok := strings.Cut(uri, ":")
	if !ok {
		return wrapPrefix + "x://" + server + "/" + uri
	}
	if scheme == "ui" {
		return "ui://" + server + "/" + strings.TrimPrefix(rest, "//")
	}
	return wrapPrefix + scheme + "://" + server + "/" + rest
}
