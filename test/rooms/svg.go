package main

import (
	"cmp"
	"fmt"
	"html"
	"maps"
	"math"
	"slices"
	"strings"
)

const (
	drawingWidth = 1180.0
	margin       = 22.0
	labelWidth   = 118.0 // of the layers' names
	boxHeight    = 42.0
	rowHeight    = boxHeight + 40
)

// head begins the drawing, which brings its own background, so that it can be
// read on any page; where the reader's system is dark, it is dark as well.
const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]v %[2]v" width="%[1]v" height="%[2]v" role="img">
<title>The rooms of mcpctl and what they import</title>
<style>
svg { --ink: #1f2937; --soft: #5b6675; --card: #ffffff; --edge: #d5dae1; --band: #f3f5f8; --box: #ffffff; --rim: #5f7ea6; --line: #7088a8; }
@media (prefers-color-scheme: dark) {
svg { --ink: #e2e8f0; --soft: #9aa7b8; --card: #12171f; --edge: #333d4b; --band: #1a212c; --box: #232d3b; --rim: #7b9cc8; --line: #7f98ba; }
}
text { font: 600 13px -apple-system, "Segoe UI", "Helvetica Neue", Arial, "DejaVu Sans", sans-serif; fill: var(--ink); }
.card { fill: var(--card); stroke: var(--edge); }
.band { fill: var(--band); }
.title { font-size: 17px; }
.note { font-size: 12px; font-weight: 400; fill: var(--soft); }
.path { font-size: 10.5px; font-weight: 400; fill: var(--soft); }
.name, .path { text-anchor: middle; }
.box { fill: var(--box); stroke: var(--rim); stroke-width: 1.2; }
.arrow { fill: none; stroke: var(--line); stroke-width: 1.3; }
.head { fill: var(--line); }
</style>
<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="head" d="M0,0.8 L8,4 L0,7.2 Z"/></marker></defs>
<rect class="card" x="0.5" y="0.5" width="%[3]v" height="%[4]v" rx="10"/>
`

// draw returns the drawing of a tree as an SVG: all rooms in their layers, and
// those of runtime/proxy.
func draw(files []source) string {
	var b strings.Builder
	g := newGraph(files, func(pkg string) string {
		for _, room := range []string{"runtime/internal", "runtime/runtimetest", facade, "scaffold/gogen", "generated"} {
			if a, _ := find(layerTable(), pkg); strings.HasPrefix(pkg, room+"/") {
				if b, _ := find(layerTable(), room); a.layer == b.layer {
					return room // with what it alone knows
				}
			}
		}
		return pkg
	})
	layers := make([][]string, 6)
	for _, room := range slices.Sorted(maps.Keys(g)) {
		r, _ := find(layerTable(), room)
		layers[5-r.layer] = append(layers[5-r.layer], room)
	}
	names := []string{"5  program", "4  command line", "3  assembled", "2  one task each", "1  core", "0  leaves"}
	y := drawGroup(&b, margin, "The rooms of mcpctl", "Each arrow is an import. An import that a chain of other arrows implies is left out.", g, layers, names)
	g = newGraph(files, func(pkg string) string {
		if room, ok := strings.CutPrefix(pkg, proxyRooms); ok || pkg == facade {
			return room
		}
		return ""
	})
	y = drawGroup(&b, y+26, "Inside runtime/proxy", "The rooms below runtime/proxy/internal. Clients come in at the fronts, servers are behind upstream.",
		g, [][]string{slices.Sorted(maps.Keys(g))}, nil)
	return fmt.Sprintf(head, drawingWidth, y+margin, drawingWidth-1, y+margin-1) + b.String() + "</svg>\n"
}

// drawGroup draws rooms from top on, and returns where they end. Layers with
// names have a band each.
func drawGroup(b *strings.Builder, top float64, title, note string, g graph, layers [][]string, names []string) float64 {
	text(b, "title", margin, top+14, title)
	text(b, "note", margin, top+34, note)
	top += 46
	left := margin
	if names != nil {
		left += labelWidth
	}
	p := lay(g, layers, drawingWidth-left-margin, func(room string) float64 {
		if room == "runtime" || room == "runtime/internal" {
			return 240 // where most arrows end
		}
		dir, name := label(room)
		return math.Round(max(6.4*float64(len(dir)), 7.6*float64(len(name)), 34) + 20)
	})
	for i, name := range names {
		y := top + float64(p.firsts[i])*rowHeight
		if i%2 == 0 { // the last layer has none
			fmt.Fprintf(b, `<rect class="band" x="1" y="%v" width="%v" height="%v"/>`+"\n", y, drawingWidth-2, float64(p.firsts[i+1]-p.firsts[i])*rowHeight)
		}
		text(b, "layer", margin, y+38, name)
	}
	boxTop := func(c *cell) float64 { return top + float64(c.row)*rowHeight + (rowHeight-boxHeight)/2 }
	for _, l := range p.lines {
		x, y := left+l[0].x+port(l[0], l[0].below, l[1]), boxTop(l[0])+boxHeight
		fmt.Fprintf(b, `<path class="arrow" marker-end="url(#head)" d="M%.0f,%v`, x, y)
		for i, c := range l[1:] {
			nextX, nextY := left+c.x+port(c, c.above, l[i]), boxTop(c)
			fmt.Fprintf(b, " C%.0f,%v %.0f,%v %.0f,%v", x, (y+nextY)/2, nextX, (y+nextY)/2, nextX, nextY)
			x, y = nextX, nextY+boxHeight
			if c.room == "" {
				fmt.Fprintf(b, " L%.0f,%v", x, y)
			}
		}
		b.WriteString("\"/>\n")
	}
	for _, c := range slices.Concat(p.rows...) {
		if c.width > 0 {
			x, y := left+c.x, boxTop(c)
			fmt.Fprintf(b, `<rect class="box" x="%v" y="%v" width="%v" height="%v" rx="6"/>`+"\n", x-c.width/2, y, c.width, boxHeight)
			dir, name := label(c.room)
			if dir != "" {
				text(b, "path", x, y+16, dir)
				y += 6
			}
			text(b, "name", x, y+26, name)
		}
	}
	return top + float64(len(p.rows))*rowHeight
}

// label returns the folder and the name of a room.
func label(room string) (dir, name string) {
	i := strings.LastIndex(room, "/") + 1
	return room[:i], room[i:]
}

// port returns where on a cell, right of its middle, the line to one of the
// cells that it is joined to begins: side by side, in their order.
func port(c *cell, joined []*cell, to *cell) float64 {
	joined = slices.SortedStableFunc(slices.Values(joined), func(a, b *cell) int { return cmp.Compare(a.x, b.x) })
	n := float64(len(joined) - 1)
	return math.Round((float64(slices.Index(joined, to)) - n/2) * min(14, max(0, c.width-20)/max(1, n)))
}

func text(b *strings.Builder, class string, x, y float64, s string) {
	fmt.Fprintf(b, `<text class="%s" x="%v" y="%v">%s</text>`+"\n", class, x, y, html.EscapeString(s))
}
