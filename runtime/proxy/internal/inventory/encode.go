package inventory

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"

	"github.com/mcpctl/mcpctl/internal/rawjson"
)

// A stored inventory is a CRC-32C (4 bytes, big-endian) of what follows it: the
// length of the head, the head as JSON, then for each list the number of its
// items and each item as
//
//	facts, length of the text, spans of name, title and key, text
//
// where a span is the beginning of a value and its length, in bytes of the text, and
// numbers are unsigned varints. So a start reads no JSON but the head.
const (
	// storedForm is to be raised when the form changes, or what Parse finds in an
	// item.
	storedForm = 3
	// maxStored bounds a stored inventory, in bytes; a larger one is not stored.
	maxStored = 64 << 20
)

// Head is what is stored of an inventory besides its items.
type Head struct {
	Form         int             `json:"form"`
	Capabilities json.RawMessage `json:"capabilities,omitempty"`
	Instructions string          `json:"instructions,omitempty"`
	Resources    bool            `json:"resources,omitempty"`
	Offered      [Kinds]bool     `json:"offered"`
	Silent       [Kinds]bool     `json:"silent"`
	Offer        string          `json:"offer,omitempty"` // see Inventory
	// What is known of the era that the server prefers, and of its other one.
	Modern bool `json:"modern,omitempty"`
	Dual   bool `json:"dual,omitempty"`
	Remote bool `json:"remote,omitempty"`
}

// Checksum is the checksum of a stored form. Its table is made by the first call.
func Checksum(data []byte) uint32 {
	return crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli))
}

// Encode returns the stored form; nil where it is too large, or every list is empty:
// a server that lists nothing now may list something at the next start.
func (cat *Inventory) Encode(head Head) []byte {
	head.Form = storedForm
	head.Capabilities, head.Instructions, head.Resources = cat.Capabilities, cat.Instructions, cat.Resources
	head.Offered, head.Silent, head.Offer = cat.Offered, cat.Silent, cat.Offer
	text, err := json.Marshal(head)
	if err != nil {
		return nil // the server's capabilities are no JSON
	}
	size, n := len(text)+64, 0
	for k := range Kinds {
		for _, it := range cat.Items[k] {
			size += len(it.Raw) + 20
			n++
		}
	}
	if n == 0 || size > maxStored {
		return nil
	}
	out := make([]byte, 4, size)
	out = binary.AppendUvarint(out, uint64(len(text)))
	out = append(out, text...)
	for k := range Kinds {
		out = binary.AppendUvarint(out, uint64(len(cat.Items[k])))
		for _, it := range cat.Items[k] {
			out = append(out, byte(it.Facts))
			out = binary.AppendUvarint(out, uint64(len(it.Raw)))
			for _, at := range []rawjson.Span{it.NameAt, it.TitleAt, it.KeyAt} {
				out = binary.AppendUvarint(out, uint64(at.Start))        //nolint:gosec // not negative
				out = binary.AppendUvarint(out, uint64(at.End-at.Start)) //nolint:gosec // not negative
			}
			out = append(out, it.Raw...)
		}
	}
	binary.BigEndian.PutUint32(out, Checksum(out[4:]))
	return out
}

var errStoredForm = errors.New("it is not in the form that this version stores")

// Decode reads the stored form. The items are parts of data.
func Decode(logger *slog.Logger, data []byte) (*Inventory, Head, error) {
	var head Head
	if len(data) < 4 || binary.BigEndian.Uint32(data) != Checksum(data[4:]) {
		return nil, head, errors.New("it is damaged")
	}
	r := storedReader{rest: data[4:]}
	if err := json.Unmarshal(r.bytes(r.number()), &head); err != nil || head.Form != storedForm {
		return nil, head, errStoredForm
	}
	cat := &Inventory{
		Capabilities: head.Capabilities, Instructions: head.Instructions, Resources: head.Resources,
		Offered: head.Offered, Silent: head.Silent, Modern: head.Modern, Offer: head.Offer,
	}
	for k := range Kinds {
		n := r.number()
		if n > len(r.rest) { // each takes more than a byte
			return nil, head, errStoredForm
		}
		if n == 0 {
			continue
		}
		cat.Items[k] = make([]Item, n)
		for i := range cat.Items[k] {
			if err := r.item(logger, k, &cat.Items[k][i]); err != nil {
				return nil, head, err
			}
		}
	}
	if r.short || len(r.rest) > 0 {
		return nil, head, errStoredForm
	}
	return cat, head, nil
}

// storedReader reads a stored inventory.
type storedReader struct {
	rest  []byte
	short bool // there was less than was announced
}

func (r *storedReader) number() int {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 || n > maxStored {
		r.short, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[size:]
	return int(n)
}

func (r *storedReader) bytes(n int) []byte {
	if n > len(r.rest) {
		r.short, r.rest = true, nil
		return nil
	}
	out := r.rest[:n:n]
	r.rest = r.rest[n:]
	return out
}

func (r *storedReader) item(logger *slog.Logger, k Kind, it *Item) error {
	about := r.bytes(1)
	size := r.number()
	for _, at := range []*rawjson.Span{&it.NameAt, &it.TitleAt, &it.KeyAt} {
		at.Start = r.number()
		at.End = at.Start + r.number()
		if at.End > size {
			return errStoredForm
		}
	}
	it.Raw = r.bytes(size)
	if r.short {
		return errStoredForm
	}
	it.Facts = Facts(about[0])
	it.read()
	if it.Key == "" {
		return fmt.Errorf("%w: an item without a key", errStoredForm)
	}
	if k == Tools {
		it.parse(logger)
	}
	return nil
}

// Sum stands for a stored catalogue: its checksum and its length. 0 is none.
func Sum(data []byte) uint64 {
	if len(data) < 4 {
		return 0
	}
	return uint64(binary.BigEndian.Uint32(data))<<32 | uint64(len(data))
}
