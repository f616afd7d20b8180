package upgrade

import "slices"

// Hunk is one difference between two lists: old[Start:End] became New.
type Hunk struct {
	Start, End int
	New        []string
}

// maxCells bounds the table of a comparison. Longer lists are compared by their common
// beginning and end only, and so have one hunk.
const maxCells = 4 << 20

// Hunks returns the differences between two lists, in their order. No two of them touch.
func Hunks(old, now []string) []Hunk {
	head := 0
	for head < len(old) && head < len(now) && old[head] == now[head] {
		head++
	}
	tail := 0
	for tail < len(old)-head && tail < len(now)-head && old[len(old)-1-tail] == now[len(now)-1-tail] {
		tail++
	}
	a, b := old[head:len(old)-tail], now[head:len(now)-tail]
	if len(a) == 0 && len(b) == 0 {
		return nil
	}
	if len(a)*len(b) > maxCells {
		return []Hunk{{head, head + len(a), b}}
	}
	return walk(a, b, lengths(a, b), head)
}

// lengths returns a table of the longest common subsequences of a[i:] and b[j:].
func lengths(a, b []string) [][]int32 {
	cells := make([]int32, (len(a)+1)*(len(b)+1))
	table := make([][]int32, len(a)+1)
	for i := range table {
		table[i] = cells[i*(len(b)+1) : (i+1)*(len(b)+1)]
	}
	for i, x := range slices.Backward(a) {
		for j, y := range slices.Backward(b) {
			if x == y {
				table[i][j] = table[i+1][j+1] + 1
			} else {
				table[i][j] = max(table[i+1][j], table[i][j+1])
			}
		}
	}
	return table
}

// walk reads the hunks off a table; at is where a begins in the old list.
func walk(a, b []string, table [][]int32, at int) []Hunk {
	var out []Hunk
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		if i < len(a) && j < len(b) && a[i] == b[j] {
			i, j = i+1, j+1
			continue
		}
		h := Hunk{Start: at + i}
		for (i < len(a) || j < len(b)) && !(i < len(a) && j < len(b) && a[i] == b[j]) {
			if j == len(b) || i < len(a) && table[i+1][j] >= table[i][j+1] {
				i++
			} else {
				h.New, j = append(h.New, b[j]), j+1
			}
		}
		h.End = at + i
		out = append(out, h)
	}
	return out
}

// Apply returns a list with the hunks in it, which are in order and do not overlap.
func Apply(old []string, hunks []Hunk) []string {
	var out []string
	at := 0
	for _, h := range hunks {
		out = append(append(out, old[at:h.Start]...), h.New...)
		at = h.End
	}
	return append(out, old[at:]...)
}

// collide reports whether two hunks cannot both be made: they replace the same elements,
// or add different ones in the same place.
func collide(a, b Hunk) bool {
	if a.Start == a.End && b.Start == b.End {
		return a.Start == b.Start && !slices.Equal(a.New, b.New)
	}
	return a.Start < b.End && b.Start < a.End
}

func sameHunk(a, b Hunk) bool {
	return a.Start == b.Start && a.End == b.End && slices.Equal(a.New, b.New)
}
