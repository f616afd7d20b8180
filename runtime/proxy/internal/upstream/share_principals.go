package upstream

import (
	"fmt"
	"time"
)

// Idlest returns the principal whose connections were used longest ago, by when each was
// last used, and when that was; "" where there is none.
func Idlest(used map[string]time.Time) (principal string, last time.Time) {
	for id, at := range used {
		if principal == "" || at.Before(last) {
			principal, last = id, at
		}
	}
	return principal, last
}

// CrowdedError is that as many principals have connections to a server as may.
type CrowdedError struct {
	Most int
	// In is after how long one of them may make room.
	In time.Duration
}

func (e *CrowdedError) Error() string {
	return fmt.Sprintf("%d principals use the server now, and maxPrincipals allows no more: try again in %s", e.Most, e.In.Round(time.Second))
}

// ErrUnmet is that nobody has called a server yet whose credentials it takes.
var ErrUnmet error = unmetError{}

type unmetError struct{}

func (unmetError) Error() string {
	return "what it offers is known once somebody has called it whose credentials it takes"
}

// ExitKind implements [ability.ExitKind].
func (unmetError) ExitKind() string { return "auth" }
