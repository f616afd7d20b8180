package demo

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"slices"
	"strings"
	"sync"
)

// category groups items.
type category string

const (
	tool      category = "tool"
	fastener  category = "fastener"
	timber    category = "timber"
	finishing category = "finishing"
)

func categories() []category { return []category{tool, fastener, timber, finishing} }

// item is one thing on the shelves.
type item struct {
	SKU      string   `json:"sku"`
	Name     string   `json:"name"`
	Category category `json:"category"`
	// Quantity is the pieces in stock.
	Quantity int `json:"quantity"`
	// Price is in cents: no fractions, no rounding.
	Price int `json:"priceCents"`
	// Shelf is a letter for the row and a number for the place.
	Shelf string `json:"shelf"`
}

// workshop is the stock. Its methods may be called concurrently.
type workshop struct {
	mu     sync.Mutex // guards the rest
	items  []item     // sorted by SKU
	orders int
}

func newWorkshop() *workshop {
	w := &workshop{items: []item{
		{"chisel-12", "Bevel-edge chisel, 12 mm", tool, 7, 1895, "A1"},
		{"mallet-beech", "Beech mallet", tool, 4, 2450, "A2"},
		{"plane-no4", "Smoothing plane No. 4", tool, 2, 8900, "A3"},
		{"saw-dovetail", "Dovetail saw, 15 tpi", tool, 3, 5200, "A4"},
		{"dowel-8", "Beech dowel, 8 mm, bag of 50", fastener, 31, 420, "B1"},
		{"screw-4x40", "Brass screw 4 × 40 mm, box of 100", fastener, 18, 1240, "B2"},
		{"oak-board", "Oak board, 20 × 120 × 1000 mm", timber, 12, 2690, "C1"},
		{"ash-board", "Ash board, 20 × 120 × 1000 mm", timber, 0, 2380, "C2"},
		{"linseed-oil", "Boiled linseed oil, 500 ml", finishing, 9, 1150, "D1"},
		{"beeswax", "Beeswax polish, 250 ml", finishing, 6, 980, "D2"},
	}}
	slices.SortFunc(w.items, func(a, b item) int { return cmp.Compare(a.SKU, b.SKU) })
	return w
}

// search returns the items whose name or SKU holds the text, in a category ("":
// any), optionally only those in stock.
func (w *workshop) search(text string, in category, stocked bool) []item {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := []item{}
	text = strings.ToLower(text)
	for _, it := range w.items {
		if in != "" && it.Category != in || stocked && it.Quantity == 0 {
			continue
		}
		if strings.Contains(strings.ToLower(it.Name), text) || strings.Contains(it.SKU, text) {
			out = append(out, it)
		}
	}
	return out
}

func (w *workshop) find(sku string) (item, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := w.index(sku)
	if i < 0 {
		return item{}, false
	}
	return w.items[i], true
}

func (w *workshop) index(sku string) int {
	return slices.IndexFunc(w.items, func(it item) bool { return it.SKU == sku })
}

// line is one position of an order.
type line struct {
	SKU      string `json:"sku"`
	Quantity int    `json:"quantity"`
	Note     string `json:"note,omitempty"`
}

// order takes all lines from the stock, or none: the error says which line
// cannot be had.
func (w *workshop) order(lines []line) (number, cents int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	want := map[int]int{}
	for n, l := range lines {
		i := w.index(l.SKU)
		if i < 0 {
			return 0, 0, fmt.Errorf("line %d: there is no item %q", n+1, l.SKU)
		}
		want[i] += l.Quantity
		if want[i] > w.items[i].Quantity {
			return 0, 0, fmt.Errorf("line %d: %d × %s wanted, %d in stock", n+1, want[i], l.SKU, w.items[i].Quantity)
		}
		cents += l.Quantity * w.items[i].Price
	}
	for i, q := range want {
		w.items[i].Quantity -= q
	}
	w.orders++
	return w.orders, cents, nil
}

// shelves draws the stock as a bar chart: one bar an item in shelf order, grey
// where it has run out.
func (w *workshop) shelves(scale int) ([]byte, error) {
	w.mu.Lock()
	items := slices.Clone(w.items)
	w.mu.Unlock()
	slices.SortFunc(items, func(a, b item) int { return cmp.Compare(a.Shelf, b.Shelf) })
	const bar, gap, height = 6, 2, 40
	img := image.NewPaletted(image.Rect(0, 0, (len(items)*(bar+gap)+gap)*scale, height*scale), color.Palette{
		color.RGBA{0xf7, 0xf3, 0xea, 0xff},
		color.RGBA{0xb0, 0xb0, 0xb0, 0xff},
		color.RGBA{0x8b, 0x5a, 0x2b, 0xff},
		color.RGBA{0xc0, 0x9a, 0x3e, 0xff},
		color.RGBA{0x5c, 0x80, 0x4b, 0xff},
		color.RGBA{0x3e, 0x6b, 0x8c, 0xff},
	})
	for i, it := range items {
		ink, h := uint8(2+slices.Index(categories(), it.Category)), min(it.Quantity+2, height-2) //nolint:gosec // 2 to 5
		if it.Quantity == 0 {
			ink = 1
		}
		left := gap + i*(bar+gap)
		for y := (height - h) * scale; y < height*scale; y++ {
			for x := left * scale; x < (left+bar)*scale; x++ {
				img.SetColorIndex(x, y, ink)
			}
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
