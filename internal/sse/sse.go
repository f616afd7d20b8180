package sse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Event is one dispatched event.
type Event struct {
	// Name is the event type; a reader returns "message" where none was sent.
	Name string
	// Data is the data lines joined by a line feed. It is empty for an event
	// that only carries an id (2025-11-25, "priming event").
	Data []byte
	// ID is the last event id as of this event, "" for none.
	ID string
	// Retry is how long to wait before reconnecting. [AppendEvent] writes it
	// when positive; a reader reports it by [Reader.Retry] alone.
	Retry time.Duration
}

// ErrTooLarge is an event beyond the reader's limit. The reader is of no use
// after it.
var ErrTooLarge = errors.New("event too large")

const (
	defaultMax = 64 << 20
	firstRead  = 4 << 10
	// maxRetry bounds what a server may ask for; more is nonsense and would
	// overflow.
	maxRetry = 24 * time.Hour
)

// mark is the byte order mark that may begin a stream.
var mark = []byte("\xef\xbb\xbf") //nolint:gochecknoglobals // a constant

// Reader cuts a stream into events. It is not safe for concurrent use.
type Reader struct {
	r   io.Reader
	max int64
	err error // what ended the stream, sticky

	buf        []byte // buf[start:end] is read and not yet parsed
	start, end int
	scanned    int  // of those, how many hold no line end
	first      bool // nothing of the stream is parsed: a BOM may come
	skipLF     bool // the last line ended in CR; an LF now belongs to it
	inComment  bool // the current line is a comment too long for the buffer

	event event
	id    string // as of the last blank line

	retry    time.Duration
	hasRetry bool
}

// event is the one being read.
type event struct {
	name, data []byte
	hasData    bool
	id         string
}

// NewReader reads events of at most limit bytes, counted over the data and the
// line being read; zero or less is 64 MiB. It never reads more from r than it
// is asked for events.
func NewReader(r io.Reader, limit int64) *Reader {
	if limit <= 0 {
		limit = defaultMax
	}
	return &Reader{r: r, max: limit, first: true}
}

// LastID is the last event id of the stream: what a resuming client sends as
// Last-Event-ID. An id counts once its event is complete, with data or without.
func (r *Reader) LastID() string { return r.id }

// Retry is the reconnection time the server asked for, and whether it did.
func (r *Reader) Retry() (time.Duration, bool) { return r.retry, r.hasRetry }

// Next returns the next event. The data belongs to the caller. The end of the
// stream is io.EOF; an event without its blank line is dropped, as the
// standard wants it.
func (r *Reader) Next() (Event, error) {
	for {
		line, err := r.line()
		if err != nil {
			r.event.data = nil
			return Event{}, err
		}
		if len(line) > 0 {
			r.field(line)
			continue
		}
		if ev, ok := r.dispatch(); ok {
			return ev, nil
		}
	}
}

// dispatch ends the event being read. Without a data line there is none.
func (r *Reader) dispatch() (Event, bool) {
	r.id = r.event.id
	ev := Event{Name: string(r.event.name), Data: r.event.data, ID: r.id}
	pending := r.event.hasData
	r.event.name, r.event.data, r.event.hasData = r.event.name[:0], nil, false
	if ev.Name == "" {
		ev.Name = "message"
	}
	return ev, pending
}

// field takes in one line that is not empty.
func (r *Reader) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte{':'})
	value = bytes.TrimPrefix(value, []byte{' '})
	switch string(name) {
	case "data":
		if r.event.hasData {
			r.event.data = append(r.event.data, '\n')
		}
		r.event.data = append(r.event.data, value...)
		r.event.hasData = true
	case "event":
		r.event.name = append(r.event.name[:0], value...)
	case "id":
		// An id with NUL is ignored, so that it can travel in a header.
		if bytes.IndexByte(value, 0) < 0 {
			r.event.id = string(value)
		}
	case "retry":
		if d, ok := milliseconds(value); ok {
			r.retry, r.hasRetry = d, true
		}
	}
}

// milliseconds reads ASCII digits and nothing else.
func milliseconds(value []byte) (time.Duration, bool) {
	if len(value) == 0 {
		return 0, false
	}
	var d time.Duration
	for _, c := range value {
		if c < '0' || c > '9' {
			return 0, false
		}
		d = min(d*10+time.Duration(c-'0')*time.Millisecond, maxRetry)
	}
	return d, true
}

