package export

import (
	"context"
	"io"
)

// WriteFile brings a file of lines to what the log has now, and returns the number of the
// record that comes next. origin is the first line of the log's checkpoints. A file that is
// there already is continued where it ends, also in the middle of a line; another one begins
// with the record of a number.
func WriteFile(ctx context.Context, log Log, origin, path string, from int64) (next int64, err error) {
	l := newLines(File{Path: path}, Options{Log: log, Origin: origin}, &state{sent: map[string]position{}})
	l.sent.sent[l.key()] = position{Next: from, Checkpoint: from}
	err = l.pass(ctx)
	return l.next.Load(), err
}

// WriteLines writes what the log has now from a number on, as a file has it.
func WriteLines(ctx context.Context, log Log, origin string, from int64, w io.Writer) (next int64, err error) {
	first := true
	return passes(ctx, log, from, func(b *batch, at position) error {
		text, _ := b.lines(ctx, log, origin, at, first)
		first = false
		_, err := w.Write(text)
		return err
	})
}

// WriteOTLP writes what the log has now from a number on, as requests to a collector of
// OpenTelemetry: each is a line of JSON. version is that of this program.
func WriteOTLP(ctx context.Context, log Log, from int64, w io.Writer, version string) (next int64, err error) {
	last := "0" // the time of the last record
	return passes(ctx, log, from, func(b *batch, _ position) error {
		var all []otlpRecord
		all, last = b.logRecords(last)
		line, err := encode(all, version)
		if err == nil {
			_, err = w.Write(append(line, '\n'))
		}
		return err
	})
}

// passes calls write with each batch that the log has now from a number on, and with what
// was written before it.
func passes(ctx context.Context, log Log, from int64, write func(b *batch, at position) error) (next int64, err error) {
	for at := (position{Next: from, Checkpoint: from}); ; {
		b, err := read(ctx, log, at.Next, at.Checkpoint)
		if err != nil || len(b.records)+len(b.checkpoints) == 0 {
			return at.Next, err
		}
		if err := write(b, at); err != nil {
			return at.Next, err
		}
		if at = b.after(at); !b.more {
			return at.Next, nil
		}
	}
}
