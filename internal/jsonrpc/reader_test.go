package jsonrpc_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/mcpctl/mcpctl/internal/jsonrpc"
)

func lines(r io.Reader, max int) (out []string, tooLong int, err error) {
	l := jsonrpc.NewLineReader(r, max)
	for {
		line, err := l.Next()
		switch {
		case errors.Is(err, jsonrpc.ErrTooLong):
			tooLong++
		case err != nil:
			return out, tooLong, err
		default:
			out = append(out, string(line))
		}
	}
}

func TestLineReader(t *testing.T) {
	long := strings.Repeat("x", 300_000)
	for name, c := range map[string]struct {
		in      string
		max     int
		want    []string
		tooLong int
	}{
		"lines":              {"a\nb\n", 0, []string{"a", "b"}, 0},
		"CRLF and blank":     {"a\r\n\r\n \t\nb\r\n", 0, []string{"a", "b"}, 0},
		"byte order mark":    {"\ufeff{}\n", 0, []string{"{}"}, 0},
		"no line end":        {"a\nlast", 0, []string{"a", "last"}, 0},
		"empty":              {"", 0, nil, 0},
		"longer than buffer": {long + "\nb\n", 0, []string{long, "b"}, 0},
		"over the limit":     {"aaaa\nbb\n", 3, []string{"bb"}, 1},
		"far over the limit": {long + "\nbb\n", 3, []string{"bb"}, 1},
		"over, at the end":   {"bb\n" + long, 3, []string{"bb"}, 1},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in)), iotest.DataErrReader(strings.NewReader(c.in))} {
			got, tooLong, err := lines(r, c.max)
			if strings.Join(got, "|") != strings.Join(c.want, "|") || tooLong != c.tooLong || !errors.Is(err, io.EOF) {
				t.Errorf("%s: got %d lines, %d too long, %v", name, len(got), tooLong, err)
			}
		}
	}
}

func TestLineReaderTellsWhatIsBuffered(t *testing.T) {
	for in, want := range map[string][]bool{
		"a\nb\nc":            {true, false, false},
		"a\n\nb\n\r\n \n\nc": {true, false, false},
		"a\n\ufeff\n":        {false},
	} {
		l := jsonrpc.NewLineReader(strings.NewReader(in), 0)
		for i, want := range want {
			line, err := l.Next()
			if got := l.Buffered(); err != nil || got != want || string(line) != string(rune('a'+i)) {
				t.Errorf("%q, line %d: got %q, buffered %v (%v), want %v", in, i, line, got, err, want)
			}
		}
	}
}

// FuzzLineReader compares any cutting of the input with splitting it whole.
func FuzzLineReader(f *testing.F) {
	f.Add([]byte("a\nbb\r\n\n{\"x\":1}"), 1)
	f.Add(bytes.Repeat([]byte("abc\n"), 100), 7)
	f.Fuzz(func(t *testing.T, in []byte, size int) {
		const max = 64
		var want []string
		wantLong := 0
		for part := range bytes.SplitSeq(in, []byte("\n")) {
			if len(part) > max {
				wantLong++
				continue
			}
			part = bytes.Trim(bytes.TrimPrefix(part, []byte("\ufeff")), " \t\r")
			if len(part) > 0 {
				want = append(want, string(part))
			}
		}
		got, tooLong, err := lines(&chunks{in, max1(size)}, max)
		if !errors.Is(err, io.EOF) || tooLong != wantLong || strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Fatalf("got %q, %d too long, %v; want %q, %d", got, tooLong, err, want, wantLong)
		}
	})
}

func max1(n int) int { return max(n%97, 1) }

type chunks struct {
	rest []byte
	size int
}

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), c.size)], c.rest)
	c.rest = c.rest[n:]
	return n, nil
}
