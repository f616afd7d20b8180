//go:build unix && !linux && !darwin && !freebsd

package local

import "errors"

// peerOf fails: who is at the other end of a socket cannot be found out here.
func peerOf(int) (int, error) { return -1, errors.ErrUnsupported }
