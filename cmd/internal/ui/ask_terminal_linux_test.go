package ui_test

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/test/pty"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// person is a terminal with a user: input goes to the program, and what it draws is
// recorded.
type person struct {
	screen *os.File // the person's side
	tty    *os.File // the program's side
	left   bool     // a prompt was left behind that may use tty until the process ends

	mu    sync.Mutex // guards drawn and waits
	drawn strings.Builder
	waits map[string]chan struct{}
}

func newPerson(t *testing.T) *person {
	t.Helper()
	ptm, tty := pty.Open(t, 120)
	p := &person{screen: ptm, tty: tty, waits: map[string]chan struct{}{}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 4096)
		for {
			n, err := ptm.Read(buf)
			if err != nil {
				return
			}
			p.draw(string(buf[:n]))
		}
	}()
	t.Cleanup(func() {
		if p.left {
			return
		}
		_ = tty.Close() // the reader's end
		<-done
		_ = ptm.Close()
	})
	return p
}

func (p *person) draw(s string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drawn.WriteString(s)
	for text, seen := range p.waits {
		if strings.Contains(p.drawn.String(), text) {
			close(seen)
			delete(p.waits, text)
		}
	}
}

// sees waits until a text has been drawn.
func (p *person) sees(text string) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := make(chan struct{})
	if strings.Contains(p.drawn.String(), text) {
		close(seen)
	} else {
		p.waits[text] = seen
	}
	return seen
}

// reads waits until the program takes single keys. Survey draws a list before that,
// and only the terminal's mode shows it.
func (p *person) reads(ctx context.Context) {
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for {
		mode, err := unix.IoctlGetTermios(int(p.screen.Fd()), unix.TCGETS)
		if err != nil || mode.Lflag&unix.ICANON == 0 {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
	}
}

// answers types keys as soon as the program takes single ones.
func (p *person) answers(t *testing.T, keys string) {
	t.Helper()
	go func() {
		p.reads(t.Context())
		p.types(t, keys)
	}()
}

func (p *person) types(t *testing.T, keys string) {
	t.Helper()
	if _, err := p.screen.WriteString(keys); err != nil {
		t.Error(err)
	}
}

func (p *person) asker(t *testing.T) ui.Asker {
	t.Helper()
	u := ui.New(p.tty, os.NewFile(^uintptr(0), "no stdout"), p.tty)
	a := u.Asker()
	if _, ok := a.(*ui.NonInteractive); ok {
		t.Fatal("a terminal is not taken for one")
	}
	return a
}

func TestSelectOnATerminal(t *testing.T) {
	p := newPerson(t)
	a := p.asker(t)
	go func() {
		<-p.sees("second")
		p.reads(t.Context())
		p.types(t, "\x1b[B\r") // arrow down, Enter
	}()
	i, err := a.Select(t.Context(), ui.Question{Message: "which\x1b[31m one"}, []string{"first", "second\x1b]0;title\a"})
	if i != 1 || err != nil {
		t.Errorf("got %d %v, want 1", i, err)
	}
	if drawn := p.drawnText(); !strings.Contains(drawn, "which one") || strings.Contains(drawn, "title\a") {
		t.Errorf("drawn: %q", drawn)
	}
}

func (p *person) drawnText() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.drawn.String()
}

