package jwt

import (
	"fmt"
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	t.Parallel()
	table := NewTokenCache[int]()
	token := func(i int) string { return fmt.Sprint("token ", i) }
	has := func(i int) bool {
		n, ok := table.Find(token(i))
		if ok && n != i {
			t.Errorf("token %d has %d", i, n)
		}
		return ok
	}
	for i := range 25_000 {
		table.Keep(token(i), i)
		if i >= maxTokens/2 && (!has(i) || !has(i-maxTokens/2+1)) {
			t.Fatalf("at %d one of the last %d is forgotten", i, maxTokens/2)
		}
	}
	all := 0
	table.Each(func(text string, n int) {
		if text != token(n) {
			t.Errorf("%s has %d", text, n)
		}
		all++
	})
	if all > maxTokens || all < maxTokens/2 || has(0) || has(9_000) {
		t.Errorf("%d are remembered", all)
	}
	before, _ := table.Find(token(24_999))
	table.Keep(token(24_999), before+1)
	if after, _ := table.Find(token(24_999)); after != before+1 {
		t.Errorf("got %d", after)
	}
}

// TestEqual: each byte counts.
func TestEqual(t *testing.T) {
	t.Parallel()
	for length := range 40 {
		a := strings.Repeat("a", length)
		if !equal(a, a+"") || equal(a, a+"a") {
			t.Errorf("%d: wrong about the length", length)
		}
		for i := range length {
			b := []byte(a)
			b[i] ^= 0x80
			if equal(a, string(b)) {
				t.Errorf("%d: byte %d does not count", length, i)
			}
		}
	}
}
