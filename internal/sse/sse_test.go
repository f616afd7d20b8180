package sse_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/internal/sse"
)

func readAll(t testing.TB, r *sse.Reader) ([]sse.Event, error) {
	t.Helper()
	var out []sse.Event
	for {
		ev, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, ev)
	}
}

func message(data string) sse.Event { return sse.Event{Name: "message", Data: []byte(data)} }

func TestReader(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want []sse.Event
	}{
		"LF":                         {"data: a\n\ndata: b\n\n", []sse.Event{message("a"), message("b")}},
		"CRLF":                       {"data: a\r\n\r\ndata: b\r\n\r\n", []sse.Event{message("a"), message("b")}},
		"CR":                         {"data: a\r\rdata: b\r\r", []sse.Event{message("a"), message("b")}},
		"mixed line ends":            {"data: a\r\ndata: b\rdata: c\n\r\n", []sse.Event{message("a\nb\nc")}},
		"byte order mark":            {"\xef\xbb\xbfdata: a\n\n", []sse.Event{message("a")}},
		"byte order mark, once only": {"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\n", nil},
		"mark and comment":           {"\xef\xbb\xbf: hi\ndata: a\n\n", []sse.Event{message("a")}},
		"one space is taken away":    {"data:  a \n\n", []sse.Event{message(" a ")}},
		"no space":                   {"data:a\n\n", []sse.Event{message("a")}},
		"colon in the data":          {"data: {\"a\":1}\n\n", []sse.Event{message(`{"a":1}`)}},
		"field without colon":        {"data\n\n", []sse.Event{message("")}},
		"two fields without colon":   {"data\ndata\n\n", []sse.Event{message("\n")}},
		"comments":                   {": x\ndata: a\n:\n: y\n\n:z\n\n", []sse.Event{message("a")}},
		"unknown field":              {"dat: x\ndata: a\nData: y\n\n", []sse.Event{message("a")}},
		"name":                       {"event: endpoint\ndata: /m\n\ndata: a\n\n", []sse.Event{{Name: "endpoint", Data: []byte("/m")}, message("a")}},
		"name without data":          {"event: x\n\ndata: a\n\n", []sse.Event{message("a")}},
		"id stays":                   {"id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n", []sse.Event{{Name: "message", Data: []byte("a"), ID: "1"}, {Name: "message", Data: []byte("b"), ID: "1"}, message("c")}},
		"id with NUL":                {"id: a\x00b\ndata: a\n\n", []sse.Event{message("a")}},
		"priming":                    {"id: p1\ndata:\n\n", []sse.Event{{Name: "message", ID: "p1", Data: []byte{}}}},
		"last event without its end": {"data: a\n\ndata: b\n", []sse.Event{message("a")}},
		"cut in the middle":          {"data: a\n\ndata: b", []sse.Event{message("a")}},
		"blank lines":                {"\n\n\n\r\rdata: a\n\n\n", []sse.Event{message("a")}},
		"multi-byte":                 {"data: 世界 \xf0\x9f\x8c\x8d\n\n", []sse.Event{message("世界 \U0001f30d")}},
		"empty":                      {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			for way, r := range map[string]io.Reader{
				"whole":   strings.NewReader(c.in),
				"bytes":   iotest.OneByteReader(strings.NewReader(c.in)),
				"halves":  iotest.HalfReader(strings.NewReader(c.in)),
				"dataerr": iotest.DataErrReader(strings.NewReader(c.in)),
			} {
				got, err := readAll(t, sse.NewReader(r, 0))
				if err != nil {
					t.Fatalf("%s: %v", way, err)
				}
				if d := diff(got, c.want); d != "" {
					t.Errorf("%s: %s", way, d)
				}
			}
		})
	}
}

// diff compares events; nil and empty data are the same.
func diff(got, want []sse.Event) string {
	bytesEqual := cmp.Comparer(func(a, b []byte) bool { return bytes.Equal(a, b) })
	return cmp.Diff(want, got, bytesEqual)
}

