//go:build unix

package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"syscall"
)

func listen(ctx context.Context, path string, log *slog.Logger) (net.Listener, error) {
	if err := removeOldest(ctx, path); err != nil {
		return nil, err
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &listener{Listener: l, log: log}, nil
}

// removeOldest removes the socket of a process that has ended.
func removeOldest(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != os.ModeSocket:
		return fmt.Errorf("%s is a file, and no socket", path)
	}
	c, err := dial(ctx, path)
	if err == nil {
		_ = c.Close()
		return fmt.Errorf("%s: %w", path, ErrInUse)
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return err
	}
	return os.Remove(path)
}

func dial(ctx context.Context, path string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "unix", path)
}

// listener accepts processes of this user alone.
type listener struct {
	net.Listener
	log *slog.Logger
}

// Accept implements [net.Listener].
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		uid, err := peer(c)
		if err == nil && uid == os.Getuid() {
			return c, nil
		}
		l.log.Warn("a process of another user was refused", "socket", l.Addr().String(), "uid", uid, "err", err)
		_ = c.Close()
	}
}

// peer returns the user id of the process at the other end, -1 with an error.
func peer(c net.Conn) (int, error) {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return -1, fmt.Errorf("%T is not a Unix socket", c)
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return -1, err
	}
	uid := -1
	var failure error
	if err := raw.Control(func(fd uintptr) { uid, failure = peerOf(int(fd)) }); err != nil {
		return -1, err
	}
	return uid, failure
}
