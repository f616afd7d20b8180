package ui

import (
	"cmp"
	"fmt"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
)

const (
	// waitFirst is how long a person waits before the line appears: what is faster flickers.
	waitFirst = 300 * time.Millisecond
	// waitTick is how often the line is drawn.
	waitTick = 100 * time.Millisecond
)

// Wait shows on standard error what a person waits for, and for how long already, until done is
// called. It shows nothing for the first moment, where standard error is no terminal, and with
// Quiet. The text may change; it is asked for from another goroutine.
func (u *UI) Wait(what func() string) (done func()) {
	if !u.ErrTTY || u.Quiet {
		return func() {}
	}
	stop, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		u.waiting(what, stop)
	}()
	return sync.OnceFunc(func() {
		close(stop)
		<-over
	})
}

func (u *UI) waiting(what func() string, stop <-chan struct{}) {
	began := time.Now()
	next := time.NewTimer(waitFirst)
	defer next.Stop()
	for i := 0; ; i++ {
		select {
		case <-stop:
			u.live.clear(u.Err)
			return
		case <-next.C:
		}
		next.Reset(waitTick)
		frames := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
		line := fmt.Sprintf("%c %s… %ds", frames[i%len(frames)], CleanLine(what()), int(time.Since(began)/time.Second))
		u.live.draw(u.Err, text.Snip(line, max(u.errWidth()-1, 1), "…"))
	}
}

// errWidth is the width of standard error's terminal.
func (u *UI) errWidth() int {
	const unknown = 80
	return cmp.Or(widthOf(u.Err), unknown)
}
