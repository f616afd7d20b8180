package cli

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// hangups handles the signal HUP. The zero value, for tests, ignores it.
type hangups struct {
	signals chan os.Signal
	// do replaces ending mcpctl, unless it returns false.
	do atomic.Pointer[func() bool]
	// end ends mcpctl.
	end context.CancelFunc
}

// handle handles the signal until done is closed. Without another action it ends
// mcpctl, except under nohup, where it is ignored.
func (h *hangups) handle(end context.CancelFunc, again chan<- os.Signal, done <-chan struct{}) {
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
				default: // one is pending
				}
			}
		}
	}()
}

// hangupRecheck is when the terminal is checked again after the signal HUP: a shell
// may send it before the terminal goes.
const hangupRecheck = time.Second

// OnHangup replaces the action of the signal HUP, also under nohup, until stop is
// called. It still ends mcpctl if the terminal that it was started from has gone.
func (e *endingSignals) OnHangup(do func()) (stop func()) {
	h := &e.hangups
	if h.signals == nil {
		return func() {}
	}
	attached := controllingTerminal()
	if signal.Ignored(syscall.SIGHUP) {
		attached = false
		signal.Notify(h.signals, syscall.SIGHUP)
	}
	gone := func() bool { return attached && !controllingTerminal() }
	var last atomic.Pointer[time.Timer]
	handle := func() bool {
		if gone() {
			return false
		}
		do()
		if attached {
			last.Store(time.AfterFunc(hangupRecheck, func() {
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
