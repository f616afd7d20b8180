//go:build !race

package cli

// raceDetector reports that the tests are built with the race detector.
const raceDetector = false
