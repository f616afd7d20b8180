package cli

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// hangups is what the signal HUP does. The zero value, as in tests, hears none.
type hangups struct {
	signals chan os.Signal
	// do is what it does in the place of ending mcpctl; false: end it all the same.
	do atomic.Pointer[func() bool]
	// end tells mcpctl to end.
	end context.CancelFunc
}

// hear waits for the signal until done is closed, which is told to end mcpctl
// where nothing else was arranged for. Under nohup it goes on, unheard.
func (h *hangups) hear(end context.CancelFunc, again chan<- os.Signal, done <-chan struct{}) {
	h.signals, h.end = make(chan os.Signal, 1), end
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(h.signals, syscall.SIGHUP)
	}
	go func() { // ends with done
		defer signal.Stop(h.signals)
		for {
			select {
			case <-done:
				return
			case s := <-h.signals:
				if do := h.do.Load(); do != nil && (*do)() {
					continue
				}
				end()
				select {
				case again <- s:
				default: // one is as good as two
				}
			}
		}
	}()
}

// hangupDoubt is when it is looked a second time whether the terminal is there
// after the signal HUP: a shell may send it before the terminal goes.
const hangupDoubt = time.Second

// onHangup has the signal HUP do something in the place of ending mcpctl, as
// long as the terminal is there that mcpctl was started from, if it was: also
// under nohup, where it does not end it. The function ends that.
func (a *app) onHangup(do func()) (stop func()) {
	h := &a.hangups
	if h.signals == nil {
		return func() {}
	}
	there := controllingTerminal()
	if signal.Ignored(syscall.SIGHUP) {
		there = false
		signal.Notify(h.signals, syscall.SIGHUP)
	}
	gone := func() bool { return there && !controllingTerminal() }
	var last atomic.Pointer[time.Timer]
	handle := func() bool {
		if gone() {
			return false
		}
		do()
		if there {
			last.Store(time.AfterFunc(hangupDoubt, func() {
				if gone() {
					h.end()
				}
			}))
		}
		return true
	}
	h.do.Store(&handle)
	return func() {
		h.do.Store(nil)
		if timer := last.Load(); timer != nil {
			timer.Stop()
		}
	}
}
