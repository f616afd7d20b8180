//go:build unix

package jsonrpc

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// stream is a pipe or socket in non-blocking mode. It is used by one goroutine at a
// time.
type stream struct {
	raw    syscall.RawConn
	once   func(fd uintptr) bool // kept, so that it is allocated once and not for each call
	data   []byte
	n      int
	err    error
	untold int // reads since one was waited for, or the scheduler was told of one
}

// streamOf returns the stream of a file, nil for anything else.
func streamOf(file any) *stream {
	f, ok := file.(*os.File)
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
	return &stream{raw: raw}
}

// defaultPipe is how much a pipe holds that nobody has widened.
const defaultPipe = 64 << 10

// tryWriter returns a single write attempt on a pipe or socket in non-blocking
// mode, nil for anything else. It is used by one goroutine at a time.
func tryWriter(w io.Writer) func([]byte) (int, error) {
	s := streamOf(w)
	if s == nil {
		return nil
	}
	s.once = s.write
	return s.try
}

func (s *stream) write(fd uintptr) bool {
	s.n, s.err = writeNow(fd, s.data)
	if s.n < len(s.data) && len(s.data) > defaultPipe && (s.err == nil || errors.Is(s.err, syscall.EAGAIN)) {
		widen(fd)
		n, err := writeNow(fd, s.data[s.n:])
		s.n, s.err = s.n+n, err
	}
	return true
}

func (s *stream) try(data []byte) (int, error) {
	s.data = data
	err := s.raw.Write(s.once)
	s.data = nil
	if err != nil {
		return 0, err
	}
	if errors.Is(s.err, syscall.EAGAIN) || errors.Is(s.err, syscall.EINTR) { // the rest waits for room
		return s.n, nil
	}
	return s.n, s.err
}

// pipeReader reads a stream, and waits with the poller.
type pipeReader struct{ *stream }

// pipeInput returns what reads r best.
func pipeInput(r io.Reader) io.Reader {
	s := streamOf(r)
	if s == nil {
		return r
	}
	s.once = s.read
	return pipeReader{s}
}

// maxUntold is how many reads in a row the scheduler is not told of. Its monitor may
// sleep meanwhile, and a peer that always has more to be read would keep all others
// from their turn.
const maxUntold = 16

func (s *stream) read(fd uintptr) bool {
	for {
		if s.untold++; s.untold < maxUntold {
			s.n, s.err = readNow(fd, s.data)
		} else {
			s.untold = 0
			s.n, s.err = syscall.Read(int(fd), s.data)
			s.n = max(s.n, 0)
		}
		switch {
		case errors.Is(s.err, syscall.EINTR):
		case errors.Is(s.err, syscall.EAGAIN):
			s.untold = 0
			return false
		default:
			return true
		}
	}
}

// Read implements [io.Reader]. A file that is closed is [os.ErrClosed].
func (r pipeReader) Read(p []byte) (int, error) {
	r.data = p
	err := r.raw.Read(r.once)
	r.data = nil
	switch {
	case err != nil: // it has no deadline
		return 0, os.ErrClosed
	case r.err == nil && r.n == 0 && len(p) > 0:
		return 0, io.EOF
	}
	return r.n, r.err
}

// widen makes room for large messages in the pipe.
func (r pipeReader) widen() {
	_ = r.raw.Control(func(fd uintptr) { widen(fd) }) // one that is closed needs none
}

// Nonblocking returns f in non-blocking mode where f is a pipe or socket, and a
// function that puts it back and ends a read or write under way; a terminal or a
// file stays as it is, because others may share it.
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
