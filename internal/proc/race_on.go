//go:build race

package proc

// raceOptions are more variables that servers get: a mcpctl with the race
// detector is one under test, and its servers have it, too. By default that
// makes them sleep for a second at their end.
func raceOptions() []string { return []string{"GORACE"} }
