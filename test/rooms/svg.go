package main

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

const (
	drawingWidth = 1180.0
	margin       = 22.0
	labelWidth   = 118.0 // of the layers' names
	boxHeight    = 42.0
	rowGap       = 40.0
	letter       = 7.6 // width of a letter of a box, in a wide font
)

// style has the looks. The drawing brings its own background, so that it can be
// read on any page; where the reader's system is dark, it is dark as well.
const style = `
text { font-family: -apple-system, "Segoe UI", "Helvetica Neue", Arial, "DejaVu Sans", sans-serif; fill: #1f2937; }
.card { fill: #ffffff; stroke: #d5dae1; }
.band { fill: #f3f5f8; }
.title { font-size: 17px; font-weight: 600; }
.note { font-size: 12px; fill: #5b6675; }
.layer { font-size: 13px; font-weight: 600; }
.box { fill: #ffffff; stroke: #5f7ea6; stroke-width: 1.2; }
.path { font-size: 10.5px; fill: #5b6675; }
.name { font-size: 13px; font-weight: 600; }
.arrow { fill: none; stroke: #7088a8; stroke-width: 1.3; }
.head { fill: #7088a8; }
@media (prefers-color-scheme: dark) {
text { fill: #e2e8f0; }
.card { fill: #12171f; stroke: #333d4b; }
.band { fill: #1a212c; }
.note, .path { fill: #9aa7b8; }
.box { fill: #232d3b; stroke: #7b9cc8; }
.arrow { stroke: #7f98ba; }
.head { fill: #7f98ba; }
}
`

// layerNames say what the layers are, from 0.
func layerNames() []string {
	return []string{"leaves", "core", "one task each", "assembled", "command line", "program"}
}

