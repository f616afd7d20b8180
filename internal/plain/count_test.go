package plain

import "testing"

func TestCount(t *testing.T) {
	for _, tt := range []struct {
		n          int
		noun, want string
	}{
		{0, "server", "0 servers"},
		{1, "server", "1 server"},
		{2, "server", "2 servers"},
		{1, "entry", "1 entry"},
		{3, "entry", "3 entries"},
		{2, "day", "2 days"},
		{-1, "byte", "-1 bytes"},
	} {
		if got := Count(tt.n, tt.noun); got != tt.want {
			t.Errorf("%d %s: got %q", tt.n, tt.noun, got)
		}
	}
}

func TestOr(t *testing.T) {
	for want, names := range map[string][]string{"": nil, "a": {"a"}, "a or b": {"a", "b"}, "a, b or c": {"a", "b", "c"}} {
		if got := JoinOr(names); got != want {
			t.Errorf("%q: got %q, want %q", names, got, want)
		}
	}
}
