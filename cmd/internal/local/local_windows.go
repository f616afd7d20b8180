package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"

	"github.com/Microsoft/go-winio"
	"golang.org/x/sys/windows"
)

// pipes is where named pipes are.
const pipes = `\\.\pipe\`

func pipe(path string) string {
	if strings.HasPrefix(path, `\\`) {
		return path
	}
	return pipes + strings.NewReplacer(`\`, "-", "/", "-", ":", "").Replace(path)
}

func listen(_ context.Context, path string, _ *slog.Logger) (net.Listener, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, err
	}
	// Protected from inherited entries; all rights for this user.
	l, err := winio.ListenPipe(pipe(path), &winio.PipeConfig{SecurityDescriptor: "D:P(A;;GA;;;" + user.User.Sid.String() + ")"})
	switch {
	case errors.Is(err, os.ErrPermission): // another process has the pipe
		return nil, fmt.Errorf("%s: %w", path, ErrInUse)
	case err != nil:
		return nil, err
	case strings.HasPrefix(path, `\\`):
		return l, nil
	}
	// By the file others find the pipe, as they do a Unix socket.
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &listener{Listener: l, path: path}, nil
}

// listener removes the file of its pipe.
type listener struct {
	net.Listener
	path string
}

// Close implements [net.Listener].
func (l *listener) Close() error { return errors.Join(os.Remove(l.path), l.Listener.Close()) }

func dial(ctx context.Context, path string) (net.Conn, error) {
	return winio.DialPipeContext(ctx, pipe(path))
}
