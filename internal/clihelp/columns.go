package clihelp

import "strings"

// splitColumns returns lines that list options in two columns or more, as Info-ZIP's
// programs do, as one line for each option. A column is where three lines or more of a
// block have an option, each behind another one with its description.
func splitColumns(lines []line) []line {
	var out []line
	for len(lines) > 0 {
		n := 0
		for n < len(lines) && !lines[n].blank() {
			n++
		}
		out = append(out, splitBlock(lines[:n])...)
		for n < len(lines) && lines[n].blank() {
			out = append(out, lines[n])
			n++
		}
		lines = lines[n:]
	}
	return out
}

func splitBlock(block []line) []line {
	count := map[int]int{}
	for _, l := range block {
		for i := range l.text {
			if i > 2 && l.text[i-2:i] == "  " && optionBehind(l.text, i) {
				count[l.indent+i]++
			}
		}
	}
	var out []line
	for _, l := range block {
		start := 0
		for i := range l.text {
			if i > 2 && count[l.indent+i] >= 3 && l.text[i-1] == ' ' && optionBehind(l.text[start:], i-start) {
				out = append(out, line{l.indent, strings.TrimRight(l.text[start:i], " ")})
				start = i
			}
		}
		out = append(out, line{l.indent, l.text[start:]})
	}
	return out
}

// optionBehind reports that text has an option at i, and another one with a description
// in front of it.
func optionBehind(text string, i int) bool {
	if text[0] != '-' || text[i] != '-' {
		return false
	}
	right, _, _ := readOption(text[i:])
	_, desc, _ := readOption(text[:i])
	return len(right) > 0 && desc != ""
}
