package main

import (
	"cmp"
	"math"
	"slices"
)

// cell is a box of the drawing, or a place where an arrow that spans several
// rows crosses one of them.
type cell struct {
	room  string // "" for a crossing
	row   int
	width float64
	x     float64 // of its middle
	at    int     // its index in the row, as of plan.number

	above, below []*cell
}

// line is one arrow: its box at the upper end, crossings, box at the lower end.
type line []*cell

// plan is a drawing without its looks: which box stands where.
type plan struct {
	rows  [][]*cell
	lines []line
}

const (
	gap        = 16.0 // between boxes
	crossWidth = 6.0  // what a crossing keeps free
)

// lay puts rooms into rows, in few crossings of arrows, within a width. The
// outcome depends on its arguments alone: positions are whole numbers, and
// equal ones are told apart by name.
func lay(g graph, rowOf map[string]int, width float64, boxWidth func(room string) float64) plan {
	var p plan
	boxes := map[string]*cell{}
	for _, room := range g.rooms() {
		c := &cell{room: room, row: rowOf[room], width: boxWidth(room)}
		boxes[room] = c
		for len(p.rows) <= c.row {
			p.rows = append(p.rows, nil)
		}
		p.rows[c.row] = append(p.rows[c.row], c)
	}
	for _, room := range g.rooms() {
		for _, target := range g.targets(room) {
			from, to := boxes[room], boxes[target]
			l := line{from}
			for row := from.row + 1; row < to.row; row++ {
				c := &cell{row: row, width: crossWidth}
				p.rows[row] = append(p.rows[row], c)
				l = append(l, c)
			}
			l = append(l, to)
			for i := 1; i < len(l); i++ {
				l[i-1].below = append(l[i-1].below, l[i])
				l[i].above = append(l[i].above, l[i-1])
			}
			p.lines = append(p.lines, l)
		}
	}
	p.order()
	p.place(width)
	return p
}

// order sorts each row so that few lines cross: each cell goes to the middle of
// those it is joined to, row by row, down and up; the best of all rounds stays.
func (p *plan) order() {
	best, least := p.snapshot(), p.crossings()
	for round := range 40 {
		down := round%2 == 0
		for i := range p.rows {
			if !down {
				i = len(p.rows) - 1 - i
			}
			p.sortRow(i, down)
		}
		p.swap()
		if n := p.crossings(); n < least {
			best, least = p.snapshot(), n
		}
	}
	p.rows = best
}

func (p *plan) snapshot() [][]*cell {
	rows := make([][]*cell, len(p.rows))
	for i, r := range p.rows {
		rows[i] = slices.Clone(r)
	}
	return rows
}

// number notes in each cell where it stands in its row.
func (p *plan) number() {
	for _, row := range p.rows {
		for i, c := range row {
			c.at = i
		}
	}
}

func (p *plan) sortRow(i int, down bool) {
	p.number()
	middle := map[*cell]float64{}
	for k, c := range p.rows[i] {
		joined := c.below
		if down {
			joined = c.above
		}
		middle[c] = float64(k)
		if len(joined) > 0 {
			sum := 0
			for _, o := range joined {
				sum += o.at * 1000 / len(p.rows[o.row])
			}
			middle[c] = float64(sum) / float64(len(joined)) * float64(len(p.rows[i])) / 1000
		}
	}
	slices.SortStableFunc(p.rows[i], func(a, b *cell) int { return cmp.Compare(middle[a], middle[b]) })
}

// swap exchanges neighbours as long as that saves crossings.
func (p *plan) swap() {
	p.number()
	for range 10 {
		better := false
		for _, row := range p.rows {
			for i := 1; i < len(row); i++ {
				a, b := row[i-1], row[i]
				if pairs(a.above, b.above)+pairs(a.below, b.below) > pairs(b.above, a.above)+pairs(b.below, a.below) {
					row[i-1], row[i] = b, a
					a.at, b.at = i, i-1
					better = true
				}
			}
		}
		if !better {
			return
		}
	}
}

// pairs returns how many lines of a left cell cross those of its right
// neighbour.
func pairs(left, right []*cell) int {
	n := 0
	for _, l := range left {
		for _, r := range right {
			if l.at > r.at {
				n++
			}
		}
	}
	return n
}

func (p *plan) crossings() int {
	p.number()
	n := 0
	for _, row := range p.rows {
		for i, a := range row {
			for _, b := range row[i+1:] {
				n += pairs(a.below, b.below)
			}
		}
	}
	return n
}

// place sets the x of every cell: boxes near those they are joined to, crossings
// of one line below one another, and none on another.
func (p *plan) place(width float64) {
	for _, row := range p.rows {
		spread(row, width, func(*cell) float64 { return width / 2 })
	}
	for round := range 120 {
		straight := map[*cell]float64{} // where all crossings of a line want to be
		for _, l := range p.lines {
			ends, inner := l[0].x+l[len(l)-1].x, 0.0
			for _, c := range l[1 : len(l)-1] {
				inner += c.x
			}
			n := float64(len(l) - 2)
			for _, c := range l[1 : len(l)-1] {
				straight[c] = math.Round((ends + 4*inner) / (2 + 4*n))
			}
		}
		for i := range p.rows {
			if round%2 == 1 {
				i = len(p.rows) - 1 - i
			}
			spread(p.rows[i], width, func(c *cell) float64 {
				if c.room == "" {
					return straight[c]
				}
				joined := slices.Concat(c.above, c.below)
				if len(joined) == 0 {
					return c.x
				}
				sum := 0.0
				for _, o := range joined {
					sum += o.x
				}
				return math.Round(sum / float64(len(joined)))
			})
		}
	}
}

// spread moves the cells of a row, which stay in order, as near as possible to
// where they want to be, without overlap and within the width.
func spread(row []*cell, width float64, want func(*cell) float64) {
	middles := make([]float64, len(row)) // of each cell if all stood at the left
	wanted := make([]float64, len(row))
	weights := make([]int, len(row))
	end := 0.0
	for i, c := range row {
		if i > 0 {
			end += between(row[i-1], c)
		}
		middles[i] = end + c.width/2
		end += c.width
		wanted[i] = want(c) - middles[i]
		weights[i] = 1
		if c.room == "" {
			weights[i] = 6 // a box gives way to a line
		}
	}
	for i, shift := range ascending(wanted, weights) {
		row[i].x = math.Round(middles[i] + min(max(shift, 0), max(0, width-end)))
	}
}

// between is the free space between two cells.
func between(a, b *cell) float64 {
	if a.room == "" && b.room == "" {
		return 8
	}
	return gap
}

// ascending returns the ascending numbers that are nearest to others by their
// weighted squares (isotonic regression): runs that descend become their average.
func ascending(numbers []float64, weights []int) []float64 {
	type run struct {
		sum       float64
		weight, n int
	}
	var runs []run
	for i, x := range numbers {
		runs = append(runs, run{x * float64(weights[i]), weights[i], 1})
		for k := len(runs) - 1; k > 0; k-- {
			a, b := runs[k-1], runs[k]
			if a.sum*float64(b.weight) <= b.sum*float64(a.weight) {
				break
			}
			runs[k-1] = run{a.sum + b.sum, a.weight + b.weight, a.n + b.n}
			runs = runs[:k]
		}
	}
	out := make([]float64, 0, len(numbers))
	for _, r := range runs {
		for range r.n {
			out = append(out, r.sum/float64(r.weight))
		}
	}
	return out
}
