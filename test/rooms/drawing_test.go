package main

import (
	"encoding/xml"
	"errors"
	"go/ast"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDrawing holds docs/architecture.svg to the imports there are.
func TestDrawing(t *testing.T) {
	t.Parallel()
	committed, err := os.ReadFile(filepath.Join("..", "..", drawing))
	if err != nil {
		t.Fatal(err)
	}
	if got := draw(tree(t)); got != string(committed) {
		t.Errorf("%s does not show the present rooms and imports: make drawing", drawing)
	}
}

// TestDrawingOfRooms draws a made-up tree in which every import that the table
// allows to rooms of the proxy is there.
func TestDrawingOfRooms(t *testing.T) {
	t.Parallel()
	var files []source
	for _, r := range layerTable() {
		f := source{pkg: r.pkg, syntax: &ast.File{}}
		for _, own := range r.own {
			f.imports = append(f.imports, module+"/"+own)
		}
		if !strings.HasSuffix(r.pkg, "/...") {
			files = append(files, f)
		}
	}
	got := draw(files)
	slices.Reverse(files)
	if diff := cmp.Diff(got, draw(files)); diff != "" {
		t.Errorf("the drawing depends on the order of files:\n%s", diff)
	}
	d := xml.NewDecoder(strings.NewReader(got))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, room := range []string{"limits", "upstream", "front/web", "runtime/proxy"} {
		if n := strings.Count(got, ">"+room+"<"); n != 1 {
			t.Errorf("%s is drawn %d times", room, n)
		}
	}
}

func TestReduced(t *testing.T) {
	t.Parallel()
	g := graph{"a": {"b": true, "c": true, "d": true}, "b": {"c": true}, "c": {"d": true}, "d": {}}
	want := graph{"a": {"b": true}, "b": {"c": true}, "c": {"d": true}, "d": {}}
	if diff := cmp.Diff(want, g.reduced()); diff != "" {
		t.Errorf("reduced (-want +got):\n%s", diff)
	}
}

// TestLay checks that nothing overlaps and every arrow goes down.
func TestLay(t *testing.T) {
	t.Parallel()
	g := graph{}
	rows := map[string]int{}
	names := strings.Fields("a b c d e f g h i j k l")
	for i, name := range names {
		g[name], rows[name] = map[string]bool{}, i/4
		for k := i + 1; k < len(names); k++ {
			if k/4 > i/4 && (i*k)%3 == 0 {
				g[name][names[k]] = true
			}
		}
	}
	p := lay(g, rows, 500, func(string) float64 { return 60 })
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
		for i := 1; i < len(l); i++ {
			if l[i].row != l[i-1].row+1 {
				t.Errorf("the line from %s goes from row %d to %d", l[0].room, l[i-1].row, l[i].row)
			}
		}
	}
}
