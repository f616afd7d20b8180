package audit_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/test/require"
)

func full() audit.Record {
	return audit.Record{
		Time: time.Date(2026, 11, 22, 9, 14, 3, 120311000, time.UTC), Run: "k3f9", N: 4711, Kind: audit.KindCall, Of: 7,
		Principal: audit.Principal{ID: "https://idp.example|8f3a", Name: "alice@example.com", Groups: []string{"eng", "idp:leads"}, Client: "claude", Via: "jwt", Addr: netip.MustParseAddr("192.0.2.7"), Flow: "f1"},
		Target:    audit.Target{Server: "gh", Item: "create_issue", Era: "2026-07-28", Definition: "sha256:d", Trace: "4bf9", Through: "call_tool"},
		Decision:  audit.Decision{Verdict: audit.VerdictAllow, By: []string{"rule-1"}, Would: []string{"no-exfil", "other"}, Scopes: []string{"s"}, Generation: "sha256:g", Seen: []string{"untrusted"}, Found: []string{""}},
		Arguments: audit.Arguments{Digest: "hmac:9b1c", Size: 412},
		Outcome:   audit.Outcome{Out: audit.OutOK, Took: 128 * time.Millisecond, ResultDigest: "hmac:r", ResultSize: 2210},
		Text:      "a\"b\\c\n\r\t\x01\u2028é", Count: -3,
	}
}

const fullText = `{"v":1,"t":"2026-11-22T09:14:03.120311Z","run":"k3f9","n":4711,"kind":"call","of":7,"who":"https://idp.example|8f3a","name":"alice@example.com","groups":["eng","idp:leads"],"client":"claude","via":"jwt","ip":"192.0.2.7","flow":"f1","server":"gh","item":"create_issue","era":"2026-07-28","args":"hmac:9b1c","size":412,"def":"sha256:d","verdict":"allow","by":["rule-1"],"would":["no-exfil","other"],"scopes":["s"],"gen":"sha256:g","seen":["untrusted"],"found":[""],"ms":128,"out":"ok","rsize":2210,"rdig":"hmac:r","trace":"4bf9","through":"call_tool","text":"a\"b\\c\n\r\t\u0001` + "\u2028é" + `","count":-3}`

func TestRecord(t *testing.T) {
	want := full()
	text := want.Append(nil)
	if string(text) != fullText {
		t.Errorf("got  %s\nwant %s", text, fullText)
	}
	got, err := audit.Parse(text)
	require.NoError(t, err)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read back as %+v\nwant %+v", got, want)
	}
	if !json.Valid(text) {
		t.Error("no JSON")
	}
	if got := audit.Stamp(text); got != "2026-11-22T09:14:03.120311Z" || got != audit.StampOf(want.Time) {
		t.Errorf("stamp %q, and %q of its time", got, audit.StampOf(want.Time))
	}
	least := (&audit.Record{}).Append(nil)
	if want := `{"v":1,"t":"0001-01-01T00:00:00.000000Z","run":"","n":0,"kind":""}`; string(least) != want {
		t.Errorf("got %s, want %s", least, want)
	}
}

