package ui

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// member is one member of an object by its place in the bytes.
type member struct {
	name       string
	start, end int // from the name's quote to the end of the value
	value      int // where the value begins
}

// members returns the members of a JSON object.
func members(raw []byte) ([]member, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("not a JSON object: %.40q", raw)
	}
	var out []member
	for d.More() {
		m := member{start: skip(raw, int(d.InputOffset()), ",")}
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		m.name, _ = t.(string)
		m.value = skip(raw, int(d.InputOffset()), ":")
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return nil, err
		}
		m.end = int(d.InputOffset())
		out = append(out, m)
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if rest := bytes.TrimSpace(raw[d.InputOffset():]); len(rest) > 0 {
		return nil, fmt.Errorf("not a JSON object: %.40q follows it", rest)
	}
	return out, nil
}

// skip skips white space and the given separator.
func skip(raw []byte, i int, separator string) int {
	for i < len(raw) && (bytes.IndexByte([]byte(" \t\r\n"), raw[i]) >= 0 || raw[i] == separator[0]) {
		i++
	}
	return i
}

// JoinPages joins the pages of a list: the first page with the lists named key
// joined and without nextCursor, every other byte unchanged. A single page is
// returned unchanged. The second result has the entries.
func JoinPages(pages []json.RawMessage, key string) (json.RawMessage, []json.RawMessage, error) {
	var items []json.RawMessage
	lists := make([][]byte, 0, len(pages))
	for _, page := range pages {
		ms, err := members(page)
		if err != nil {
			return nil, nil, err
		}
		m := find(ms, key)
		if m == nil {
			return nil, nil, fmt.Errorf("the result has no %q", key)
		}
		var entries []json.RawMessage
		list := bytes.TrimSpace(page[m.value:m.end])
		if err := json.Unmarshal(list, &entries); err != nil || list[0] != '[' {
			return nil, nil, fmt.Errorf("%q is not a list", key)
		}
		items = append(items, entries...)
		if inner := bytes.TrimSpace(list[1 : len(list)-1]); len(inner) > 0 {
			lists = append(lists, inner)
		}
	}
	if len(pages) == 1 {
		return pages[0], items, nil
	}
	if len(pages) == 0 {
		return nil, nil, fmt.Errorf("no %q came", key)
	}
	first := pages[0]
	ms, err := members(first)
	if err != nil {
		return nil, nil, err
	}
	m := find(ms, key)
	joined := append(append([]byte("["), bytes.Join(lists, []byte(","))...), ']')
	out := append([]byte(nil), first[:m.value]...)
	out = append(append(out, joined...), first[m.end:]...)
	return drop(out, "nextCursor"), items, nil
}

// find returns the last member of a name, as decoders do.
func find(ms []member, name string) *member {
	for i := len(ms) - 1; i >= 0; i-- {
		if ms[i].name == name {
			return &ms[i]
		}
	}
	return nil
}

// drop removes a member and its comma.
func drop(raw []byte, name string) []byte {
	ms, err := members(raw)
	if err != nil {
		return raw
	}
	for i, m := range ms {
		if m.name != name {
			continue
		}
		from, to := m.start, m.end
		switch {
		case i+1 < len(ms):
			to = ms[i+1].start
		case i > 0:
			from = ms[i-1].end
		}
		return drop(append(raw[:from:from], raw[to:]...), name)
	}
	return raw
}
