package main

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// plot is a picture of panels side by side, with the same lines in each.
type plot struct {
	title  string
	panels []panel
}

// panel has a logarithmic axis below and one, logarithmic or from zero, to its
// left.
type panel struct {
	title, x, y string
	log         bool // the axis to the left
	ticks       []float64
	lines       []line
}

type line struct {
	name   string
	color  string
	dashed bool // a reference
	x, y   []float64
}

var curveNames = []struct {
	key, title, color string
	dashed            bool
}{
	{"stdio/relay", "stdio, relay", "#7f7f7f", true},
	{"stdio/serve", "stdio, serve", "#1f77b4", false},
	{"http/direct", "HTTP, direct", "#bcae6e", true},
	{"http/serve", "HTTP, serve", "#d62728", false},
	{"http/serve-stateless", "HTTP, serve, stateless", "#9467bd", false},
}

// plots are the page's pictures by name.
func plots(r *report) map[string]plot {
	callers := plot{title: "mcpctl serve: calls and their time against callers"}
	perSecond := panel{title: "calls a second", x: "callers", y: "thousands a second"}
	worst := panel{title: "p99", x: "callers", y: "ms", log: true}
	for _, c := range curveNames {
		a, b := line{name: c.title, color: c.color, dashed: c.dashed}, line{name: c.title, color: c.color, dashed: c.dashed}
		for i, n := range callersOf(r) {
			rate, delayed := curvePoint(r, c.key, i)
			a.x, a.y = append(a.x, float64(n)), append(a.y, rate/1000)
			b.x, b.y = append(b.x, float64(n)), append(b.y, delayed/1000)
		}
		perSecond.lines, worst.lines = append(perSecond.lines, a), append(worst.lines, b)
	}
	for _, n := range callersOf(r) {
		perSecond.ticks = append(perSecond.ticks, float64(n))
	}
	worst.ticks = perSecond.ticks
	callers.panels = []panel{perSecond, worst}

	list := panel{title: "time of a list", x: "tools", y: "ms", log: true, ticks: []float64{100, 1000, 10_000, 100_000}}
	series := []struct {
		name, color string
		dashed      bool
		of          func(l lists) []float64
	}{
		{"nothing known before", "#7f7f7f", true, func(l lists) []float64 { return l.Cold }},
		{"start → first list", "#1f77b4", false, func(l lists) []float64 { return l.First }},
		{"start → its first page", "#17becf", false, func(l lists) []float64 { return l.FirstPage }},
		{"the list again", "#d62728", false, func(l lists) []float64 { return l.Again }},
		{"a page of it", "#9467bd", false, func(l lists) []float64 { return l.Page }},
	}
	for _, s := range series {
		ln := line{name: s.name, color: s.color, dashed: s.dashed}
		for _, l := range r.Lists {
			ln.x, ln.y = append(ln.x, float64(l.Tools)), append(ln.y, median(s.of(l)))
		}
		list.lines = append(list.lines, ln)
	}
	return map[string]plot{"callers": callers, "lists": {title: "mcpctl serve: tools/list against tools", panels: []panel{list}}}
}

const (
	panelWidth, panelHeight = 420.0, 300.0
	left, top, below, right = 64.0, 58.0, 48.0, 24.0
	legendLine              = 18.0
)