func TestAppendDoesNotAllocate(t *testing.T) {
	r, dst := full(), make([]byte, 0, 4<<10)
	if n := testing.AllocsPerRun(100, func() { dst = r.Append(dst[:0]) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestBounds: whatever a record says, its text can be read, is bounded, and says the same
// when it is written again.
func TestBounds(t *testing.T) {
	long := strings.Repeat("x", 5000)
	many := strings.Split(strings.Repeat(long+",", 99), ",")
	for name, s := range map[string]string{
		"long": long, "wide": strings.Repeat("é", 3000), "wider": "x" + strings.Repeat("😀", 3000),
		"exact": strings.Repeat("x", 256), "one more": strings.Repeat("x", 257), "not UTF-8": strings.Repeat("\xff", 255), "quotes": strings.Repeat(`"`, 3000),
	} {
		t.Run(name, func(t *testing.T) {
			r := audit.Record{
				Time: time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC), Run: s, N: math.MaxUint64, Kind: audit.Kind(s), Of: math.MaxUint64,
				Principal: audit.Principal{ID: s, Name: s, Groups: many, Client: s, Via: s, Addr: netip.MustParseAddr("fe80::1%eth0"), Flow: s},
				Target:    audit.Target{Server: s, Item: s, Era: s, Definition: s, Trace: s, Through: s},
				Decision:  audit.Decision{Verdict: s, By: many, Would: []string{s}, Scopes: many[:64], Generation: s},
				Arguments: audit.Arguments{Digest: s, Size: math.MinInt64},
				Outcome:   audit.Outcome{Out: s, Took: -1, ResultDigest: s, ResultSize: math.MaxInt64},
				Text:      s, Count: math.MaxInt64,
			}
			text := r.Append(nil)
			if len(text) > 100<<10 {
				t.Errorf("%d bytes", len(text))
			}
			got, err := audit.Parse(text)
			require.NoError(t, err)
			if again := got.Append(nil); string(again) != string(text) {
				t.Errorf("written again: %s\nfirst: %s", again, text)
			}
			if len(got.Principal.Name) > 256 || len(s) > 256 && !strings.HasSuffix(got.Principal.Name, "…") || !utf8.ValidString(got.Principal.Name) {
				t.Errorf("name %q", got.Principal.Name)
			}
			if n := len(got.Decision.By); n != 64 || got.Decision.By[63] != "…" {
				t.Errorf("%d policies, the last is %q", n, got.Decision.By[63])
			}
			if len(s) == 256 && got.Principal.Name != s {
				t.Errorf("cut to %q without need", got.Principal.Name)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	const head = `{"v":1,"t":"2026-11-22T09:14:03.120311Z","run":"a","n":1,"kind":"call"`
	for name, text := range map[string]string{
		"nothing": "", "an object": "{}", "half": head, "more": head + "} ", "twice": head + "}" + head + "}",
		"another version": strings.Replace(head, `"v":1`, `"v":2`, 1) + "}",
		"a space":         strings.Replace(head, `"n":1`, `"n": 1`, 1) + "}",
		"a leading zero":  strings.Replace(head, `"n":1`, `"n":01`, 1) + "}",
		"too great":       strings.Replace(head, `"n":1`, `"n":18446744073709551616`, 1) + "}",
		"no number":       strings.Replace(head, `"n":1`, `"n":`, 1) + "}",
		"the 31st":        strings.Replace(head, `11-22`, `11-31`, 1) + "}",
		"no month":        strings.Replace(head, `11-22`, `00-22`, 1) + "}",
		"hour 24":         strings.Replace(head, `T09`, `T24`, 1) + "}",
		"second 60":       strings.Replace(head, `:03.`, `:60.`, 1) + "}",
		"an offset":       strings.Replace(head, `311Z`, `311+`, 1) + "}",
		"an empty member": head + `,"who":""}`, "a zero": head + `,"size":0}`, "minus zero": head + `,"size":-0}`,
		"of zero": head + `,"of":0}`, "order": head + `,"size":1,"args":"x"}`, "a member twice": head + `,"who":"a","who":"a"}`,
		"an unknown member": head + `,"what":"a"}`, "an empty list": head + `,"by":[]}`, "an open list": head + `,"by":["a",]}`,
		"a mapped address": head + `,"ip":"::ffff:1.2.3.4"}`, "another text of an address": head + `,"ip":"0::1"}`, "a zone": head + `,"ip":"fe80::1%1"}`,
		"a needless escape": head + `,"who":"\u0061"}`, "a capital": head + `,"who":"\u001F"}`, "a long escape": head + `,"who":"\u000a"}`,
		"a slash": head + `,"who":"\/"}`, "an open escape": head + `,"who":"\`, "half an escape": head + `,"who":"\u00`,
		"a newline": head + ",\"who\":\"a\nb\"}", "not UTF-8": head + ",\"who\":\"\xff\"}", "a surrogate": head + `,"who":"\ud800"}`,
		"too long": head + `,"name":"` + strings.Repeat("x", 257) + `"}`, "too many": head + `,"by":[` + strings.Repeat(`"a",`, 64) + `"a"]}`,
		"negative time": head + `,"ms":-1}`, "endless time": head + `,"ms":9223372036855}`, "a fraction": head + `,"ms":1.5}`,
	} {
		if r, err := audit.Parse([]byte(text)); err == nil {
			t.Errorf("%s: read as %+v", name, r)
		}
	}
	_, err := audit.Parse([]byte(head + "}"))
	require.NoError(t, err)
}

// FuzzParse: what is taken is what Append writes of it, to the byte.
func FuzzParse(f *testing.F) {
	f.Add([]byte(fullText))
	f.Add([]byte(`{"v":1,"t":"0001-01-01T00:00:00.000000Z","run":"","n":0,"kind":""}`))
	f.Add([]byte(`{"v":1,"t":"2026-02-29T23:59:59.999999Z","run":"a","n":1,"kind":"list","ip":"fe80::1","text":"\u001f\\\"é","count":-9}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := audit.Parse(text)
		if err != nil {
			return
		}
		if again := r.Append(nil); string(again) != string(text) {
			t.Errorf("taken  %q\nwritten %q", text, again)
		}
		if !json.Valid(text) {
			t.Errorf("taken, but no JSON: %q", text)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	r, dst := full(), make([]byte, 0, 4<<10)
	b.ReportAllocs()
	for b.Loop() {
		dst = r.Append(dst[:0])
	}
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := audit.Parse([]byte(fullText)); err != nil {
			b.Fatal(err)
		}
	}
}

// TestStampOf: stamps are times as package time formats them, in UTC.
func TestStampOf(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	zone := time.FixedZone("", -7*3600)
	for _, at := range []time.Time{{}, time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC), time.Date(2026, 1, 2, 3, 4, 5, 6789, zone)} {
		for range 1000 {
			if got, want := audit.StampOf(at), at.UTC().Format("2006-01-02T15:04:05.000000Z"); got != want {
				t.Fatalf("got %s, want %s", got, want)
			}
			at = time.Unix(r.Int64N(253_402_300_800), r.Int64N(1_000_000_000)).In(zone)
		}
	}
	if got := audit.StampOf(time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)); got != audit.StampOf(time.Time{}) {
		t.Errorf("got %s", got)
	}
}
