//go:build !race

package proc

// raceOptions are more variables that servers get: none.
func raceOptions() []string { return nil }
