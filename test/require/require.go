// Package require ends a test at an error that the test is not about.
package require

import "testing"

// NoError ends the test where err is not nil.
func NoError(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
