package proxy

import (
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

func sample(tb testing.TB, log *slog.Logger) *Inventory {
	tb.Helper()
	cat := &Inventory{
		capabilities: json.RawMessage(`{"tools":{}}`), instructions: "Do.", resources: true, modern: true,
		offered: [kinds]bool{true, true, true, false}, silent: [kinds]bool{true, false, true, true},
	}
	for k, page := range map[kind]string{
		tools: `{"tools":[{"name":"a","title":"T"},{"name":"b\u0063","outputSchema":{"type":"array"},"execution":{"taskSupport":"required"}},
			{"name":"m","inputSchema":{"type":"object","properties":{"r":{"type":"string","x-mcp-header":"Region"}}},"_meta":{"ui":{"resourceUri":"ui://a/b"}}}]}`,
		prompts:   `{"prompts":[{"name":"p","x":1.0}]}`,
		resources: `{"resources":[{"uri":"a:b","name":"n"},{"name":"n","uri":"a:c"}]}`,
	} {
		var err error
		if cat.items[k], err = parse(log, []byte(page), k.listing()); err != nil {
			tb.Fatal(err)
		}
	}
	return cat
}

// TestStoredForm: what is read is what was written, to the last fact.
func TestStoredForm(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	cat := sample(t, log)
	head := storedHead{Modern: true, Dual: true, Remote: true}
	data := encodeCatalog(cat, head)
	got, gotHead, err := decodeCatalog(log, data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(cat, got, cmp.AllowUnexported(Inventory{}, item{}, rawjson.Span{}, freshness{}, revision.Mirror{}), cmpopts.EquateComparable()); diff != "" {
		t.Error(diff)
	}
	if !gotHead.Modern || !gotHead.Dual || !gotHead.Remote {
		t.Errorf("got %+v", gotHead)
	}
	for _, it := range got.items[tools] {
		again := item{raw: it.raw, nameAt: it.nameAt, titleAt: it.titleAt, keyAt: it.keyAt}
		again.read()
		if again.find(log); again.facts != it.facts {
			t.Errorf("%s: got facts %b, want %b", it.key, it.facts, again.facts)
		}
	}
	if got := encodeCatalog(&Inventory{offered: cat.offered}, head); got != nil {
		t.Errorf("a catalogue without an item is stored: %q", got)
	}
}

// TestStoredFormDamaged: no byte of it can be another.
func TestStoredFormDamaged(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	data := encodeCatalog(sample(t, log), storedHead{})
	for i := range data {
		data[i] ^= 0x10
		if _, _, err := decodeCatalog(log, data); err == nil {
			t.Errorf("byte %d: no error", i)
		}
		data[i] ^= 0x10
		if _, _, err := decodeCatalog(log, data[:i]); err == nil {
			t.Errorf("%d bytes: no error", i)
		}
	}
}

// FuzzStoredForm: whatever is in the file, reading it ends with a catalogue or
// an error. The checksum is made to fit, or nothing would get past it.
func FuzzStoredForm(f *testing.F) {
	log := slog.New(slog.DiscardHandler)
	f.Add(encodeCatalog(sample(f, log), storedHead{})[4:])
	f.Fuzz(func(t *testing.T, data []byte) {
		cat, head, err := decodeCatalog(log, append(binary.BigEndian.AppendUint32(nil, crc32.Checksum(data, castagnoli)), data...))
		if err != nil {
			return
		}
		for k := range kinds {
			for _, it := range cat.items[k] {
				if it.key == "" || len(it.raw) > len(data) {
					t.Errorf("got %+v", it)
				}
			}
		}
		_ = encodeCatalog(cat, head)
	})
}
