package ui

import "testing"

func TestLine(t *testing.T) {
	const left, right, home, end, del, backspace, clear = "\x02", "\x06", "\x01", "\x11", "\x12", "\x7f", "\x18"
	tests := []struct {
		name, keys, before, behind string
		complete                   bool
	}{
		{"typed", "añ\r", "añ", "", true},
		{"Ctrl+D", "a\x04", "a", "", true},
		{"nothing", "\r", "", "", true},
		{"in the middle", "ac" + left + "b", "ab", "c", false},
		{"taken back", "abc" + left + backspace, "a", "c", false},
		{"nothing to take back", backspace + "a" + home + backspace, "", "a", false},
		{"deleted", "abc" + home + del, "", "bc", false},
		{"nothing to delete", "a" + del, "a", "", false},
		{"not beyond the ends", "a" + right + right + "b" + home + left + "c" + end + "d", "cabd", "", false},
		{"all of it", "abc" + left + clear + "d", "d", "", false},
		{"keys of no character", "a\x00\x1b\x05\tb", "ab", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l, complete := &typing{}, false
			for _, key := range tt.keys {
				complete = l.press(key)
			}
			if before, behind := l.shown(); before != tt.before || behind != tt.behind || complete != tt.complete {
				t.Errorf("got %q and %q, complete %v; want %q and %q, %v", before, behind, complete, tt.before, tt.behind, tt.complete)
			}
		})
	}
	l := &typing{text: []rune("añb"), at: 1, mask: '*'}
	if before, behind := l.shown(); before != "*" || behind != "**" {
		t.Errorf("a secret: got %q and %q", before, behind)
	}
}
