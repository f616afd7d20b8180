package access

import (
	"hash/crc32"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/require"
)

var start = time.Date(2026, 11, 23, 12, 0, 0, 500, time.UTC)

func newTokens(t *testing.T, all ...Token) *Tokens {
	t.Helper()
	tokens, err := NewTokens(all)
	require.NoError(t, err)
	return tokens
}

func TestToken(t *testing.T) {
	t.Parallel()
	one, text := NewToken("ci", []string{"b", "a", "b"}, start, start.Add(time.Hour))
	other, _ := NewToken("ci", nil, start, time.Time{})
	tokens := newTokens(t, one, other)
	p, no := tokens.Principal(text, start.Add(59*time.Minute))
	if no != nil || p.ID != "token|ci" || p.Name != "ci" || strings.Join(p.Groups, " ") != "a b" {
		t.Fatalf("got %+v, %v", p, no)
	}
	if one.ID == other.ID || strings.Contains(text, one.SHA256) || !strings.Contains(text, one.ID) || len(text) != tokenLength {
		t.Errorf("%q of %+v, %+v", text, one, other)
	}
	if !tokens.Has(p, start) {
		t.Error("its principal has no token")
	}
	third, _ := NewToken("ci", nil, start, time.Time{})
	if newTokens(t, other, third).Has(p, start) || tokens.Has(p, start.Add(time.Hour)) {
		t.Error("another token of the same name stands for one that is gone")
	}
}

// TestTokenRefused: all that is not exactly the token is refused.
func TestTokenRefused(t *testing.T) {
	t.Parallel()
	stored, text := NewToken("ci", nil, start, start.Add(time.Hour))
	_, stranger := NewToken("ci", nil, start, time.Time{})
	tokens := newTokens(t, stored)
	sumless := text[:len(text)-sumLength]
	// The same id with another secret and a right checksum.
	forged := tokenPrefix + stored.ID + "_" + strings.Repeat("A", secretLength)
	forged += checksum(forged)
	tests := map[string]string{
		"nothing": "", "the beginning": tokenPrefix, "another": stranger, "shorter": text[:len(text)-1], "longer": text + "0",
		"no checksum": sumless, "another checksum": sumless + "000000", "another secret": forged, "in capitals": strings.ToUpper(text),
		"a space": " " + text[1:], "another prefix": "mcpctI_" + text[len(tokenPrefix):], "no base 62": text[:20] + "-" + text[21:],
		"beyond ASCII": text[:20] + "é" + text[22:], "NUL": text[:20] + "\x00" + text[21:], "its hash": stored.SHA256, "its id": stored.ID,
	}
	for i := range text { // each character counts
		b := []byte(text)
		if b[i]++; i%7 == 0 {
			tests["changed at "+string(rune('a'+i/7))] = string(b)
		}
	}
	for name, text := range tests {
		if p, no := tokens.Principal(text, start); p != nil || no != ErrUnknownToken {
			t.Errorf("%s: got %v, %v", name, p, no)
		}
	}
	if p, no := tokens.Principal(text, start.Add(time.Hour)); p != nil || no != ErrExpired {
		t.Errorf("expired: got %v, %v", p, no)
	}
	if p, no := newTokens(t).Principal(text, start); p != nil || no != ErrUnknownToken {
		t.Errorf("removed: got %v, %v", p, no)
	}
}

// TestChecksum: it is the CRC-32 that scanners know.
func TestChecksum(t *testing.T) {
	t.Parallel()
	sum := crc32.ChecksumIEEE([]byte("123456789")) // 0xcbf43926
	want := ""
	for range sumLength {
		want = string(base62[sum%62]) + want
		sum /= 62
	}
	if got := checksum("123456789"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestTokenWithoutID: a hash is enough to know a token by.
func TestTokenWithoutID(t *testing.T) {
	t.Parallel()
	stored, text := NewToken("ci", nil, start, start.Add(time.Hour))
	_, stranger := NewToken("ci", nil, start, time.Time{})
	stored.ID = ""
	tokens := newTokens(t, stored)
	p, no := tokens.Principal(text, start)
	if no != nil || p.ID != "token|ci" || !tokens.Has(p, start) || tokens.Has(p, start.Add(time.Hour)) {
		t.Errorf("got %v, %v", p, no)
	}
	if p, no := tokens.Principal(stranger, start); p != nil || no != ErrUnknownToken {
		t.Errorf("another: got %v, %v", p, no)
	}
	if p, no := tokens.Principal(text, start.Add(time.Hour)); p != nil || no != ErrExpired {
		t.Errorf("expired: got %v, %v", p, no)
	}
}

func TestTokenHash(t *testing.T) {
	t.Parallel()
	for _, hash := range []string{"", "abc", strings.Repeat("0", 63), strings.Repeat("g", 64), strings.Repeat("0", 66)} {
		if _, err := NewTokens([]Token{{ID: "a", Name: "b", SHA256: hash}}); err == nil {
			t.Errorf("%q is taken for a hash", hash)
		}
	}
}

// TestTokenAllocates nothing: it is on the path of each request.
func TestTokenAllocates(t *testing.T) {
	one, text := NewToken("ci", nil, start, time.Time{})
	tokens := newTokens(t, one)
	if n := testing.AllocsPerRun(100, func() { tokens.Principal(text, start) }); n > 0 {
		t.Errorf("got %v allocations", n)
	}
}

func BenchmarkToken(b *testing.B) {
	one, text := NewToken("ci", nil, start, time.Time{})
	tokens, err := NewTokens([]Token{one})
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		tokens.Principal(text, start)
	}
}

// FuzzToken: no text but the token itself is accepted.
func FuzzToken(f *testing.F) {
	one, text := NewToken("ci", nil, start, time.Time{})
	tokens, err := NewTokens([]Token{one})
	require.NoError(f, err)
	f.Add(text)
	f.Add(tokenPrefix)
	f.Fuzz(func(t *testing.T, s string) {
		if p, _ := tokens.Principal(s, start); (p != nil) != (s == text) {
			t.Errorf("%q: got %v", s, p)
		}
	})
}
