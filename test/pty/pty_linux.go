// Package pty opens pseudo-terminals for tests.
package pty

import (
	"os"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// Open returns both sides of a terminal of 40 rows: that of the person and that of the
// program. The caller closes them. The test is skipped where there are no such terminals.
func Open(tb testing.TB, columns uint16) (screen, tty *os.File) {
	tb.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		tb.Skip("no pseudo-terminals here: ", err)
	}
	tty, err = other(screen, columns)
	if err != nil {
		_ = screen.Close()
		tb.Skip("no pseudo-terminals here: ", err)
	}
	return screen, tty
}

func other(screen *os.File, columns uint16) (*os.File, error) {
	n, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err != nil {
		return nil, err
	}
	if err := unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		return nil, err
	}
	tty, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	return tty, unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: columns})
}
