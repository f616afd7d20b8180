// Package shares says who makes room in a full table that clients fill: whoever has the most
// in it, so that nobody can take what others have.
package shares

// Payer returns the owner who makes room: the one who has the most, or newcomer where nobody
// has more than that one has already.
func Payer(held map[string]int, newcomer string) string {
	payer := newcomer
	for owner, n := range held {
		if n > held[payer] {
			payer = owner
		}
	}
	return payer
}