func TestBreakOff(t *testing.T) {
	p := newPerson(t)
	a := p.asker(t)
	go func() {
		<-p.sees("second")
		p.reads(t.Context())
		p.types(t, "\x03") // Ctrl+C
	}()
	_, err := a.Select(t.Context(), ui.Question{Message: "which one"}, []string{"first", "second"})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

func TestContextEndsAQuestion(t *testing.T) {
	p := newPerson(t)
	a := p.asker(t)
	before, err := unix.IoctlGetTermios(int(p.tty.Fd()), unix.TCGETS)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-p.sees("second")
		p.reads(t.Context())
		cancel()
	}()
	if _, err := a.Select(ctx, ui.Question{Message: "which one"}, []string{"first", "second"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	after, err := unix.IoctlGetTermios(int(p.tty.Fd()), unix.TCGETS)
	require.NoError(t, err)
	if after.Lflag != before.Lflag {
		t.Errorf("the terminal is left in mode %x, was %x", after.Lflag, before.Lflag)
	}
	p.left = true
	p.types(t, "\r") // ends the read that was left behind, some time
}

func TestMultiSelectOnATerminal(t *testing.T) {
	p := newPerson(t)
	a := p.asker(t)
	go func() {
		<-p.sees("third")
		p.reads(t.Context())
		p.types(t, " \x1b[B \r") // unmark the first, mark the second, Enter
	}()
	var checked string
	got, err := a.MultiSelect(t.Context(), ui.Question{
		Message: "which", Defaults: []string{"first", "third"}, Check: func(s string) error { checked = s; return nil },
	}, []string{"first", "second", "third"})
	if err != nil || len(got) != 2 || got[0] != 1 || got[1] != 2 || checked != "1 2" {
		t.Errorf("got %v %v, checked %q; want 1 and 2", got, err, checked)
	}
}

func TestDefaultOption(t *testing.T) {
	p := newPerson(t)
	a := p.asker(t)
	go func() {
		<-p.sees("second")
		p.reads(t.Context())
		p.types(t, "\r")
	}()
	if i, err := a.Select(t.Context(), ui.Question{Message: "which", Default: "second"}, []string{"first", "second"}); i != 1 || err != nil {
		t.Errorf("got %d %v, want the default", i, err)
	}
}

// TestLinesOnATerminal: a text, a secret and a yes are asked for; what is refused is
// asked for again, help is shown, and a secret never is.
func TestLinesOnATerminal(t *testing.T) {
	p := newPerson(t)
	a := p.asker(t)
	check := func(s string) error {
		if s == "bad" {
			return errors.New("want\x1b[31m another\nword")
		}
		return nil
	}
	p.answers(t, "bad\rgood\r")
	if got, err := a.Input(t.Context(), ui.Question{Message: "name", Check: check}); got != "good" || err != nil {
		t.Errorf("a text: got %q %v, want good", got, err)
	}
	p.answers(t, "\r")
	if got, err := a.Input(t.Context(), ui.Question{Message: "name", Default: "usual"}); got != "usual" || err != nil {
		t.Errorf("a default: got %q %v", got, err)
	}
	p.answers(t, "hidden\r")
	if got, err := a.Secret(t.Context(), ui.Question{Message: "key"}); got != "hidden" || err != nil {
		t.Errorf("a secret: got %q %v", got, err)
	}
	p.answers(t, "?\rwhat\rN\r")
	if got, err := a.Confirm(t.Context(), ui.Question{Message: "sure", Help: "why we ask"}); got || err != nil {
		t.Errorf("no: got %v %v", got, err)
	}
	p.answers(t, "\r")
	if got, err := a.Confirm(t.Context(), ui.Question{Message: "sure"}); !got || err != nil {
		t.Errorf("yes: got %v %v", got, err)
	}
	for _, want := range []string{"name:", "invalid: want another word", "usual", "******", "why we ask", `"what" is not a valid answer`, "Yes"} {
		select {
		case <-p.sees(want):
		case <-wait.Late(t):
			t.Fatalf("%q is not drawn: %q", want, p.drawnText())
		}
	}
	if drawn := p.drawnText(); strings.Contains(drawn, "hidden") {
		t.Errorf("a secret is shown: %q", drawn)
	}
}

// TestPage: what is longer than the terminal goes to the pager, and notes come after it; what is
// not, and what has no pager, is written.
func TestPage(t *testing.T) {
	t.Cleanup(func() { signal.Reset(os.Interrupt) }) // which a pager has for itself
	long := strings.Repeat("line\n", 40)
	for name, tt := range map[string]struct {
		command, text, want string
		noInput             bool
	}{
		"long":     {"sed s/line/paged/", long, strings.ReplaceAll(long, "line", "paged") + "a note\n", false},
		"short":    {"sed s/line/paged/", "line\n", "line\na note\n", false},
		"none":     {"", long, long + "a note\n", false},
		"missing":  {"no-such-pager 2>/dev/null", long, long + "a note\n", false},
		"no input": {"sed s/line/paged/", long, long + "a note\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPerson(t)
			require.NoError(t, unix.IoctlSetWinsize(int(p.tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}))
			u := ui.New(p.tty, p.tty, p.tty)
			u.NoInput = tt.noInput
			require.NoError(t, u.Page(tt.command, os.Environ(), func() error {
				_, err := u.Out.Write([]byte(tt.text))
				u.Info("a note")
				return err
			}))
			<-p.sees("a note\r\n")
			if got := strings.ReplaceAll(p.drawnText(), "\r\n", "\n"); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
