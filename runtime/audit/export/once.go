package export

import (
	"context"
	"io"
)

// WriteFile brings a file of lines to what the log has now, and returns the number of the
// record that comes next. origin is the first line of the log's checkpoints. A file that is there already is continued where it ends, also in
// the middle of a line; another one begins with the record of a number.
func WriteFile(ctx context.Context, log Log, origin, path string, from int64) (next int64, err error) {
	l := newLines(File{Path: path}, Options{Log: log, Origin: origin}, &state{sent: map[string]position{}})
	l.sent.sent[l.key()] = position{Next: from, Checkpoint: from}
	err = l.pass(ctx)
	return l.next.Load(), err
}

// WriteLines writes what the log has now from a number on, as a file has it.
func WriteLines(ctx context.Context, log Log, origin string, from int64, w io.Writer) (next int64, err error) {
	at := position{Next: from, Checkpoint: from}
	return passes(ctx, log, at, func(b *batch, first bool) error {
		var text []byte
		if first || b.first != at.Next {
			text = Mark{Log: origin, Next: b.first}.Append(text)
		}
		for _, r := range b.records {
			text = append(append(text, r...), '\n')
		}
		at.Next = b.next
		for _, c := range b.checkpoints {
			text = Mark{Checkpoint: string(c.note), Next: at.Next}.Append(text)
		}
		_, err := w.Write(text)
		return err
	})
}

// WriteOTLP writes what the log has now from a number on, as requests to a collector of
// OpenTelemetry: each is a line of JSON. version is that of this program.
func WriteOTLP(ctx context.Context, log Log, from int64, w io.Writer, version string) (next int64, err error) {
	last := "0" // the time of the last record
	return passes(ctx, log, position{Next: from, Checkpoint: from}, func(b *batch, _ bool) error {
		var all []otlpRecord
		for i, r := range b.records {
			all = append(all, logRecord(b.first+int64(i), r))
			last = all[i].Time
		}
		for _, c := range b.checkpoints {
			all = append(all, checkpointRecord(c, last))
		}
		line, err := encode(all, version)
		if err == nil {
			_, err = w.Write(append(line, '\n'))
		}
		return err
	})
}

// passes calls write with each batch that the log has now from a position on; first says
// that it is the first one.
func passes(ctx context.Context, log Log, at position, write func(b *batch, first bool) error) (next int64, err error) {
	for first := true; ; first = false {
		b, err := read(ctx, log, at.Next, at.Checkpoint)
		if err != nil || len(b.records)+len(b.checkpoints) == 0 {
			return at.Next, err
		}
		if err := write(b, first); err != nil {
			return at.Next, err
		}
		at.Next = b.next
		for _, c := range b.checkpoints {
			at.Checkpoint = c.size
		}
		if !b.more {
			return at.Next, nil
		}
	}
}
