package demo

import (
	"fmt"
	"io"
	"sync"
)

// screen is where the transcript goes. Its methods may be called concurrently;
// the output of a command in the background comes between the others'.
type screen struct {
	w      io.Writer
	color  bool
	failed func() // called once, when w takes no more

	mu     sync.Mutex // guards the rest and w
	inLine bool       // the last byte was no line end
	err    error      // what ended the transcript
}

// Write shows a command's own bytes.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.write(p)
}

func (s *screen) write(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	if len(p) == 0 {
		return 0, nil
	}
	n, err := s.w.Write(p)
	s.inLine = p[len(p)-1] != '\n'
	if err != nil {
		s.err = err
		s.failed()
	}
	return n, err
}

// line prints a line of the tour's own, on a line of its own.
func (s *screen) line(format string, a ...any) {
	s.styled("", format, a...)
}

// heading begins a section.
func (s *screen) heading(format string, a ...any) {
	s.line("")
	s.styled("\x1b[1;36m", "## "+format, a...)
}

// command prints what is about to be run.
func (s *screen) command(text string) {
	s.line("")
	s.styled("\x1b[1m", "$ %s", text)
}

func (s *screen) styled(style, format string, a ...any) {
	text := fmt.Sprintf(format, a...)
	if style != "" && s.color {
		text = style + text + "\x1b[0m"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inLine {
		text = "\n" + text
	}
	_, _ = s.write([]byte(text + "\n")) // kept in s.err
}
