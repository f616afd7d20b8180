package transport

import (
	"bytes"
	"context"
	"io"
	"log/slog"

	"github.com/mcpctl/mcpctl/internal/secret"
)

// maxText bounds what is logged of one message, in bytes: a log is read by people.
const maxText = 2000

// wireLog logs messages without credentials. A nil one logs nothing.
type wireLog struct {
	log    *slog.Logger
	redact *secret.Redactor
}

// newWireLog returns a log of messages, nil where the logger leaves them out.
func newWireLog(logger *slog.Logger, redact *secret.Redactor) *wireLog {
	if !logger.Enabled(context.Background(), slog.LevelDebug) {
		return nil
	}
	return &wireLog{logger, redact}
}

// Sent logs a message to the server.
func (l *wireLog) Sent(text []byte) { l.message("message sent", text, len(text)) }

func (l *wireLog) message(what string, text []byte, size int) {
	if l == nil {
		return
	}
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("data:"))) // of a stream of events
	if len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return // a line that is none is reported as malformed
	}
	beginning := l.redact.Beginning(string(text[:min(len(text), maxText+l.redact.Longest())]), maxText)
	l.log.Debug(what, "bytes", size, "text", beginning)
}

// Writer returns a writer that logs the lines written, each whole in one Write.
func (l *wireLog) Writer(w io.Writer) io.Writer {
	if l == nil {
		return w
	}
	return writer{w, l}
}

type writer struct {
	io.Writer
	l *wireLog
}

func (w writer) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		w.l.Sent(line)
	}
	return w.Writer.Write(p)
}

// Reader returns a reader that logs the lines read.
func (l *wireLog) Reader(r io.Reader) io.Reader {
	if l == nil {
		return r
	}
	return &reader{Reader: r, l: l}
}

type reader struct {
	io.Reader
	l    *wireLog
	line []byte // the beginning of the one that is being read
	size int
}

func (r *reader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	for part := range bytes.Lines(p[:n]) {
		r.size += len(part)
		if space := maxText + r.l.redact.Longest() - len(r.line); space > 0 {
			r.line = append(r.line, part[:min(len(part), space)]...)
		}
		if part[len(part)-1] == '\n' {
			r.l.message("message received", r.line, r.size)
			r.line, r.size = r.line[:0], 0
		}
	}
	if err != nil { // there may be no last line break
		r.l.message("message received", r.line, r.size)
		r.line = nil
	}
	return n, err
}

// Body is Reader for the body of an HTTP answer.
func (l *wireLog) Body(body io.ReadCloser) io.ReadCloser {
	if l == nil {
		return body
	}
	return struct {
		io.Reader
		io.Closer
	}{l.Reader(body), body}
}
