package gen

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/test/wire"
)

const (
	// maxCallers bounds how many calls one connection may have under way: an
	// id's low bits are its caller.
	maxCallers = 1 << callerBits
	callerBits = 12
	// closeWait is how long a process may take to end once its input is closed;
	// after it, it is killed.
	closeWait = 15 * time.Second
	// callTimeout is how long a call over streams waits for its answer.
	callTimeout = time.Minute
)

var errNoAnswer = fmt.Errorf("no answer within %v", callTimeout)

// stdio is a connection over a pair of streams.
type stdio struct {
	process *wire.Process // nil where the streams were given
	in      io.WriteCloser
	out     io.Reader
	// write guards in.
	write sync.Mutex
	slots []slot
	// dead is closed when the server's output has ended; cause is why, and is
	// read after that.
	dead  chan struct{}
	cause error

	strays atomic.Int64
	first  atomic.Pointer[string] // of the strays
	once   sync.Once
	ended  error
}

// slot is the request that one caller waits for.
type slot struct {
	want atomic.Uint64 // its id, 0 for none
	n    uint64        // requests of this caller so far
	got  chan message
}

func newStdio(out io.Reader, in io.WriteCloser) *stdio {
	s := &stdio{in: in, out: out, dead: make(chan struct{}), slots: make([]slot, maxCallers)}
	go s.read()
	return s
}

func startStdio(command, env []string) (*stdio, error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = env
	p, err := wire.Start(cmd)
	if err != nil {
		return nil, err
	}
	s := newStdio(p.Out, p.In)
	s.process = p
	return s, nil
}

// read hands every answer to the caller that waits for it.
func (s *stdio) read() {
	defer close(s.dead)
	s.cause = wire.Lines(s.out, s.receive)
}

func (s *stdio) receive(line []byte) {
	m := message{at: time.Now()}
	if err := json.Unmarshal(line, &m); err != nil {
		s.addStray(fmt.Sprintf("a line that is no message: %.120q", line))
		return
	}
	if m.Method != "" {
		if len(m.ID) > 0 { // a server asks: it is told no, and by nobody who reads
			id := string(m.ID)
			go func() {
				_ = s.send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, id))
			}()
		}
		return
	}
	id, err := strconv.ParseUint(string(m.ID), 10, 64)
	if err != nil {
		s.addStray(fmt.Sprintf("an answer with an id of nobody: %.120s", line))
		return
	}
	sl := &s.slots[id%maxCallers]
	if !sl.want.CompareAndSwap(id, 0) {
		s.addStray(fmt.Sprintf("an answer that nobody waits for: %.120s", line))
		return
	}
	sl.got <- m
}

func (s *stdio) addStray(text string) {
	s.strays.Add(1)
	s.first.CompareAndSwap(nil, &text)
}

func (s *stdio) stray() (int64, string) {
	text := ""
	if p := s.first.Load(); p != nil {
		text = *p
	}
	return s.strays.Load(), text
}

func (s *stdio) send(line []byte) error {
	s.write.Lock()
	defer s.write.Unlock()
	_, err := s.in.Write(append(line, '\n'))
	return err
}

func (s *stdio) call(ctx context.Context, caller int, method, _ string, params []byte) (answer, error) {
	sl := &s.slots[caller]
	if sl.got == nil {
		sl.got = make(chan message, 1)
	}
	sl.n++
	id := sl.n<<callerBits | uint64(caller)
	sl.want.Store(id)
	if err := s.send(request(id, method, params)); err != nil {
		sl.want.Store(0)
		return answer{}, fmt.Errorf("write: %w%s", err, s.said())
	}
	ctx, cancel := context.WithTimeoutCause(ctx, callTimeout, errNoAnswer)
	defer cancel()
	var m message
	select {
	case m = <-sl.got:
	case <-s.dead:
		select {
		case m = <-sl.got: // its last words
		default:
			return answer{}, fmt.Errorf("the server closed its output: %w%s", s.cause, s.said())
		}
	case <-ctx.Done():
		if sl.want.CompareAndSwap(id, 0) {
			return answer{}, context.Cause(ctx)
		}
		m = <-sl.got
	}
	return m.answer()
}

func (s *stdio) notify(_ context.Context, method string) error {
	return s.send([]byte(`{"jsonrpc":"2.0","method":"` + method + `"}`))
}

// said is what the process wrote to standard error, if it did.
func (s *stdio) said() string {
	if s.process == nil || s.process.Stderr.Tail() == "" {
		return ""
	}
	return "\n" + s.process.Stderr.Tail()
}

func (s *stdio) close() error {
	s.once.Do(func() { s.ended = s.end() })
	return s.ended
}

func (s *stdio) end() error {
	if s.process == nil {
		_ = s.in.Close() // it may be closed from the other side already
		if c, ok := s.out.(io.Closer); ok {
			_ = c.Close()
		}
		<-s.dead
		return nil
	}
	if !s.process.End(closeWait) {
		return fmt.Errorf("%s did not end within %v of the end of its input", s.process.Cmd.Path, closeWait)
	}
	<-s.dead
	if err := s.process.Wait(); err != nil {
		return fmt.Errorf("%w%s", err, s.said())
	}
	return nil
}
