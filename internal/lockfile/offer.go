package lockfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/mcpctl/mcpctl/internal/rawjson"
)

// List is one of the lists of a server.
type List int

// The lists, and how many there are.
const (
	Tools List = iota
	Prompts
	Resources
	Templates
	Lists
)

// Member returns the member that holds the list in a result.
func (l List) Member() string {
	return [Lists]string{"tools", "prompts", "resources", "resourceTemplates"}[l]
}

// Key returns the member of an entry that names it.
func (l List) Key() string { return [Lists]string{"name", "name", "uri", "uriTemplate"}[l] }

// Noun returns what an entry of the list is called.
func (l List) Noun() string {
	return [Lists]string{"tool", "prompt", "resource", "resource template"}[l]
}

// ListOf returns the list of a member of a result, and false for another member.
func ListOf(member string) (List, bool) {
	for l := range Lists {
		if l.Member() == member {
			return l, true
		}
	}
	return 0, false
}

// Item is one entry of a list, as the server sent it.
type Item struct {
	Key string
	Raw []byte
}

// Items returns the entries of a list. Those without a name are left out: nobody
// can ask for them.
func Items(l List, raw []json.RawMessage) []Item {
	items := make([]Item, 0, len(raw))
	for _, r := range raw {
		if key, ok := rawjson.FieldString(r, l.Key()); ok && key != "" {
			items = append(items, Item{key, r})
		}
	}
	return items
}

// About is what a server says of itself. In an offer, an empty name says that neither
// name nor title are known.
type About struct {
	Name         string `json:"name,omitempty"`
	Title        string `json:"title,omitempty"`
	Instructions string `json:"instructions,omitempty"`
}

// Offer is what a server offers, as far as it is known.
type Offer struct {
	// About is nil where it is not known.
	About *About
	// Items are those of each list, nil where the list is not known. A list without
	// entries is known and empty.
	Items [Lists][]Item
}

// normal returns an entry in the form that all of its spellings share. What changes
// with the content of a resource is not part of its definition, nor is how a tool can
// be called as a task, which a server says in one revision of the protocol only.
func normal(l List, raw []byte) []byte {
	switch {
	case l == Resources:
		raw = withoutState(raw)
	case l == Tools && bytes.Contains(raw, []byte(`"execution"`)):
		if out, err := rawjson.Without(raw, func(name string) bool { return name == "execution" }); err == nil {
			raw = out
		}
	}
	return rawjson.Normal(raw)
}

// withoutState returns a resource without its size and the time of its last change.
func withoutState(raw []byte) []byte {
	if !bytes.Contains(raw, []byte(`"size"`)) && !bytes.Contains(raw, []byte(`"lastModified"`)) {
		return raw
	}
	out, err := rawjson.Without(raw, func(name string) bool { return name == "size" })
	if err != nil {
		return raw
	}
	at, err := rawjson.Field(out, "annotations")
	if err != nil || !rawjson.IsObject(at.Of(out)) {
		return out
	}
	annotations, err := rawjson.Without(at.Of(out), func(name string) bool { return name == "lastModified" })
	if err != nil {
		return out
	}
	return rawjson.Splice(nil, out, rawjson.Edit{Span: at, New: annotations})
}

// digestOf returns the digest of a text in normal form.
func digestOf(normal []byte) string {
	sum := sha256.Sum256(normal)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// same reports whether two offers have the same bytes.
func (o *Offer) same(other *Offer) bool {
	if other == nil || (o.About == nil) != (other.About == nil) || o.About != nil && *o.About != *other.About {
		return false
	}
	for l := range Lists {
		if (o.Items[l] == nil) != (other.Items[l] == nil) || !slices.EqualFunc(o.Items[l], other.Items[l], func(a, b Item) bool {
			return a.Key == b.Key && bytes.Equal(a.Raw, b.Raw)
		}) {
			return false
		}
	}
	return true
}

// Digest returns what stands for an entry of a list in a lock file, and in records.
func Digest(l List, raw []byte) string { return digestOf(normal(l, raw)) }
