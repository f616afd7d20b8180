//go:build !race

package transport

// raceOptions are more variables that servers get: none.
func raceOptions() []string { return nil }