// svg draws the plot. It is the same for the same figures.
func (p plot) svg() string {
	var b strings.Builder
	legend := 0.0
	if len(p.panels) > 0 {
		legend = legendLine * float64((len(p.panels[0].lines)+1)/2)
	}
	width := float64(len(p.panels)) * (left + panelWidth + right)
	height := top + panelHeight + below + legend + 12
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" font-family="sans-serif" font-size="12">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, `<title>%s</title>`+"\n"+`<rect width="100%%" height="100%%" fill="#ffffff"/>`+"\n", html.EscapeString(p.title))
	text(&b, width/2, 20, "middle", p.title, ` font-size="15"`)
	for i, pan := range p.panels {
		pan.draw(&b, left+float64(i)*(left+panelWidth+right), top)
	}
	if len(p.panels) > 0 {
		for i, l := range p.panels[0].lines {
			x := left + float64(i%2)*(width-left)/2
			y := top + panelHeight + below + 8 + legendLine*float64(i/2)
			fmt.Fprintf(&b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-width="2"%s/>`+"\n", x, y-4, x+24, y-4, l.color, dash(l.dashed))
			text(&b, x+30, y, "start", l.name, "")
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func (p panel) draw(b *strings.Builder, x0, y0 float64) {
	minX, maxX := span(p.ticks)
	var ys []float64
	for _, l := range p.lines {
		ys = append(ys, l.y...)
	}
	lowest, highest := span(ys)
	if minX >= maxX || highest <= 0 {
		return // nothing was measured
	}
	px := func(v float64) float64 { return x0 + panelWidth*math.Log(v/minX)/math.Log(maxX/minX) }
	ticks := linearTicks(highest)
	py := func(v float64) float64 { return y0 + panelHeight*(1-v/ticks[len(ticks)-1]) }
	if p.log {
		ticks = decades(lowest, highest)
		from, to := ticks[0], ticks[len(ticks)-1]
		py = func(v float64) float64 { return y0 + panelHeight*(1-math.Log(v/from)/math.Log(to/from)) }
	}
	text(b, x0+panelWidth/2, y0-12, "middle", p.title, ` font-weight="bold"`)
	for _, t := range ticks {
		fmt.Fprintf(b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#dddddd"/>`+"\n", x0, py(t), x0+panelWidth, py(t))
		text(b, x0-6, py(t)+4, "end", number(t), "")
	}
	for _, t := range p.ticks {
		fmt.Fprintf(b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#eeeeee"/>`+"\n", px(t), y0, px(t), y0+panelHeight)
		text(b, px(t), y0+panelHeight+16, "middle", number(t), "")
	}
	fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="none" stroke="#888888"/>`+"\n", x0, y0, panelWidth, panelHeight)
	text(b, x0+panelWidth/2, y0+panelHeight+34, "middle", p.x, "")
	text(b, x0-48, y0+panelHeight/2, "middle", p.y, fmt.Sprintf(` transform="rotate(-90 %.1f %.1f)"`, x0-48, y0+panelHeight/2))
	for _, l := range p.lines {
		var points []string
		for i := range l.x {
			if l.y[i] <= 0 {
				continue // it was not measured, or too short to be
			}
			points = append(points, fmt.Sprintf("%.1f,%.1f", px(l.x[i]), py(l.y[i])))
		}
		fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"%s/>`+"\n", strings.Join(points, " "), l.color, dash(l.dashed))
		for _, pt := range points {
			x, y, _ := strings.Cut(pt, ",")
			fmt.Fprintf(b, `<circle cx="%s" cy="%s" r="2.5" fill="%s"/>`+"\n", x, y, l.color)
		}
	}
}

func text(b *strings.Builder, x, y float64, anchor, s, more string) {
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="%s"%s>%s</text>`+"\n", x, y, anchor, more, html.EscapeString(s))
}

func dash(on bool) string {
	if on {
		return ` stroke-dasharray="6 4"`
	}
	return ""
}

// span returns the least value above zero and the greatest.
func span(values []float64) (lowest, highest float64) {
	for _, v := range values {
		if v > 0 && (lowest == 0 || v < lowest) {
			lowest = v
		}
		highest = max(highest, v)
	}
	return lowest, highest
}

// linearTicks go from 0 to the first round number that is not below highest.
func linearTicks(highest float64) []float64 {
	step := math.Pow(10, math.Floor(math.Log10(highest)))
	for _, f := range []float64{.1, .2, .5, 1, 2} {
		if highest/(step*f) <= 6 {
			step *= f
			break
		}
	}
	ticks := []float64{0}
	for ticks[len(ticks)-1] < highest {
		ticks = append(ticks, float64(len(ticks))*step)
	}
	return ticks
}

// decades are the powers of ten around the values.
func decades(lowest, highest float64) []float64 {
	var ticks []float64
	for e := math.Floor(math.Log10(lowest)); ; e++ {
		ticks = append(ticks, math.Pow(10, e))
		if len(ticks) > 1 && ticks[len(ticks)-1] >= highest {
			return ticks
		}
	}
}

func number(v float64) string {
	if v >= 1000 {
		return thousands(int(v))
	}
	return fmt.Sprintf("%.4g", v)
}