// TestReaderDoesNotWaitForLF: an event that ends in CR is there before the
// byte that follows.
func TestReaderDoesNotWaitForLF(t *testing.T) {
	pr, pw := io.Pipe()
	r := sse.NewReader(pr, 0)
	go func() { _, _ = pw.Write([]byte("data: a\r\r")) }()
	if ev, err := r.Next(); err != nil || string(ev.Data) != "a" {
		t.Fatalf("got %v, %v", ev, err)
	}
	go func() {
		_, _ = pw.Write([]byte("\ndata: b\n\n"))
		_ = pw.Close()
	}()
	if ev, err := r.Next(); err != nil || string(ev.Data) != "b" {
		t.Fatalf("got %v, %v", ev, err)
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Fatalf("got %v, want EOF", err)
	}
}

func TestReaderLastIDAndRetry(t *testing.T) {
	for name, c := range map[string]struct {
		in    string
		id    string
		retry time.Duration
		has   bool
	}{
		"id without data counts":         {"id: 7\n\n", "7", 0, false},
		"id of an unfinished event":      {"id: 7\ndata: a\n\nid: 8\ndata: b\n", "7", 0, false},
		"emptied":                        {"id: 7\n\nid:\n\n", "", 0, false},
		"retry":                          {"retry: 1500\n\n", "", 1500 * time.Millisecond, true},
		"retry of zero":                  {"retry: 0\n\n", "", 0, true},
		"retry that is not a number":     {"retry: 10s\n\nretry: -1\n\nretry:\n\nretry: 1.5\n\n", "", 0, false},
		"retry beyond all bounds":        {"retry: 99999999999999999999999\n\n", "", 24 * time.Hour, true},
		"the later retry":                {"retry: 1\nretry: 2\n\n", "", 2 * time.Millisecond, true},
		"nonsense leaves the one before": {"retry: 1\nretry: x\n\n", "", time.Millisecond, true},
	} {
		r := sse.NewReader(strings.NewReader(c.in), 0)
		if _, err := readAll(t, r); err != nil {
			t.Fatal(err)
		}
		retry, has := r.Retry()
		if r.LastID() != c.id || retry != c.retry || has != c.has {
			t.Errorf("%s: got %q %v %v, want %q %v %v", name, r.LastID(), retry, has, c.id, c.retry, c.has)
		}
	}
}

func TestReaderLimit(t *testing.T) {
	const limit = 100
	fits := "data: " + strings.Repeat("x", limit-len("data: ")) + "\n\n"
	for name, c := range map[string]struct {
		in  string
		n   int
		big bool
	}{
		"a line that just fits":       {fits + fits, 2, false},
		"a line too long":             {fits + "data: " + strings.Repeat("x", limit) + "\n\n", 1, true},
		"a line without end":          {"data: " + strings.Repeat("x", 1<<20), 0, true},
		"many lines":                  {strings.Repeat("data: xxxxxxxxxxxxxxx\n", 50) + "\n", 0, true},
		"a comment is not counted":    {":" + strings.Repeat("x", 1<<20) + "\ndata: a\n\n", 1, false},
		"a comment after a mark":      {"\xef\xbb\xbf:" + strings.Repeat("x", 1<<20) + "\ndata: a\n\n", 1, false},
		"comments between data lines": {"data: a\n:" + strings.Repeat("x", 1<<20) + "\n\n", 1, false},
	} {
		for way, r := range map[string]io.Reader{"whole": strings.NewReader(c.in), "bytes": iotest.OneByteReader(strings.NewReader(c.in))} {
			reader := sse.NewReader(r, limit)
			got, err := readAll(t, reader)
			if errors.Is(err, sse.ErrTooLarge) != c.big || !c.big && err != nil || len(got) != c.n {
				t.Errorf("%s, %s: got %d events, %v", name, way, len(got), err)
			}
			if c.big {
				if _, err := reader.Next(); !errors.Is(err, sse.ErrTooLarge) {
					t.Errorf("%s, %s: the error does not stay: %v", name, way, err)
				}
			}
		}
	}
}

func TestReaderPassesErrorsOn(t *testing.T) {
	r := sse.NewReader(io.MultiReader(strings.NewReader("data: a\n\ndata: b"), iotest.ErrReader(io.ErrUnexpectedEOF)), 0)
	got, err := readAll(t, r)
	if len(got) != 1 || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("got %v, %v", got, err)
	}
	if _, err := sse.NewReader(stuck{}, 0).Next(); !errors.Is(err, io.ErrNoProgress) {
		t.Fatalf("got %v, want ErrNoProgress", err)
	}
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

