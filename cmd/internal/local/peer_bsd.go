//go:build darwin || freebsd

package local

import "golang.org/x/sys/unix"

// peerOf returns the user id of a socket's peer.
func peerOf(fd int) (int, error) {
	c, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return -1, err
	}
	return int(c.Uid), nil
}
