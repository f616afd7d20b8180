package main

import (
	"encoding/xml"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDrawing holds docs/architecture.svg to the imports there are, whatever
// order the files come in.
func TestDrawing(t *testing.T) {
	t.Parallel()
	files := slices.Clone(tree(t))
	slices.Reverse(files)
	got := draw(files)
	if got != page(t, drawing) {
		t.Errorf("%s does not show the present rooms and imports: make drawing", drawing)
	}
	if err := xml.Unmarshal([]byte(got), new(struct{})); err != nil {
		t.Error(err)
	}
	for room, want := range map[string]int{"limits": 1, "upstream": 1, "web": 1, "proxy": 2, "transport": 1} {
		if n := strings.Count(got, ">"+room+"<"); n != want {
			t.Errorf("%s is drawn %d times, want %d", room, n, want)
		}
	}
}

func TestReduce(t *testing.T) {
	t.Parallel()
	got := graph{"a": {"b": true, "c": true, "d": true}, "b": {"c": true}, "c": {"d": true}, "d": {}}
	got.reduce()
	if diff := cmp.Diff(graph{"a": {"b": true}, "b": {"c": true}, "c": {"d": true}, "d": {}}, got); diff != "" {
		t.Errorf("reduced (-want +got):\n%s", diff)
	}
}

// TestLay checks that nothing overlaps and every arrow goes down.
func TestLay(t *testing.T) {
	t.Parallel()
	yes := map[string]bool{"e": true, "f": true, "h": true, "i": true, "j": true}
	g := graph{"a": yes, "b": {"i": true}, "c": yes, "d": {"l": true}, "e": {"h": true, "l": true}, "g": {"i": true, "k": true}}
	p := lay(g, [][]string{{"a", "b", "c", "d"}, {"e", "f", "g", "h"}, {"i", "j", "k", "l"}}, 500, func(string) float64 { return 60 })
	if len(p.rows) != 4 {
		t.Errorf("%d rows, want 4", len(p.rows))
	}
	for _, row := range p.rows {
		for i, c := range row {
			if c.x-c.width/2 < 0 || c.x+c.width/2 > 500 {
				t.Errorf("%q lies at %v, outside", c.room, c.x)
			}
			if i > 0 && row[i-1].x+row[i-1].width/2 >= c.x-c.width/2 {
				t.Errorf("%q and %q overlap", row[i-1].room, c.room)
			}
		}
	}
	for _, l := range p.lines {
		for i, c := range l {
			if c.row != l[0].row+i {
				t.Errorf("the line from %s is in row %d after %d steps", l[0].room, c.row, i)
			}
		}
	}
}
