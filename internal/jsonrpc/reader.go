package jsonrpc

import (
	"bytes"
	"errors"
	"io"
	"time"
)

const (
	readBuffer = 64 << 10 // one pipe's worth; 4 KiB costs 15 % more CPU a call
	keepBuffer = 4 << 20  // a larger buffer is given back once it is empty
)

// ErrTooLong is a line longer than the reader's limit. The line is dropped,
// the next one can be read.
var ErrTooLong = errors.New("line too long")

// LineReader reads lines into one buffer of its own and returns slices of it.
// It is not safe for concurrent use.
type LineReader struct {
	r          io.Reader
	buf        []byte
	start, end int // unread bytes
	newline    int // index of the next LF, -1 when none is buffered
	max        int
	err        error
	skip       bool // inside a line that was too long
	cut        bool // the line given last had no end
	at         time.Time
	reads      uint64
	head, tail []byte
}

// NewLineReader reads lines of at most max bytes; 0 means 64 MiB: an image of
// 20 MB takes 27 MB in base64, and as much again where it is quoted twice. A pipe
// in non-blocking mode is waited for with the poller.
func NewLineReader(r io.Reader, max int) *LineReader {
	if max == 0 {
		max = 64 << 20
	}
	return &LineReader{r: pipeInput(r), buf: make([]byte, readBuffer), newline: -1, max: max}
}

// Next returns the next line without its line end, valid until the next call.
// Blank lines and a leading byte order mark are passed over. At the end of
// input a last line without line end is given first.
func (l *LineReader) Next() ([]byte, error) {
	for {
		line, err := l.next()
		if err != nil {
			return nil, err
		}
		if line = content(line); len(line) > 0 {
			return line, nil
		}
	}
}

// At is when the input was last read from: for all lines that came with it, one
// reading of the clock.
func (l *LineReader) At() time.Time { return l.at }

// Reads is how often the input was read from. Unlike At it always differs from one reading
// to the next: clocks may stand still between the two.
func (l *LineReader) Reads() uint64 { return l.reads }

// Cut reports whether the line given last had no end: the input ended in it.
func (l *LineReader) Cut() bool { return l.cut }

// Dropped returns the beginning and the end of the line that was too long last,
// valid until the next call of Next.
func (l *LineReader) Dropped() (head, tail []byte) { return l.head, l.tail }

// ends is how much is kept of either end of a line that is too long.
const ends = 512

// begun keeps the beginning of a line that turns out too long.
func (l *LineReader) begun(part []byte) {
	l.head = append(l.head[:0], part[:min(len(part), ends)]...)
	l.tail = l.tail[:0]
}

// went keeps the end of a line that is too long, part by part.
func (l *LineReader) went(part []byte) {
	l.tail = append(l.tail, part[max(0, len(part)-ends):]...)
	l.tail = append(l.tail[:0], l.tail[max(0, len(l.tail)-ends):]...)
}

// content returns what a line says, nothing for a blank one.
func content(line []byte) []byte {
	if n := len(line); n > 0 && line[0] == '{' && line[n-1] == '}' { // as nearly all are
		return line
	}
	return bytes.Trim(bytes.TrimPrefix(line, []byte("\ufeff")), " \t\r")
}

// Buffered reports whether Next will give another line without waiting for it.
// Blank lines do not count: whoever puts off a flush until there is nothing
// more to do would put it off forever.
func (l *LineReader) Buffered() bool {
	for l.newline >= 0 && !l.skip && l.newline-l.start <= l.max && len(content(l.buf[l.start:l.newline])) == 0 {
		l.advance()
	}
	return l.newline >= 0
}

// advance passes over the first buffered line.
func (l *LineReader) advance() {
	l.start = l.newline + 1
	l.newline = bytes.IndexByte(l.buf[l.start:l.end], '\n')
	if l.newline >= 0 {
		l.newline += l.start
	}
}

func (l *LineReader) next() ([]byte, error) {
	for l.newline < 0 {
		if l.err != nil {
			return l.last()
		}
		if l.skip || l.end-l.start > l.max {
			if !l.skip {
				l.begun(l.buf[l.start:l.end])
			}
			l.went(l.buf[l.start:l.end])
			l.start, l.end, l.skip = 0, 0, true
		}
		l.space()
		n, err := l.r.Read(l.buf[l.end:])
		l.at = time.Now()
		l.reads++
		if i := bytes.IndexByte(l.buf[l.end:l.end+n], '\n'); i >= 0 {
			l.newline = l.end + i
		}
		l.end += n
		l.err = err
	}
	line := l.buf[l.start:l.newline]
	l.advance()
	if l.skip || len(line) > l.max {
		if !l.skip {
			l.begun(line)
		}
		l.went(line)
		l.skip = false
		return nil, ErrTooLong
	}
	return line, nil
}

func (l *LineReader) last() ([]byte, error) {
	line := l.buf[l.start:l.end]
	l.start, l.end = 0, 0
	if l.skip {
		l.went(line)
		l.skip = false
		return nil, ErrTooLong
	}
	if len(line) > 0 {
		l.cut = true
		return line, nil
	}
	return nil, l.err
}

// space makes space behind the unread bytes: by moving them to the front, by
// growing for a long line, by giving back what a long line needed.
func (l *LineReader) space() {
	if l.start == l.end {
		l.start, l.end = 0, 0
		if len(l.buf) > keepBuffer {
			l.buf = make([]byte, readBuffer)
		}
		return
	}
	if l.end < len(l.buf) {
		return
	}
	if l.start > 0 {
		l.end = copy(l.buf, l.buf[l.start:l.end])
		l.start = 0
		return
	}
	if p, ok := l.r.(interface{ widen() }); ok {
		p.widen()
	}
	// No more than the longest line takes, and what shows that one is longer.
	bigger := make([]byte, min(4*len(l.buf), max(l.max, len(l.buf))+readBuffer))
	copy(bigger, l.buf[:l.end])
	l.buf = bigger
}
