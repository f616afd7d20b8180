//go:build attacks && linux

package attacks_test

// policies has requests that policies are to refuse, in every form that they could slip
// through in.
func policies() class {
	c := class{name: "policies"}
	c.cases = append(c.cases, hidden()...)
	c.cases = append(c.cases, argued()...)
	c.cases = append(c.cases, decided()...)
	return c
}
