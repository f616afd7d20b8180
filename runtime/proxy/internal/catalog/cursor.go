package catalog

import (
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"

	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"sync"

	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/seal"
)

// cursor is where the next page of a list begins. Clients get it sealed: it
// means the same to every process that has the keys and the same catalogue.
type cursor struct {
	// Version is that of the list; another list has other pages.
	Version string `json:"v"`
	Next    int    `json:"n"`
}

const (
	// cursorPurpose keeps cursors apart from other sealed texts; the list's
	// method follows it, and the principal, of which there is only the anonymous
	// one.
	cursorPurpose = "cursor:"
	// cursorTTL is how long a client may take from page to page.
	cursorTTL = seal.StateTTL
	// DefaultPage is how many items a page has at most.
	DefaultPage = 1000
)

// next gives the cursor for the page that begins at an item.
func (p *Publisher) next(s *Catalog, k inventory.Kind, item int) string {
	plain, err := json.Marshal(cursor{s.version(k), item})
	if err != nil {
		panic("proxy: a cursor has no JSON form: " + err.Error())
	}
	return p.o.Ring.Seal(cursorPurpose+k.Listing().Method, plain, cursorTTL)
}

// begins tells at which item the page that a client asks for begins. Without a
// cursor it is the first; null counts as none, the empty string does not
// (specification, Pagination).
func (p *Publisher) begins(s *Catalog, k inventory.Kind, params []byte) (int, error) {
	at, err := rawjson.Field(params, "cursor")
	if err != nil || !at.Present() || string(at.Of(params)) == "null" {
		return 0, nil //nolint:nilerr // params that are no object have no cursor
	}
	sealed, ok := rawjson.String(params, at)
	if !ok {
		return 0, upstream.Invalid("params.cursor is no string")
	}
	plain, err := p.o.Ring.Open(cursorPurpose+k.Listing().Method, sealed)
	if err != nil {
		return 0, upstream.Invalid("params.cursor: %v", err)
	}
	var c cursor
	if err := json.Unmarshal(plain, &c); err != nil || c.Version != s.version(k) || c.Next <= 0 || c.Next >= s.count[k] {
		return 0, upstream.Invalid("params.cursor: the list has changed since: begin again")
	}
	return c.Next, nil
}

// version is the same for equal lists and for no others.
func (s *Catalog) version(k inventory.Kind) string {
	v := &s.versions[k]
	v.once.Do(func() {
		h := sha256.New()
		for _, sh := range s.sections[k] {
			sum := sh.digest()
			_, _ = h.Write(sum[:])
		}
		v.text = hex.EncodeToString(h.Sum(nil)[:8])
	})
	return v.text
}

// version is what tells a list from others, found when it is first needed.
type version struct {
	once sync.Once
	text string
}
