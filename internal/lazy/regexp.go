// Package lazy makes values of packages at their first use, so that a command
// that needs none of them does not pay for them when it starts.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp returns a function that returns the regular expression, compiled by
// its first call. The function may be called concurrently. It panics if the
// expression is none.
func Regexp(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