// line returns the next line without its end: CR, LF or CRLF. Comments are left
// out. The line is valid until the next call.
func (r *Reader) line() ([]byte, error) {
	for {
		if r.skipLF && r.start < r.end {
			if r.buf[r.start] == '\n' {
				r.start++
			}
			r.skipLF = false
		}
		i := bytes.IndexAny(r.buf[r.start+r.scanned:r.end], "\r\n")
		if i < 0 {
			r.scanned = r.end - r.start
			if err := r.fill(); err != nil {
				return nil, err
			}
			continue
		}
		line := r.buf[r.start : r.start+r.scanned+i]
		r.start += r.scanned + i + 1
		r.scanned = 0
		// The line counts at once: waiting for an LF after the CR could take
		// until the next event.
		r.skipLF = r.buf[r.start-1] == '\r'
		if r.first {
			r.first = false
			line = bytes.TrimPrefix(line, mark)
		}
		if int64(len(line))+int64(len(r.event.data)) > r.max {
			return nil, r.tooLarge()
		}
		comment := r.inComment || len(line) > 0 && line[0] == ':'
		r.inComment = false
		if !comment {
			return line, nil
		}
	}
}

// fill reads once, making room first. buf[start:end] holds no line end.
func (r *Reader) fill() error {
	if r.err != nil {
		return r.err
	}
	if r.first && r.end-r.start >= len(mark) {
		if bytes.HasPrefix(r.buf[r.start:r.end], mark) {
			r.start += len(mark)
			r.scanned -= len(mark)
		}
		r.first = false
	}
	// Comments keep a connection alive; a long one must not fill memory.
	if r.inComment || r.end > r.start && r.buf[r.start] == ':' {
		r.inComment, r.first = true, false
		r.start, r.end, r.scanned = 0, 0, 0
	}
	held := r.end - r.start
	if int64(held)+int64(len(r.event.data)) > r.max {
		return r.tooLarge()
	}
	switch {
	case held == 0:
		r.start, r.end = 0, 0
		if r.buf == nil {
			r.buf = make([]byte, firstRead)
		}
	case r.end < len(r.buf):
	case held <= len(r.buf)/2:
		copy(r.buf, r.buf[r.start:r.end])
		r.start, r.end = 0, held
	default:
		grown := make([]byte, 2*len(r.buf))
		copy(grown, r.buf[r.start:r.end])
		r.buf, r.start, r.end = grown, 0, held
	}
	for range 100 {
		n, err := r.r.Read(r.buf[r.end:])
		r.end += n
		if err != nil {
			r.err = err
		}
		if n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	r.err = io.ErrNoProgress
	return r.err
}

func (r *Reader) tooLarge() error {
	r.start, r.end, r.scanned = 0, 0, 0
	r.err = fmt.Errorf("%w: more than %d bytes", ErrTooLarge, r.max)
	return r.err
}

// AppendEvent appends an event to dst. The name is left out when empty, as are
// an empty id and a retry of zero; data is always there, so that an event with
// an id alone reaches its reader. Data with a raw CR arrives with an LF in its
// place: the format has no way to say CR. A name with a line end, or an id with
// one or with NUL, cannot be said either and is left out.
func AppendEvent(dst []byte, ev Event) []byte {
	if ev.Name != "" && !strings.ContainsAny(ev.Name, "\r\n") {
		dst = append(append(append(dst, "event: "...), ev.Name...), '\n')
	}
	if ev.ID != "" && !strings.ContainsAny(ev.ID, "\r\n\x00") {
		dst = append(append(append(dst, "id: "...), ev.ID...), '\n')
	}
	if ms := ev.Retry / time.Millisecond; ms > 0 {
		dst = append(strconv.AppendInt(append(dst, "retry: "...), int64(ms), 10), '\n')
	}
	dst = append(dst, "data: "...)
	for i := 0; i < len(ev.Data); i++ {
		c := ev.Data[i]
		if c != '\n' && c != '\r' {
			dst = append(dst, c)
			continue
		}
		if c == '\r' && i+1 < len(ev.Data) && ev.Data[i+1] == '\n' {
			i++
		}
		dst = append(dst, "\ndata: "...)
	}
	return append(dst, "\n\n"...)
}

// AppendComment appends a comment, which readers ignore: it keeps a quiet
// connection alive.
func AppendComment(dst []byte, text string) []byte {
	text = strings.NewReplacer("\r", " ", "\n", " ").Replace(text)
	return append(append(append(dst, ": "...), text...), "\n\n"...)
}
