//go:build integration && race

package peers_test

// raceFlag builds mcpctl as this test is built.
const raceFlag = "-race"