func TestAppendEvent(t *testing.T) {
	for _, c := range []struct {
		ev   sse.Event
		want string
	}{
		{sse.Event{Data: []byte(`{"a":1}`)}, "data: {\"a\":1}\n\n"},
		{sse.Event{Name: "message", ID: "3", Data: []byte("a\nb")}, "event: message\nid: 3\ndata: a\ndata: b\n\n"},
		{sse.Event{ID: "p", Retry: 1500 * time.Millisecond}, "id: p\nretry: 1500\ndata: \n\n"},
		{sse.Event{Data: []byte("a\r\nb\rc\n")}, "data: a\ndata: b\ndata: c\ndata: \n\n"},
		{sse.Event{Name: "x\ndata: evil", ID: "1\n2", Data: []byte("a")}, "data: a\n\n"},
	} {
		if got := string(sse.AppendEvent(nil, c.ev)); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	if got, want := string(sse.AppendComment(nil, "keep\nalive")), ": keep alive\n\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// chunks returns its text in pieces of random length.
type chunks struct {
	text []byte
	rnd  *rand.Rand
}

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.text) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), 1+c.rnd.IntN(7))], c.text)
	c.text = c.text[n:]
	return n, nil
}

var lineEnd = regexp.MustCompile("\r\n|\r|\n")

// reference is the standard's algorithm on the whole text at once.
func reference(text string) (events []sse.Event, lastID string) {
	lines := lineEnd.Split(strings.TrimPrefix(text, "\xef\xbb\xbf"), -1)
	var name, pending string
	var data []string
	for _, line := range lines[:len(lines)-1] {
		if line == "" {
			lastID = pending
			if data != nil {
				if name == "" {
					name = "message"
				}
				events = append(events, sse.Event{Name: name, Data: []byte(strings.Join(data, "\n")), ID: lastID})
			}
			name, data = "", nil
			continue
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case field == "data":
			data = append(data, value)
		case field == "event":
			name = value
		case field == "id" && !strings.Contains(value, "\x00"):
			pending = value
		}
	}
	return events, lastID
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("\xef\xbb\xbfid: 1\r\nevent: x\rdata: a\ndata\n\n: c\r\rretry: 5\n\n"), uint64(1))
	f.Add([]byte("data: \xe4\xb8\x96\r\n\r\n\r\ndata: b\r"), uint64(2))
	f.Add([]byte("data: a\n\ndata: b"), uint64(3))
	f.Fuzz(func(t *testing.T, text []byte, seed uint64) {
		want, lastID := reference(string(text))
		whole := sse.NewReader(bytes.NewReader(text), 0)
		cut := sse.NewReader(&chunks{text: bytes.Clone(text), rnd: rand.New(rand.NewPCG(seed, 0))}, 0)
		for way, r := range map[string]*sse.Reader{"whole": whole, "cut": cut} {
			got, err := readAll(t, r)
			if err != nil {
				t.Fatalf("%s: %v", way, err)
			}
			if d := diff(got, want); d != "" {
				t.Fatalf("%s: %s", way, d)
			}
			if r.LastID() != lastID {
				t.Fatalf("%s: last id %q, want %q", way, r.LastID(), lastID)
			}
		}
		// With a tight limit it ends, one way or the other, and holds little.
		for _, ev := range must(readAll(t, sse.NewReader(bytes.NewReader(text), 16))) {
			if len(ev.Data) > 16+1 {
				t.Fatalf("an event of %d bytes with a limit of 16", len(ev.Data))
			}
		}
	})
}

func must(evs []sse.Event, _ error) []sse.Event { return evs }

func FuzzAppendEvent(f *testing.F) {
	f.Add("message", "1", []byte("{\"a\":\r\n1}"))
	f.Fuzz(func(t *testing.T, name, id string, data []byte) {
		b := sse.AppendEvent(nil, sse.Event{Name: name, ID: id, Data: data})
		got, err := readAll(t, sse.NewReader(bytes.NewReader(b), 0))
		if err != nil || len(got) != 1 {
			t.Fatalf("%q: got %v, %v", b, got, err)
		}
		if want := lineEnd.ReplaceAll(data, []byte("\n")); !bytes.Equal(got[0].Data, want) {
			t.Fatalf("data: got %q, want %q", got[0].Data, want)
		}
	})
}
