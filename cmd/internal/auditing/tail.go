package auditing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime/audit/logfile"
)

// poll is how often the log is looked at for new records. That reads one row.
const poll = 250 * time.Millisecond

// Tail prints the newest records that are meant, and with on those that come, until ctx
// ends. It goes by numbers in the log: no record is left out or comes twice, whoever writes.
func (p *Program) Tail(ctx context.Context, q Query, last int, on bool) error {
	f, err := q.filter(p.now())
	if err != nil {
		return err
	}
	l, err := p.open(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }() // nothing is written
	size, err := l.Size(ctx)
	if err != nil {
		return p.explain(err)
	}
	if last > 0 {
		_, err = newest(ctx, l, f, size, last, one(p.UI))
	}
	if err != nil || !on {
		return p.explain(err)
	}
	return p.explain(follow(ctx, l, f, size, p.UI))
}

// one returns what prints an entry as it comes.
func one(u *ui.UI) func(*Entry) error {
	return func(e *Entry) error {
		if u.WantJSON() {
			return raw(u, e)
		}
		return line(u, e)
	}
}

// follow prints the entries from a number on.
func follow(ctx context.Context, l *logfile.Log, f *filter, next int64, u *ui.UI) error {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		size, err := l.Size(ctx)
		switch {
		case err != nil:
			return err
		case size < next:
			return errors.New("the log has fewer records than before: mcpctl audit verify says more")
		case size > next:
			err := l.Read(ctx, next, size, func(n int64, raw []byte) error {
				if n > next { // they were removed before they were read
					u.Note("note: records %d to %d have been removed", next, n-1)
				}
				next = n + 1
				return f.try(n, raw, one(u))
			})
			if err != nil {
				return err
			}
			next = size
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// One prints one record with all that it has.
func (p *Program) One(ctx context.Context, name string) error {
	e, err := p.Find(ctx, name)
	if err != nil {
		return err
	}
	if p.UI.WantJSON() {
		return raw(p.UI, e)
	}
	all := members(e)
	width := 0
	for _, m := range all {
		width = max(width, len(m[0]))
	}
	for _, m := range all {
		if _, err := fmt.Fprintf(p.UI.Out, "%s  %s\n", p.UI.Palette().Bold(fmt.Sprintf("%-*s", width, m[0])), ui.CleanLine(m[1])); err != nil {
			return err
		}
	}
	return nil
}
