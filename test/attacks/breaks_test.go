package attacks_test

import "github.com/mcpctl/mcpctl/test/breaks"

const module = "../.."

// madeBreaks are the breakages as package breaks makes them.
func madeBreaks() (all []breaks.Break) {
	for _, b := range breakages() {
		all = append(all, breaks.Break{Name: b.name, Below: b.below, Edits: b.edits, Red: b.cases})
	}
	return all
}
