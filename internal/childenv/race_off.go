//go:build !race

package childenv

// raceOptions are more variables that servers get: none.
func raceOptions() []string { return nil }
