//go:build unix

package jsonrpc

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// tryWriter returns a single write attempt on a pipe or socket in non-blocking
// mode, nil for anything else. It is used by one goroutine at a time.
func tryWriter(w io.Writer) func([]byte) (int, error) {
	f, ok := w.(*os.File)
	if !ok {
		return nil
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return nil
	}
	nonblocking := false
	if err := raw.Control(func(fd uintptr) {
		flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, fd, syscall.F_GETFL, 0)
		nonblocking = errno == 0 && flags&syscall.O_NONBLOCK != 0
	}); err != nil || !nonblocking {
		return nil
	}
	a := &attempt{raw: raw}
	a.once = a.write
	return a.try
}

// attempt keeps the closure that RawConn.Write wants, so that it is allocated
// once and not for each write.
type attempt struct {
	raw  syscall.RawConn
	once func(fd uintptr) bool
	data []byte
	n    int
	err  error
}

func (a *attempt) write(fd uintptr) bool {
	a.n, a.err = syscall.Write(int(fd), a.data)
	return true
}

func (a *attempt) try(data []byte) (int, error) {
	a.data = data
	err := a.raw.Write(a.once)
	a.data = nil
	if err != nil {
		return 0, err
	}
	if errors.Is(a.err, syscall.EAGAIN) || errors.Is(a.err, syscall.EINTR) {
		return 0, nil
	}
	return max(a.n, 0), a.err
}

// Nonblocking returns f in non-blocking mode where f is a pipe or socket, and a
// function that puts it back; a terminal or a file stays as it is, because
// others may share it.
func Nonblocking(f *os.File) (*os.File, func()) {
	info, err := f.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return f, func() {}
	}
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		return f, func() {}
	}
	syscall.CloseOnExec(fd)
	widen(fd)
	if err := syscall.SetNonblock(fd, true); err != nil {
		_ = syscall.Close(fd)
		return f, func() {}
	}
	dup := os.NewFile(uintptr(fd), f.Name())
	return dup, func() {
		_ = syscall.SetNonblock(int(f.Fd()), false)
		_ = dup.Close()
	}
}
