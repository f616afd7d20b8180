package auditing

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/audit/logfile"
)

// poll is how often the log is looked at for new records. That reads one row. making is how
// long a log that is new may be without its tables.
const (
	poll   = 250 * time.Millisecond
	making = 5 * time.Second
)

// errMoved ends following a log that is no longer where it was.
var errMoved = errors.New("the log was moved away")

// Tail prints the newest records that are meant, and with on those that come, until ctx
// ends. It goes by numbers in the log: no record is left out or comes twice, whoever writes.
// Where the log is moved away, it goes on with the one that comes in its place.
func (p *Command) Tail(ctx context.Context, q Query, last int, on bool) error {
	f, err := q.filter(p.now())
	if err != nil {
		return err
	}
	info, _ := os.Stat(p.path()) // before it is opened: another one in its place is noticed
	l, err := p.open(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if l != nil {
			_ = l.Close() // nothing is written
		}
	}()
	size, err := l.Size(ctx)
	if err != nil {
		return p.explain(err)
	}
	if last > 0 {
		_, err = newest(ctx, l, f, size, last, one(p.UI))
	}
	for on && err == nil {
		if err = p.follow(ctx, l, info, f, size); !errors.Is(err, errMoved) {
			break
		}
		p.UI.Info("note: the log was moved away: what follows is from the next log")
		_ = l.Close() // nothing was written
		info, l, err = openNext(ctx, p.path())
		f.forget()
		size = 0
	}
	return p.explain(err)
}

// openNext opens the log that has come in the place of another, as soon as it is there.
func openNext(ctx context.Context, path string) (os.FileInfo, *logfile.Log, error) {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		if info, err := os.Stat(path); err == nil {
			l, err := logfile.OpenReadOnly(ctx, path)
			if !errors.Is(err, logfile.ErrDamaged) || time.Since(info.ModTime()) > making {
				return info, l, err
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
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

// follow prints the entries of a log from a number on, until it is no longer the file that is
// there: the error is errMoved then.
func (p *Command) follow(ctx context.Context, l *logfile.Log, info os.FileInfo, f *filter, next int64) error {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		now, err := os.Stat(p.path()) // before: what was written until it was moved is still read
		moved := err != nil || !os.SameFile(info, now)
		size, err := l.Size(ctx)
		switch {
		case err != nil:
			return err
		case size < next:
			return errors.New("the log has fewer records than before: mcpctl audit verify says more")
		case size > next:
			err := l.Read(ctx, next, size, func(n int64, raw []byte) error {
				if n > next { // they were removed before they were read
					p.UI.Info("note: records %d to %d have been removed", next, n-1)
				}
				next = n + 1
				return f.try(n, raw, one(p.UI))
			})
			if err != nil {
				return err
			}
			next = size
		}
		if moved {
			return errMoved
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// One prints one record with all that it has.
func (p *Command) One(ctx context.Context, name string) error {
	e, err := p.Find(ctx, name)
	if err != nil {
		return err
	}
	if p.UI.WantJSON() {
		return raw(p.UI, e)
	}
	all := e.members()
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
