package proc

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/internal/lazy"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/internal/secret"
)

const (
	// tailSize is how many bytes of a server's standard error are kept to explain
	// its end, and tailLines how many lines at most; a line is shown up to lineSize
	// bytes.
	tailSize  = 8 << 10
	tailLines = 50
	lineSize  = 1000
)

// StderrTail keeps the end of a stream and logs its lines, without our credentials.
type StderrTail struct {
	// Each is told of each line, as it is logged; nil: nobody is. It is set before Drain.
	Each func(line string)

	logger *slog.Logger
	redact *secret.Redactor
	alive  func() // told of the first bytes, and perhaps of later ones
	done   chan struct{}
	begun  []byte        // of a line that is to be logged when it is whole
	lines  *secret.Lines // those that have been logged

	mu  sync.Mutex // guards what follows
	buf []byte
	cut bool // something before buf is lost
}

// NewStderrTail returns a tail. It calls alive when the stream brings anything.
func NewStderrTail(logger *slog.Logger, redact *secret.Redactor, alive func()) *StderrTail {
	return &StderrTail{logger: logger, redact: redact, lines: redact.Lines(), alive: alive, done: make(chan struct{})}
}

// Drain reads until the end, so that a server that floods its standard error
// never waits for us.
func (t *StderrTail) Drain(r io.Reader) {
	defer close(t.done)
	chunk := make([]byte, 32<<10)
	for {
		n, err := r.Read(chunk)
		if n > 0 {
			t.alive()
		}
		t.keep(chunk[:n])
		if err != nil {
			t.log([]byte("\n"))
			return
		}
	}
}

func (t *StderrTail) keep(b []byte) {
	t.log(b)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if over := len(t.buf) - tailSize - t.redact.Longest(); over > 0 { // see Last
		t.buf = append(t.buf[:0], t.buf[over:]...)
		t.cut = true
	}
}

// log logs the lines that b ends.
func (t *StderrTail) log(b []byte) {
	if t.Each == nil && !t.logger.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	for part := range bytes.Lines(b) {
		if space := 4*lineSize - len(t.begun); space > 0 {
			t.begun = append(t.begun, part[:min(len(part), space)]...)
		}
		if part[len(part)-1] != '\n' {
			return
		}
		if line := t.lines.Next(bareLine(string(t.begun))); line != "" {
			line = plain.Clip(line, lineSize)
			t.logger.Debug("server stderr", "text", line)
			if t.Each != nil {
				t.Each(line)
			}
		}
		t.begun = t.begun[:0]
	}
}

// Wait waits, bounded, until everything written has been read.
func (t *StderrTail) Wait(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-t.done:
	case <-timer.C:
	}
}

// Last returns the last lines, without empty ones and without control characters.
// A line whose beginning is lost is left out, unless it is the only one.
func (t *StderrTail) Last() string {
	t.mu.Lock()
	text, cut := string(t.buf), t.cut
	t.mu.Unlock()
	var bare []string
	for line := range strings.SplitSeq(text, "\n") {
		bare = append(bare, bareLine(line))
	}
	text = t.redact.String(strings.Join(bare, "\n"))
	if cut {
		// What is kept may begin in the middle of a credential.
		text = text[min(len(text), t.redact.Longest()):]
	}
	all := strings.Split(text, "\n")
	if cut && len(all) > 1 {
		all = all[1:]
	}
	var lines []string
	for _, line := range all {
		if line != "" {
			lines = append(lines, plain.Clip(line, lineSize))
		}
	}
	return strings.Join(lines[max(0, len(lines)-tailLines):], "\n")
}

// StderrLine returns a line as a terminal would show it, up to lineSize bytes.
func StderrLine(line string) string { return plain.Clip(bareLine(line), lineSize) }

// bareLine returns a line as a terminal would show it in the end, in one colour:
// [plain.Text], without what a carriage return has overwritten, with spaces for
// tabs and line ends.
func bareLine(line string) string {
	line = strings.ToValidUTF8(strings.TrimRight(line, "\r\n"), "\uFFFD")
	line = plain.Text(line[strings.LastIndexByte(line, '\r')+1:])
	return strings.TrimRight(strings.NewReplacer("\t", " ", "\n", " ").Replace(line), " ")
}

// TellingLine returns the line that says best why a program has ended: the last one
// that begins like an error, as behind the traces of Node or before those of
// Go; what npm says first; else the last.
func TellingLine(text string) string {
	lines := strings.Split(text, "\n")
	for _, line := range slices.Backward(lines) {
		if line = strings.TrimSpace(line); beginsLikeError(line) {
			return line
		}
	}
	for _, line := range lines {
		if said := npmSaid().FindStringSubmatch(line); said != nil && !npmFacts().MatchString(said[1]) {
			return line
		}
	}
	return strings.TrimSpace(lines[len(lines)-1])
}

// npm marks each line of an error. Lines of facts come before what it says, and one about
// its log stands last.
var (
	npmSaid  = lazy.Regexp(`^npm (?:error|ERR!) +(.+)`)
	npmFacts = lazy.Regexp(`^(?:code|syscall|errno|path|dest|pkg|A complete log of this run) `)
)

// beginsLikeError reports whether a line begins with one word, perhaps with
// "fatal" or "uncaught" before it, that ends in "error", "exception" or is
// "panic" or "fatal", and a colon: "TypeError: …", "panic: …", "fatal error: …",
// "java.io.IOException: …".
func beginsLikeError(line string) bool {
	head, rest, ok := strings.Cut(line, ":")
	if !ok || strings.TrimSpace(rest) == "" {
		return false
	}
	words := strings.Fields(strings.ToLower(head))
	if n := len(words); n > 1 && strings.HasPrefix(words[n-1], "[") { // Error [ERR_X]
		words = words[:n-1]
	}
	if len(words) == 2 && (words[0] == "fatal" || words[0] == "uncaught" || words[0] == "unhandled") {
		words = words[1:]
	}
	if len(words) != 1 {
		return false
	}
	last := words[0]
	return strings.HasSuffix(last, "error") || strings.HasSuffix(last, "exception") || last == "panic" || last == "fatal"
}
