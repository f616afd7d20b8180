package limits

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
