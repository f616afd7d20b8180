package ui

import (
	"strings"
	"unicode"

	"github.com/AlecAivazis/survey/v2/terminal"
)

// list is a choice among options: what is chosen so far, and how that is drawn.
type list struct {
	options []string // as they are drawn
	marked  []bool   // those chosen; nil is a choice of one
	filter  string   // what was typed
	at      int      // the option of the cursor, among those that the filter leaves
}

// left returns the indexes of the options that contain the filter.
func (l *list) left() []int {
	var out []int
	for i, o := range l.options {
		if strings.Contains(strings.ToLower(o), strings.ToLower(l.filter)) {
			out = append(out, i)
		}
	}
	return out
}

// chosen returns the indexes of the marked options.
func (l *list) chosen() []int {
	out := []int{}
	for i, marked := range l.marked {
		if marked {
			out = append(out, i)
		}
	}
	return out
}

// press takes a key. It reports whether the choice is made.
func (l *list) press(key rune) (made bool) {
	left := l.left()
	n := len(left)
	switch {
	case key == terminal.KeyEnter || key == '\n':
		return n > 0 || l.marked != nil
	case key == terminal.KeyArrowUp && n > 0:
		l.at = (l.at + n - 1) % n
	case (key == terminal.KeyArrowDown || key == terminal.KeyTab) && n > 0:
		l.at = (l.at + 1) % n
	case l.marked != nil && key == terminal.KeySpace:
		if n > 0 {
			l.marked[left[l.at]] = !l.marked[left[l.at]]
			l.filter, l.at = "", left[l.at]
		}
	case l.marked != nil && (key == terminal.KeyArrowRight || key == terminal.KeyArrowLeft):
		for _, i := range left {
			l.marked[i] = key == terminal.KeyArrowRight
		}
	case key == terminal.KeyDeleteWord || key == terminal.KeyDeleteLine:
		l.narrow("")
	case key == terminal.KeyBackspace || key == terminal.KeyDelete:
		if typed := []rune(l.filter); len(typed) > 0 {
			l.narrow(string(typed[:len(typed)-1]))
		}
	case unicode.IsPrint(key):
		l.narrow(l.filter + string(key))
	}
	return false
}

// narrow sets the filter. The cursor stays among the options that it leaves.
func (l *list) narrow(filter string) {
	l.filter = filter
	l.at = max(0, min(l.at, len(l.left())-1))
}

// filtered is the filter as it is drawn behind the question.
func (l *list) filtered() string {
	if l.filter == "" {
		return ""
	}
	return " " + l.filter
}

// usage is how the list is used; help is whether it can be explained.
func (l *list) usage(help bool) string {
	keys := "arrows to move, type to filter"
	if l.marked != nil {
		keys = "arrows to move, space to select, <right> to all, <left> to none, type to filter"
	}
	if help {
		keys += ", ? for more help"
	}
	return "[Use " + keys + "]"
}

// rows are the options around the cursor, a page of them.
func (l *list) rows() []string {
	left := l.left()
	from := max(0, min(l.at-selectPage/2, len(left)-selectPage))
	var rows []string
	for k := from; k < min(len(left), from+selectPage); k++ {
		i := left[k]
		box := ""
		if l.marked != nil {
			box = "[ ]  "
			if l.marked[i] {
				box = "\x1b[32m[x]" + plainText + "  "
			}
		}
		switch {
		case k != l.at:
			rows = append(rows, "  "+box+l.options[i])
		case l.marked == nil:
			rows = append(rows, answerColor+"> "+l.options[i]+plainText)
		default:
			rows = append(rows, answerColor+"> "+plainText+box+l.options[i])
		}
	}
	return rows
}

// answer is the choice on one line.
func (l *list) answer() string {
	if l.marked == nil {
		return l.options[l.left()[l.at]]
	}
	var names []string
	for _, i := range l.chosen() {
		names = append(names, l.options[i])
	}
	return strings.Join(names, ", ")
}
