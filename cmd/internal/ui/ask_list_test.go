package ui

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestList(t *testing.T) {
	const up, down, right, left, backspace, word = "\x10", "\x0e", "\x06", "\x02", "\x7f", "\x17"
	tests := []struct {
		name, keys string
		several    bool
		rows       string
		made       bool
		answer     string
	}{
		{"first", "\r", false, "> apple|  Banana|  cherry", true, "apple"},
		{"down and round", down + down + down + down, false, "  apple|> Banana|  cherry", false, "Banana"},
		{"up and round", up + "\r", false, "  apple|  Banana|> cherry", true, "cherry"},
		{"filter in any case", "bAN\r", false, "> Banana", true, "Banana"},
		{"filter keeps the cursor in", down + down + "an", false, "> Banana", false, "Banana"},
		{"nothing left", "zz\r", false, "", false, ""},
		{"taken back", "zz" + backspace + backspace + "\r", false, "> apple|  Banana|  cherry", true, "apple"},
		{"all of it", "cherr" + word, false, "> apple|  Banana|  cherry", false, "apple"},
		{"marked", " " + down + " \r", true, "  [x]  apple|> [x]  Banana|  [ ]  cherry", true, "apple, Banana"},
		{"unmarked", "  \r", true, "> [ ]  apple|  [ ]  Banana|  [ ]  cherry", true, ""},
		{"all", right + "\r", true, "> [x]  apple|  [x]  Banana|  [x]  cherry", true, "apple, Banana, cherry"},
		{"none", right + left, true, "> [ ]  apple|  [ ]  Banana|  [ ]  cherry", false, ""},
		{"marked behind a filter", "ch ", true, "  [ ]  apple|  [ ]  Banana|> [x]  cherry", false, "cherry"},
		{"none is an answer", "zz\r", true, "", true, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := &list{options: []string{"apple", "Banana", "cherry"}}
			if tt.several {
				l.marked = make([]bool, 3)
			}
			made := false
			for _, key := range tt.keys {
				made = l.press(key)
			}
			rows := strings.NewReplacer(plainText, "", answerColor, "", "\x1b[32m", "").Replace(strings.Join(l.rows(), "|"))
			if diff := cmp.Diff(tt.rows, rows); diff != "" || made != tt.made {
				t.Errorf("made %v, want %v (-want +got):\n%s", made, tt.made, diff)
			}
			if (made || tt.answer != "") && l.answer() != tt.answer {
				t.Errorf("the answer is %q, want %q", l.answer(), tt.answer)
			}
		})
	}
}

func TestListPages(t *testing.T) {
	l := &list{options: strings.Split(strings.Repeat("x,", 29)+"x", ",")}
	for at := range l.options {
		l.at = at
		rows := l.rows()
		if len(rows) != selectPage || !slices.ContainsFunc(rows, func(r string) bool { return strings.Contains(r, ">") }) {
			t.Errorf("at %d: %d rows, want %d with the cursor: %q", at, len(rows), selectPage, rows)
		}
	}
}
