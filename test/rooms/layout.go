package main

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
)

// graph is what rooms import of each other, by room.
type graph map[string]map[string]bool

// newGraph returns the graph of the rooms of layers 0 to 5 that room returns for
// packages, "" for none, without the imports that a chain of others implies.
func newGraph(files []source, room func(pkg string) string) graph {
	g := graph{}
	for _, f := range files {
		from := room(f.pkg)
		if r, ok := find(layerTable(), f.pkg); !ok || r.layer > 5 || from == "" {
			continue
		}
		if g[from] == nil {
			g[from] = map[string]bool{}
		}
		for _, imp := range f.imports {
			own, ok := strings.CutPrefix(imp, module+"/")
			if to := room(own); ok && to != "" && to != from {
				g[from][to] = true
			}
		}
	}
	for _, to := range g {
		maps.DeleteFunc(to, func(t string, _ bool) bool { return g[t] == nil })
	}
	g.reduce()
	return g
}

// reduce takes out the imports that a chain of others implies (the transitive
// reduction). There is no circle: the compiler refuses one.
func (g graph) reduce() {
	reach := graph{}
	for room, to := range g {
		reach[room] = maps.Clone(to)
	}
	for via := range g {
		for _, to := range reach {
			if to[via] {
				maps.Copy(to, reach[via])
			}
		}
	}
	for _, to := range g {
		for other := range maps.Clone(to) {
			maps.DeleteFunc(to, func(t string, _ bool) bool { return reach[other][t] })
		}
	}
}

// cell is a box of the drawing, or a place where an arrow that spans several
// rows crosses one of them.
type cell struct {
	room         string // "" for a crossing
	row          int
	x, width     float64 // x is of its middle
	above, below []*cell
}

// plan is a drawing without its looks: which box stands where, the first row of
// each layer, and the arrows, each from its box through crossings to the box below.
type plan struct {
	rows, lines [][]*cell
	firsts      []int
}

// lay puts layers of rooms, the uppermost first, into rows within a width. Rooms
// of one layer stand below those of it that import them. The outcome depends on
// the arguments alone: equal places are told apart by name.
func lay(g graph, layers [][]string, width float64, boxWidth func(room string) float64) plan {
	var p plan
	boxes := map[string]*cell{}
	for _, layer := range layers {
		p.firsts = append(p.firsts, len(p.rows))
		for _, room := range layer {
			boxes[room] = &cell{room: room, row: len(p.rows), x: width / 2, width: boxWidth(room)}
		}
		for range layer { // as often as the longest chain may need
			for _, room := range layer {
				for to := range g[room] {
					if b := boxes[to]; b != nil && slices.Contains(layer, to) {
						b.row = max(b.row, boxes[room].row+1)
					}
				}
			}
		}
		for _, room := range layer {
			row := boxes[room].row
			p.rows = append(p.rows, make([][]*cell, max(0, row+1-len(p.rows)))...)
			p.rows[row] = append(p.rows[row], boxes[room])
		}
	}
	for _, room := range slices.Sorted(maps.Keys(g)) {
		for _, target := range slices.Sorted(maps.Keys(g[room])) {
			line := []*cell{boxes[room]}
			for row := boxes[room].row + 1; row < boxes[target].row; row++ {
				c := &cell{row: row, x: width / 2}
				p.rows[row] = append(p.rows[row], c)
				line = append(line, c)
			}
			line = append(line, boxes[target])
			for i, c := range line[1:] {
				c.above = append(c.above, line[i])
				line[i].below = append(line[i].below, c)
			}
			p.lines = append(p.lines, line)
		}
	}
	// Each cell goes to the middle of those it is joined to: at first its place in
	// the row changes with that, row by row, down and up; later no more.
	for round := range 60 {
		for i := range p.rows {
			if round%2 == 1 {
				i = len(p.rows) - 1 - i
			}
			for _, c := range p.rows[i] {
				joined := [][]*cell{c.above, c.below}[round%2]
				if round >= 40 || len(joined) == 0 {
					joined = slices.Concat(c.above, c.below)
				}
				sum := 0.0
				for _, other := range joined {
					sum += other.x / float64(len(joined))
				}
				if len(joined) > 0 {
					c.x = sum
				}
			}
			if round < 40 {
				slices.SortStableFunc(p.rows[i], func(a, b *cell) int { return cmp.Compare(a.x, b.x) })
			}
			spread(p.rows[i], width)
		}
	}
	low, high := width, 0.0
	for _, c := range slices.Concat(p.rows...) {
		low, high = min(low, c.x-c.width/2), max(high, c.x+c.width/2)
	}
	for _, c := range slices.Concat(p.rows...) {
		c.x += math.Round((width - low - high) / 2)
	}
	return p
}

// spread moves the cells of a row apart, in their order, within the width: each
// to between where it gets if it gives way to the right only and to the left only.
func spread(row []*cell, width float64) {
	const gap = 12.0
	left := make([]float64, len(row)) // of each cell if all stood at the left
	end := -gap
	for i, c := range row {
		left[i] = end + gap + c.width/2
		end += gap + c.width
	}
	right, low := make([]float64, len(row)), max(0, width-end)
	for i, c := range slices.Backward(row) {
		low = min(low, max(0, c.x-left[i]))
		right[i] = low
	}
	high := 0.0
	for i, c := range row {
		high = max(high, min(c.x-left[i], max(0, width-end)))
		c.x = math.RoundToEven(left[i] + (right[i]+high)/2)
	}
}
