// Package wirelog logs the messages between a client and a server, one by one.
package wirelog

import (
	"bytes"
	"context"
	"io"
	"log/slog"

	"github.com/mcpctl/mcpctl/internal/secret"
)

// maxText bounds what is logged of one message, in bytes: a log is read by people.
const maxText = 2000

// Log logs messages without credentials. A nil one logs nothing.
type Log struct {
	log    *slog.Logger
	redact *secret.Redactor
}

// New returns a log of messages, nil where the logger leaves them out.
func New(logger *slog.Logger, redact *secret.Redactor) *Log {
	if !logger.Enabled(context.Background(), slog.LevelDebug) {
		return nil
	}
	return &Log{logger, redact}
}

// Sent logs a message to the server.
func (l *Log) Sent(text []byte) { l.message("message sent", text, len(text)) }

func (l *Log) message(what string, text []byte, size int) {
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
func (l *Log) Writer(w io.Writer) io.Writer {
	if l == nil {
		return w
	}
	return writer{w, l}
}

type writer struct {
	io.Writer
	l *Log
}

func (w writer) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		w.l.Sent(line)
	}
	return w.Writer.Write(p)
}

// Reader returns a reader that logs the lines read.
func (l *Log) Reader(r io.Reader) io.Reader {
	if l == nil {
		return r
	}
	return &reader{Reader: r, l: l}
}

type reader struct {
	io.Reader
	l    *Log
	line []byte // the beginning of the one that is being read
	size int
}

func (r *reader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	for part := range bytes.Lines(p[:n]) {
		r.size += len(part)
		if room := maxText + r.l.redact.Longest() - len(r.line); room > 0 {
			r.line = append(r.line, part[:min(len(part), room)]...)
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
func (l *Log) Body(body io.ReadCloser) io.ReadCloser {
	if l == nil {
		return body
	}
	return struct {
		io.Reader
		io.Closer
	}{l.Reader(body), body}
}
