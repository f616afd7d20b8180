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
	q.Brief = q.Brief && !p.UI.WantJSON()
	out := printer{Command: p, brief: q.Brief, limit: limit}
	f, err := q.filter(p.now())
	if err != nil {
		return err
	}
	size, err := l.Size(ctx)
	if err != nil {
		return p.explain(err)
	}
	records := limit
	if q.Brief {
		records = 2 * limit // with their outcomes
	}
	more, err := newest(ctx, l, f, size, records, out.add)
	if err == nil {
		err = out.end()
	}
	switch {
	case err != nil || p.UI.WantJSON():
	case out.count == 0:
		p.UI.Info("no record is like that")
	case more || out.dropped:
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
		return first > 0, readSince(ctx, l, f, first, size, each)
	}
	from := int64(0)
	if f.everyday() {
		from = max(size-recent(limit), 0)
	}
	count := 0
	var found []*Entry // the last limit entries; the next one takes the place count%limit
	keep := func(e *Entry) error {
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
	}
	err = readSince(ctx, l, f, from, size, keep)
	if err == nil && from > 0 && count < limit { // the end has too few: rare, so all of the log is read
		f.forget()
		count, found = 0, nil
		err = read(ctx, l, f, size, keep)
	}
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

// recent is how many records at the end of a log have a number of everyday ones.
func recent(limit int) int64 { return 1000 + 8*int64(limit) }

// readSince is read, from a number on if that is above 0.
func readSince(ctx context.Context, l *logfile.Log, f *filter, from, size int64, each func(*Entry) error) error {
	if from <= 0 {
		return read(ctx, l, f, size, each)
	}
	return readFrom(ctx, l, f, from-earlier, size, func(e *Entry) error {
		if e.Number < from {
			return nil
		}
		return each(e)
	})
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

// printer prints records as they come. In a brief table, a request and its outcome are one row.
type printer struct {
	*Command
	brief bool
	limit int // of rows in a brief table
	rows  [][]string
	at    map[decisionID]int // rows of requests whose outcome has not come
	count int
	// dropped says that there were more rows than the limit.
	dropped bool
}

func (o *printer) add(e *Entry) error {
	o.count++
	if o.UI.WantJSON() {
		return raw(o.UI, e)
	}
	row := e.row()
	if asked := e.Asked(); o.brief && e.Kind == audit.KindDone && asked != e {
		id := decisionID{asked.Run, asked.N}
		if i, ok := o.at[id]; ok {
			o.rows[i][columnOutcome] = row[columnOutcome]
			delete(o.at, id)
			o.count--
			return nil
		}
		row[columnVerdict] = asked.verdict()
	}
	if o.brief && isDecision(e.Kind) && e.Outcome.Out == "" {
		if o.at == nil {
			o.at = map[decisionID]int{}
		}
		o.at[decisionID{e.Run, e.N}] = len(o.rows)
	}
	if o.rows = append(o.rows, row); len(o.rows) < pageRows || o.brief && o.limit <= maxRecords {
		return nil
	}
	return o.end()
}

func (o *printer) end() error {
	if len(o.rows) == 0 {
		return nil
	}
	if skip := len(o.rows) - o.limit; o.brief && skip > 0 {
		o.rows, o.count, o.dropped = o.rows[skip:], o.count-skip, true
	}
	err := table(o.UI, o.rows)
	o.rows = o.rows[:0]
	clear(o.at)
	return err
}

// raw writes the bytes of a record, and a newline.
func raw(u *ui.UI, e *Entry) error {
	if u.Form != nil {
		return u.PrintJSON(e.Raw)
	}
	_, err := u.Out.Write(append(slices.Clip(e.Raw), '\n'))
	return err
}
