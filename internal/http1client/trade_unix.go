//go:build unix

package http1client

import (
	"io"
	"net"
	"os"
	"syscall"
)

// supported reports whether connections can be used here. Without that, net/http sends
// all requests.
const supported = true

// trade is what happens between a request and the first bytes of its response, which
// takes one wait for the connection: one that was used before must be silent, then the request is written, and
// then what comes is read. Reading first would cost a call of the system that finds
// nothing.
type trade struct {
	raw   syscall.RawConn
	step  func(fd uintptr) bool
	state tradeState
	out   []byte
	note  *Note
	fault error
}

type tradeState uint8

const (
	asking  tradeState = iota
	waiting            // the request is written
	stale              // the connection is closed, or something has come that nobody asked for
	partly             // the system did not take all of the request
	ended              // bytes have come, or there is a fault
)

func (x *conn) prepare() (err error) {
	sc, ok := x.nc.(syscall.Conn)
	if !ok {
		return nil
	}
	x.trade.step = x.next
	x.trade.raw, err = sc.SyscallConn()
	return err
}

// send writes a request, and reads the beginning of what comes.
func (x *conn) send(out []byte, n *Note) error {
	t := &x.trade
	if t.raw == nil {
		return x.sendSlowly(out, n)
	}
	if x.buf == nil {
		x.buf = make([]byte, bufferSize)
	}
	t.state, t.out, t.note, t.fault = asking, out, n, nil
	err := t.raw.Read(t.step)
	t.out, t.note = nil, nil
	switch {
	case err != nil:
		return err
	case t.state == stale:
		return io.EOF
	case t.state == partly:
		return x.sendSlowly(out, n)
	}
	return t.fault
}

// next is called when the trade begins, and then whenever something may have come. It
// returns true when there is nothing more to wait for.
func (x *conn) next(fd uintptr) bool {
	t := &x.trade
	if t.state == asking {
		if x.reused { // whatever comes before the request is no answer to it
			if _, err := retry(syscall.Read, fd, x.buf[:1]); err != syscall.EAGAIN { //nolint:errorlint // as the system returns it
				t.state = stale
				return true
			}
		}
		n, err := retry(syscall.Write, fd, t.out)
		x.sent = max(n, 0)
		switch {
		case err == syscall.EAGAIN || err == nil && n < len(t.out): //nolint:errorlint // as the system returns it
			t.state = partly
			return true
		case err != nil:
			t.state, t.fault = ended, x.opError("write", err)
			return true
		}
		if t.note.Wrote != nil {
			t.note.Wrote()
		}
		t.state = waiting
		return false
	}
	n, err := retry(syscall.Read, fd, x.buf)
	switch {
	case err == syscall.EAGAIN: //nolint:errorlint // as the system returns it
		return false
	case err != nil:
		t.fault = x.opError("read", err)
	case n == 0:
		t.fault = io.EOF
	default:
		x.r, x.w, x.heard = 0, n, true
	}
	t.state = ended
	return true
}

func retry(f func(int, []byte) (int, error), fd uintptr, p []byte) (n int, err error) {
	for {
		if n, err = f(int(fd), p); err != syscall.EINTR { //nolint:errorlint // as the system returns it
			return n, err
		}
	}
}

// opError returns the error that package net has for a failed call of the system.
func (x *conn) opError(op string, err error) error {
	return &net.OpError{Op: op, Net: "tcp", Source: x.nc.LocalAddr(), Addr: x.nc.RemoteAddr(), Err: os.NewSyscallError(op, err)}
}
