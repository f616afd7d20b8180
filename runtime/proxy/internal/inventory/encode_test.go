package inventory

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
)

func sample(tb testing.TB, log *slog.Logger) *Inventory {
	tb.Helper()
	cat := &Inventory{
		Capabilities: json.RawMessage(`{"tools":{}}`), Instructions: "Do.", Resources: true, Modern: true,
		Offered: [Kinds]bool{true, true, true, false}, Silent: [Kinds]bool{true, false, true, true},
	}
	for k, page := range map[Kind]string{
		Tools: `{"tools":[{"name":"a","title":"T"},{"name":"b\u0063","outputSchema":{"type":"array"},"execution":{"taskSupport":"required"}},
			{"name":"m","inputSchema":{"type":"object","properties":{"r":{"type":"string","x-mcp-header":"Region"}}},"_meta":{"ui":{"resourceUri":"ui://a/b"}}}]}`,
		Prompts:   `{"prompts":[{"name":"p","x":1.0}]}`,
		Resources: `{"resources":[{"uri":"a:b","name":"n"},{"name":"n","uri":"a:c"}]}`,
	} {
		var err error
		if cat.Items[k], err = Parse(log, []byte(page), k.Listing()); err != nil {
			tb.Fatal(err)
		}
	}
	return cat
}

// TestStoredForm: what is read is what was written, to the last fact.
func TestStoredForm(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	cat := sample(t, log)
	head := Head{Modern: true, Dual: true, Remote: true}
	data := cat.Encode(head)
	got, gotHead, err := Decode(log, data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(cat, got, cmp.AllowUnexported(Inventory{}, Item{}, rawjson.Span{}, Freshness{}, revision.Mirror{}), cmpopts.EquateComparable()); diff != "" {
		t.Error(diff)
	}
	if !gotHead.Modern || !gotHead.Dual || !gotHead.Remote {
		t.Errorf("got %+v", gotHead)
	}
	for _, it := range got.Items[Tools] {
		again := Item{Raw: it.Raw, NameAt: it.NameAt, TitleAt: it.TitleAt, KeyAt: it.KeyAt}
		again.read()
		if again.find(log); again.Facts != it.Facts {
			t.Errorf("%s: got facts %b, want %b", it.Key, it.Facts, again.Facts)
		}
	}
	if got := (&Inventory{Offered: cat.Offered}).Encode(head); got != nil {
		t.Errorf("a catalogue without an item is stored: %q", got)
	}
}

// TestStoredFormDamaged: no byte of it can be another.
func TestStoredFormDamaged(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	data := sample(t, log).Encode(Head{})
	for i := range data {
		data[i] ^= 0x10
		if _, _, err := Decode(log, data); err == nil {
			t.Errorf("byte %d: no error", i)
		}
		data[i] ^= 0x10
		if _, _, err := Decode(log, data[:i]); err == nil {
			t.Errorf("%d bytes: no error", i)
		}
	}
}

// FuzzStoredForm: whatever is in the file, reading it ends with a catalogue or
// an error. The checksum is made to fit, or nothing would get past it.
func FuzzStoredForm(f *testing.F) {
	log := slog.New(slog.DiscardHandler)
	f.Add(sample(f, log).Encode(Head{})[4:])
	f.Fuzz(func(t *testing.T, data []byte) {
		cat, head, err := Decode(log, append(binary.BigEndian.AppendUint32(nil, Checksum(data)), data...))
		if err != nil {
			return
		}
		for k := range Kinds {
			for _, it := range cat.Items[k] {
				if it.Key == "" || len(it.Raw) > len(data) {
					t.Errorf("got %+v", it)
				}
			}
		}
		_ = cat.Encode(head)
	})
}

// TestFollow: what was there keeps its order, whatever the server's is now, and what is new comes
// behind it.
func TestFollow(t *testing.T) {
	t.Parallel()
	of := func(names ...string) *Inventory {
		var c Inventory
		for _, name := range names {
			c.Items[Tools] = append(c.Items[Tools], Item{Key: name})
		}
		return &c
	}
	for _, tc := range []struct{ before, now, want string }{
		{"", "b a", "b a"},
		{"a b", "a b c", "a b c"},
		{"a b", "c b a", "a b c"},
		{"a b c", "d c e a", "a c d e"},
		{"a b", "x y", "x y"},
		{"a a b", "b a", "a b"},
	} {
		c := of(strings.Fields(tc.now)...)
		given := c.Items[Tools]
		c.Follow(of(strings.Fields(tc.before)...))
		var got []string
		for _, it := range c.Items[Tools] {
			got = append(got, it.Key)
		}
		if strings.Join(got, " ") != tc.want || given[0].Key != strings.Fields(tc.now)[0] {
			t.Errorf("%s, then %s: got %v", tc.before, tc.now, got)
		}
	}
	c := of("b", "a")
	c.Failed[Tools] = errors.New("no")
	c.Follow(of("a"))
	if len(c.Items[Tools]) != 1 {
		t.Errorf("got %v", c.Items[Tools])
	}
	c.Follow(nil)
}
