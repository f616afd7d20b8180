package ui

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"

	"github.com/mcpctl/mcpctl/runtime"
)

// Progress is a live line on standard error that shows how far a call is. It
// is drawn by a goroutine of its own, which shows the newest state and drops
// those in between, so that a stopped terminal never holds up a connection. A
// nil *Progress draws nothing.
type Progress struct {
	w     io.Writer
	width int

	mu      sync.Mutex // guards the rest
	state   runtime.Progress
	stopped bool

	wake chan struct{} // room for one
	done chan struct{}
}

// StartProgress prepares a line, which appears with the first Update. It is
// nil where standard error is not a terminal or quiet was asked for. End it
// with Stop.
func (u *UI) StartProgress() *Progress {
	if !u.ErrTTY || u.Quiet {
		return nil
	}
	const unknown = 80
	p := &Progress{w: u.Err, width: unknown, wake: make(chan struct{}, 1), done: make(chan struct{})}
	if f, ok := u.Err.(*os.File); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			p.width = w
		}
	}
	go p.draw()
	return p
}

// Update shows a new state. It never waits.
func (p *Progress) Update(state runtime.Progress) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return
	}
	p.state = state
	select {
	case p.wake <- struct{}{}:
	default: // the newest state will be seen anyway
	}
}

// Stop erases the line and ends the goroutine. It may be called twice.
func (p *Progress) Stop() {
	if p == nil {
		return
	}
	p.mu.Lock()
	if !p.stopped {
		p.stopped = true
		close(p.wake)
	}
	p.mu.Unlock()
	<-p.done
}

func (p *Progress) draw() {
	defer close(p.done)
	const erase = "\r\x1b[2K"
	drawn := false
	for range p.wake {
		p.mu.Lock()
		state, stopped := p.state, p.stopped
		p.mu.Unlock()
		if stopped {
			break
		}
		drawn = true
		if _, err := io.WriteString(p.w, erase+line(state, p.width-1)); err != nil {
			break
		}
	}
	if drawn {
		_, _ = io.WriteString(p.w, erase)
	}
}

// line is one state in at most width columns.
func line(s runtime.Progress, width int) string {
	const bar = 20
	head := strconv.FormatFloat(s.Progress, 'g', 6, 64)
	if s.Total != nil && *s.Total > 0 {
		part := max(0, min(1, s.Progress / *s.Total))
		full := int(part * bar)
		head = fmt.Sprintf("[%s%s] %3d%%", strings.Repeat("#", full), strings.Repeat("-", bar-full), int(part*100))
	}
	return text.Snip(strings.TrimRight(head+" "+CleanLine(s.Message), " "), max(width, 1), "…")
}