// draw returns the drawing of a tree as an SVG.
func draw(files []source) string {
	var b strings.Builder
	y := margin
	y = drawHouse(&b, files, y)
	if g := proxyGraph(files); len(g) > 1 {
		y = drawProxy(&b, g, y+26)
	}
	height := y + margin
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img">
<title>The rooms of mcpctl and what they import</title>
<style>%s</style>
<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="head" d="M0,0.8 L8,4 L0,7.2 Z"/></marker></defs>
<rect class="card" x="0.5" y="0.5" width="%.0f" height="%.0f" rx="10"/>
%s</svg>
`, drawingWidth, height, drawingWidth, height, style, drawingWidth-1, height-1, b.String())
}

// drawHouse draws all rooms in their layers, from y on, and returns where it
// ends.
func drawHouse(b *strings.Builder, files []source, y float64) float64 {
	g := houseGraph(files).reduced()
	y = heading(b, y, "The rooms of mcpctl", "Each arrow is an import. An import that a chain of other arrows implies is left out.")
	rowOf := map[string]int{}
	layerOf := []int{} // of each row
	for layer := 5; layer >= 0; layer-- {
		var rooms []string
		for _, room := range g.rooms() {
			if r, _ := find(layerTable(), room); r.layer == layer {
				rooms = append(rooms, room)
			}
		}
		first := len(layerOf)
		for room, rank := range g.ranks(rooms) {
			rowOf[room] = first + rank
			for len(layerOf) <= first+rank {
				layerOf = append(layerOf, layer)
			}
		}
	}
	label := func(room string) (string, string) {
		i := strings.LastIndex(room, "/") + 1
		return room[:i], room[i:]
	}
	p := lay(g, rowOf, drawingWidth-2*margin-labelWidth, func(room string) float64 {
		if room == "runtime" || room == "runtime/internal" {
			return 240 // where most arrows end
		}
		return boxWidth(label(room))
	})
	top := y
	for row, layer := range layerOf {
		if row > 0 && layerOf[row-1] == layer {
			continue
		}
		n := 1
		for row+n < len(layerOf) && layerOf[row+n] == layer {
			n++
		}
		bandTop := top + float64(row)*(boxHeight+rowGap)
		if layer%2 == 1 {
			fmt.Fprintf(b, `<rect class="band" x="1" y="%.0f" width="%.0f" height="%.0f"/>`+"\n", bandTop, drawingWidth-2, float64(n)*(boxHeight+rowGap))
		}
		text(b, "layer", margin, bandTop+rowGap/2+18, "start", fmt.Sprintf("%d  %s", layer, layerNames()[layer]))
	}
	return drawPlan(b, p, margin+labelWidth, top, label)
}

// drawProxy draws the rooms of runtime/proxy, from y on, and returns where it
// ends.
func drawProxy(b *strings.Builder, g graph, y float64) float64 {
	g = g.reduced()
	y = heading(b, y, "Inside runtime/proxy", "The rooms below runtime/proxy/internal. Clients come in at the fronts, servers are behind upstream.")
	p := lay(g, g.ranks(g.rooms()), drawingWidth-2*margin, func(room string) float64 { return boxWidth("", room) })
	return drawPlan(b, p, margin, y, func(room string) (string, string) { return "", room })
}

func heading(b *strings.Builder, y float64, title, note string) float64 {
	text(b, "title", margin, y+14, "start", title)
	text(b, "note", margin, y+34, "start", note)
	return y + 46
}

func boxWidth(dir, name string) float64 {
	return math.Round(max(letter*0.84*float64(len(dir)), letter*float64(len(name)), 34) + 20)
}

// drawPlan draws arrows and, over them, boxes, and returns where they end.
func drawPlan(b *strings.Builder, p plan, left, top float64, label func(room string) (dir, name string)) float64 {
	boxTop := func(c *cell) float64 { return top + float64(c.row)*(boxHeight+rowGap) + rowGap/2 }
	starts, ends := p.ports()
	for i, l := range p.lines {
		var d strings.Builder
		x, y := left+starts[i], boxTop(l[0])+boxHeight
		fmt.Fprintf(&d, "M%.0f,%.0f", x, y)
		for k, c := range l[1:] {
			nextX, nextY := left+c.x, boxTop(c)
			if k == len(l)-2 {
				nextX = left + ends[i]
			}
			bend := (nextY - y) / 2
			fmt.Fprintf(&d, " C%.0f,%.0f %.0f,%.0f %.0f,%.0f", x, y+bend, nextX, nextY-bend, nextX, nextY)
			x, y = nextX, nextY
			if k < len(l)-2 {
				y += boxHeight
				fmt.Fprintf(&d, " L%.0f,%.0f", x, y)
			}
		}
		fmt.Fprintf(b, `<path class="arrow" marker-end="url(#head)" d="%s"/>`+"\n", d.String())
	}
	for _, row := range p.rows {
		for _, c := range row {
			if c.room == "" {
				continue
			}
			y := boxTop(c)
			fmt.Fprintf(b, `<rect class="box" x="%.1f" y="%.0f" width="%.0f" height="%.0f" rx="6"/>`+"\n", left+c.x-c.width/2, y, c.width, boxHeight)
			dir, name := label(c.room)
			if dir == "" {
				text(b, "name", left+c.x, y+26, "middle", name)
				continue
			}
			text(b, "path", left+c.x, y+16, "middle", dir)
			text(b, "name", left+c.x, y+32, "middle", name)
		}
	}
	return top + float64(len(p.rows))*(boxHeight+rowGap)
}

// ports returns where lines leave and reach their boxes: in the order of where
// they go and come from, spread over the box.
func (p plan) ports() (starts, ends []float64) {
	starts, ends = make([]float64, len(p.lines)), make([]float64, len(p.lines))
	at := func(box func(line) *cell, next func(line) *cell, out []float64) {
		byBox := map[*cell][]int{}
		for i, l := range p.lines {
			byBox[box(l)] = append(byBox[box(l)], i)
		}
		for c, lines := range byBox {
			slices.SortStableFunc(lines, func(a, b int) int { return int(next(p.lines[a]).x - next(p.lines[b]).x) })
			room := c.width - 20
			step := min(14, room/float64(max(1, len(lines)-1)))
			wanted := make([]float64, len(lines))
			for k, i := range lines {
				wanted[k] = next(p.lines[i]).x - float64(k)*step
			}
			lo := c.x - room/2
			hi := c.x + room/2 - step*float64(len(lines)-1)
			for k, x := range ascending(wanted, ones(len(wanted))) {
				out[lines[k]] = min(max(x, lo), max(lo, hi)) + float64(k)*step
			}
		}
	}
	at(func(l line) *cell { return l[0] }, func(l line) *cell { return l[1] }, starts)
	at(func(l line) *cell { return l[len(l)-1] }, func(l line) *cell { return l[len(l)-2] }, ends)
	return starts, ends
}

func ones(n int) []int { return slices.Repeat([]int{1}, n) }

func text(b *strings.Builder, class string, x, y float64, anchor, s string) {
	fmt.Fprintf(b, `<text class="%s" x="%.1f" y="%.0f" text-anchor="%s">%s</text>`+"\n", class, x, y, anchor, html.EscapeString(s))
}
