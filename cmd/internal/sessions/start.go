package sessions

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// startBound is how long a process may take until it is a session; it connects to nothing
// before.
const startBound = time.Minute

// StartError is a process that ended before it was a session.
type StartError struct {
	// Code is its exit code, Stderr the end of what it has written.
	Code   int
	Stderr []byte
}

// Error returns why the process ended, as it said.
func (e *StartError) Error() string {
	if message, _ := e.said(); message != "" {
		return message
	}
	return fmt.Sprintf("the session's process ended with exit code %d", e.Code)
}

// Hint returns what the process said that fixes it, "" for nothing.
func (e *StartError) Hint() string {
	_, hint := e.said()
	return hint
}

// said returns the error of the process and its hint: what it has written last as a command
// does, else all that it has written.
func (e *StartError) said() (message, hint string) {
	const begin = "\nmcpctl: "
	text := "\n" + string(e.Stderr)
	if i := strings.LastIndex(text, begin); i >= 0 {
		text = text[i+len(begin):]
	}
	message, hint, _ = strings.Cut(text, "\nhint: ")
	return strings.TrimSpace(message), strings.TrimSpace(hint)
}

// LogPath returns the file that the session at a socket logs to.
func LogPath(state, socket string) string {
	return filepath.Join(state, "log", "session-"+filepath.Base(socket)+".log")
}

// Start starts a process in the background, with its log in a new file, and
// returns when it is the session at a socket. The process outlives this one, and its
// terminal.
func Start(ctx context.Context, cmd *exec.Cmd, socket, logPath string) (Info, error) {
	if err := os.MkdirAll(filepath.Dir(logPath), 0o700); err != nil {
		return Info{}, err
	}
	out, err := os.OpenFile(logPath, os.O_CREATE|os.O_RDWR|os.O_TRUNC, 0o600)
	if err != nil {
		return Info{}, err
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = out, out, apart()
	if err := cmd.Start(); err != nil {
		return Info{}, err
	}
	ended := make(chan struct{})
	go func() { // ends with the process, or this one
		_ = cmd.Wait() // the exit code says it
		close(ended)
	}()
	ctx, cancel := context.WithTimeoutCause(ctx, startBound, fmt.Errorf("the session is not ready after %s", startBound))
	defer cancel()
	for {
		i, err := Ask(ctx, socket)
		if err == nil {
			return i, nil
		}
		select {
		case <-ended:
			return Info{}, &StartError{Code: cmd.ProcessState.ExitCode(), Stderr: tail(out)}
		case <-ctx.Done():
			return Info{}, errors.Join(context.Cause(ctx), cmd.Process.Kill())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// maxTail is how much of a log an error has, in bytes.
const maxTail = 4 << 10

func tail(f *os.File) []byte {
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	text := make([]byte, min(info.Size(), maxTail))
	n, _ := f.ReadAt(text, info.Size()-int64(len(text)))
	return text[:n]
}
