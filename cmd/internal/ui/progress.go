package ui

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/runtime"
)

// Progress is a live line on standard error that shows the progress of a call. A
// goroutine draws the newest state and skips those in between, so that neither a
// stopped terminal nor a flood of messages delays a connection. A nil *Progress
// draws nothing.
type Progress struct {
	u     *UI
	width int

	mu    sync.Mutex // guards state
	state runtime.Progress

	wake chan struct{} // room for one
	stop chan struct{}
	once sync.Once
	done chan struct{}
}

const (
	// redraw is how long a state is shown at least, to be readable.
	redraw = 60 * time.Millisecond
	erase  = "\r\x1b[2K"
)

// liveLine is the line of a terminal that only a Progress may draw on. The zero
// value is ready.
type liveLine struct {
	mu    sync.Mutex // guards what follows, and writing to a terminal with a line
	drawn bool
	held  int // Holds that are not released
}

// StartProgress returns a line, which appears with the first Update, until Stop. It
// is nil if standard error is not a terminal, or with Quiet.
func (u *UI) StartProgress() *Progress {
	if !u.ErrTTY || u.Quiet {
		return nil
	}
	p := &Progress{u: u, width: u.errWidth(), wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	go p.run()
	return p
}

// Update shows a new state. It never waits.
func (p *Progress) Update(state runtime.Progress) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state = state
	select {
	case p.wake <- struct{}{}:
	default: // a pending redraw shows the newest state
	}
}

// Stop erases the line and ends the goroutine. It may be called twice.
func (p *Progress) Stop() {
	if p == nil {
		return
	}
	p.once.Do(func() { close(p.stop) })
	<-p.done
}

func (p *Progress) run() {
	defer close(p.done)
	for {
		select {
		case <-p.stop:
			p.u.live.clear(p.u.Err)
			return
		case <-p.wake:
		}
		p.mu.Lock()
		state := p.state
		p.mu.Unlock()
		p.u.live.draw(p.u.Err, line(state, p.width-1))
		select {
		case <-p.stop:
		case <-time.After(redraw):
		}
	}
}

func (l *liveLine) draw(w io.Writer, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held > 0 {
		return
	}
	l.drawn = true
	_, _ = io.WriteString(w, erase+text) // drawing must not fail the call
}

func (l *liveLine) clear(w io.Writer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.drawn {
		l.drawn = false
		_, _ = io.WriteString(w, erase)
	}
}

// print writes a text above the line, which is drawn again later.
func (l *liveLine) print(w io.Writer, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.drawn {
		l.drawn = false
		text = erase + text
	}
	_, _ = io.WriteString(w, text)
}

// Hold erases the live line until release is called, while something else is drawn
// or asked.
func (u *UI) Hold() (release func()) {
	u.live.clear(u.Err)
	u.live.mu.Lock()
	defer u.live.mu.Unlock()
	u.live.held++
	return sync.OnceFunc(func() {
		u.live.mu.Lock()
		defer u.live.mu.Unlock()
		u.live.held--
	})
}

// Log returns standard error for whole lines at any time, above the live line. They
// are JSON, or quote foreign text: on a terminal, control and invisible characters
// are written as \uXXXX.
func (u *UI) Log() io.Writer { return logWriter{u} }

type logWriter struct{ u *UI }

func (w logWriter) Write(b []byte) (int, error) {
	l := &w.u.live
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.drawn {
		l.drawn = false
		if _, err := io.WriteString(w.u.Err, erase); err != nil {
			return 0, err
		}
	}
	if !w.u.ErrTTY {
		return w.u.Err.Write(b)
	}
	if _, err := w.u.Err.Write(plain.Escape(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// line formats one state in at most width columns.
func line(s runtime.Progress, width int) string {
	const bar = 20
	head := strconv.FormatFloat(s.Progress, 'g', 6, 64)
	if s.Total != nil && *s.Total > 0 {
		part := max(0, min(1, s.Progress / *s.Total))
		full := int(part * bar)
		head = fmt.Sprintf("[%s%s] %3d%%", strings.Repeat("#", full), strings.Repeat("-", bar-full), int(part*100))
	}
	if message := CleanLine(s.Message); (s.Total == nil || *s.Total <= 0) && message != "" {
		head = "" // a number without a total says nothing beside a text
	}
	return text.Snip(strings.TrimSpace(head+" "+CleanLine(s.Message)), max(width, 1), "…")
}
