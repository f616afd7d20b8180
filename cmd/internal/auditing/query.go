package auditing

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/internal/audit/logfile"
)

const (
	// shownRecords is how many records a table has without a limit. JSON has all.
	shownRecords = 100
	// maxRecords is how many of the newest records are kept while the log is read; where
	// more are asked for, it is read twice.
	maxRecords = 10_000
	// pageRows is how many rows a table is laid out for: a longer one is several.
	pageRows = 1000
	// earlier is how many records are read before those that are meant: they have decisions
	// whose outcomes are meant.
	earlier = 4096
)

// Show prints the records that are meant, the newest last; with a limit above zero, as many
// of the newest. It needs the same memory for any number of records.
func (p *Command) Show(ctx context.Context, q Query, limit int) error {
	if limit == 0 && !p.UI.WantJSON() {
		limit = shownRecords
	}
	l, err := p.open(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }() // nothing is written
	out := printer{Command: p}
	f, err := q.filter(p.now())
	if err != nil {
		return err
	}
	size, err := l.Size(ctx)
	if err != nil {
		return p.explain(err)
	}
	more, err := newest(ctx, l, f, size, limit, out.add)
	if err == nil {
		err = out.end()
	}
	switch {
	case err != nil || p.UI.WantJSON():
	case out.count == 0:
		p.UI.Info("no record is like that")
	case more:
		p.UI.Info("note: these are the newest %d records: --limit N shows others, and --json shows all", out.count)
	}
	return err
}

// newest calls each with the newest entries that are meant, of the first size records, the
// newest last; a limit of 0 is all. more says that there are others.
func newest(ctx context.Context, l *logfile.Log, f *filter, size int64, limit int, each func(*Entry) error) (more bool, err error) {
	if limit == 0 {
		return false, read(ctx, l, f, size, each)
	}
	if f.all() {
		// Those are the last ones.
		first := max(size-int64(limit), 0)
		err := readFrom(ctx, l, f, first-earlier, size, func(e *Entry) error {
			if e.Number < first {
				return nil
			}
			return each(e)
		})
		return first > 0, err
	}
	count := 0
	var found []*Entry // the last limit entries; the next one takes the place count%limit
	err = read(ctx, l, f, size, func(e *Entry) error {
		if limit <= maxRecords {
			e.Raw = bytes.Clone(e.Raw)
			if len(found) < limit {
				found = append(found, e)
			} else {
				found[count%limit] = e
			}
		}
		count++
		return nil
	})
	if err != nil {
		return false, err
	}
	skip := max(count-limit, 0)
	if limit > maxRecords {
		at := 0
		f.forget()
		return skip > 0, read(ctx, l, f, size, func(e *Entry) error {
			if at++; at <= skip {
				return nil
			}
			return each(e)
		})
	}
	for i := range found {
		if err := each(found[(skip+i)%len(found)]); err != nil {
			return false, err
		}
	}
	return skip > 0, nil
}

// read calls each with the entries that are meant, of the first size records, in their order.
// The bytes of an entry are valid until each returns.
func read(ctx context.Context, l *logfile.Log, f *filter, size int64, each func(*Entry) error) error {
	from := int64(0)
	if !f.since.IsZero() {
		from = size
		err := l.Segments(ctx, logfile.Span{Since: f.since}, func(s logfile.Segment) error {
			from = s.First
			return errEnough
		})
		if err != nil && !errors.Is(err, errEnough) {
			return err
		}
	}
	return readFrom(ctx, l, f, from-earlier, size, each)
}

// readFrom is read from a number on, which may be less than 0.
func readFrom(ctx context.Context, l *logfile.Log, f *filter, from, to int64, each func(*Entry) error) error {
	if to <= 0 {
		return nil
	}
	return l.Read(ctx, max(from, 0), to, func(n int64, raw []byte) error { return f.try(n, raw, each) })
}

// try reads a record and calls each if it is meant.
func (f *filter) try(n int64, raw []byte, each func(*Entry) error) error {
	if f.skips(raw) {
		return nil
	}
	e, err := parse(n, raw)
	if err != nil {
		return err
	}
	if !f.match(e) {
		return nil
	}
	return each(e)
}

// parse reads a record. The error says what to do about one that is none.
func parse(n int64, raw []byte) (*Entry, error) {
	r, err := audit.Parse(raw)
	if err != nil {
		return nil, &ui.Error{Kind: "config", Err: err, Remedy: "mcpctl audit verify says what was changed"}
	}
	return &Entry{Number: n, Raw: raw, Record: r}, nil
}

// errEnough ends reading early.
var errEnough = errors.New("enough")

// printer prints records as they come.
type printer struct {
	*Command
	rows  [][]string
	count int
}

func (o *printer) add(e *Entry) error {
	o.count++
	if o.UI.WantJSON() {
		return raw(o.UI, e)
	}
	if o.rows = append(o.rows, e.row()); len(o.rows) < pageRows {
		return nil
	}
	return o.end()
}

func (o *printer) end() error {
	if len(o.rows) == 0 {
		return nil
	}
	err := table(o.UI, o.rows)
	o.rows = o.rows[:0]
	return err
}

// raw writes the bytes of a record, and a newline.
func raw(u *ui.UI, e *Entry) error {
	_, err := u.Out.Write(append(slices.Clip(e.Raw), '\n'))
	return err
}
