package mirror

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/mcpctl/mcpctl/internal/atomicfile"
	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/runtime"
)

// ErrBusy says that another process writes the copy of the registry.
var ErrBusy = errors.New("another process is copying the registry")

// Options are settings of one Sync. The zero value is useful.
type Options struct {
	// Wait is how long to wait while another process writes the copy. If that has
	// brought the copy up to date, nothing is left to do.
	Wait time.Duration
	// Whole reads the whole list if that was not done for 30 days: changes that the
	// registry does not report are found then. A list that was never read to its end is
	// read anyway.
	Whole bool
	// Progress, unless nil, is told after each page how many servers the copy has and how
	// many pages were read.
	Progress func(servers, pages int)
}

const (
	// maxPages bounds a list; the public registry had 520 pages in 2026. A longer one is
	// an error.
	maxPages = 5000
	// maxRepeats bounds pages in a row without a server that is new: a server can have
	// 10,000 versions, which fill 100 pages. More are an error.
	maxRepeats = 101
	// maxBytes bounds the file of all copies. A larger one is an error.
	maxBytes = 2 << 30
	// maxAsked bounds the servers whose newest version is asked for one by one, because
	// the one that was copied is gone. The others are asked for by the next Sync.
	maxAsked = 100
	// walkLife is how long a walk can be continued.
	walkLife = 24 * time.Hour
	// wholeEvery is how long a copy lives by changes alone; see [Options.Whole].
	wholeEvery = 30 * 24 * time.Hour
	// overlap is how far changes are asked for twice: the registry may publish them late.
	overlap = 5 * time.Minute
)

// walk is one pass over a list: the whole, or what has changed. Another process can
// continue it.
type walk struct {
	number  int64     // servers that it has seen carry it
	started time.Time // by this machine's clock; zero: there is none under way
	since   time.Time // of what has changed; zero for the whole list
	next    time.Time // since of the walk after this one
	cursor  string    // of the next page
	pages   int       // read so far
}

func (w walk) isDelta() bool { return !w.since.IsZero() }

// Sync brings the copy of the client's registry up to date: the whole list the first
// time, later what has changed. Pages are stored as they come. If Sync is interrupted or
// fails, the next one goes on behind the last page, and a copy that was complete stays
// usable. While another process writes the copy, the error is [ErrBusy].
func (m *Mirror) Sync(ctx context.Context, c *registry.Client, o Options) error {
	asked := time.Now()
	// Less than this is too short to try at all on a machine that is busy.
	unlock, err := atomicfile.Lock(ctx, m.lockPath(c.URL()), max(o.Wait, 50*time.Millisecond))
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return ErrBusy
	}
	if err != nil {
		return fmt.Errorf("lock the copy of %s: %w", c.URL(), cmp.Or(ctx.Err(), err))
	}
	defer unlock()
	s := &syncer{m: m, c: c, o: o, seen: map[string]bool{}}
	if err := s.load(ctx); err != nil {
		return err
	}
	if s.row.synced.After(asked) {
		return nil
	}
	err = s.run(ctx)
	var refused *runtime.AuthError // which the user mends, and tries again at once
	if err != nil && s.got == 0 && !errors.As(err, &refused) {
		s.noteFailure(ctx)
	}
	return err
}

// syncer is one Sync.
type syncer struct {
	m    *Mirror
	c    *registry.Client
	o    Options
	row  *row
	walk walk

	seen    map[string]bool // cursors of this walk
	repeats int             // pages in a row without a new server
	got     int             // pages of this Sync
	servers int
	packer  packer
}

// load reads the registry's row, which is created if there is none.
func (s *syncer) load(ctx context.Context) error {
	return s.m.file.Do(ctx, true, func(db *sql.DB) (err error) {
		if _, err := db.ExecContext(ctx, `INSERT INTO registries (url, used) VALUES (?, ?) ON CONFLICT DO UPDATE SET used = excluded.used`, s.c.URL(), toNanos(time.Now())); err != nil {
			return err
		}
		if s.row, err = loadRow(ctx, db, s.c.URL()); err != nil {
			return err
		}
		return db.QueryRowContext(ctx, `SELECT count(*) FROM servers WHERE registry = ?`, s.row.id).Scan(&s.servers)
	})
}

func (s *syncer) run(ctx context.Context) error {
	s.walk = s.row.walk
	resumed := !s.walk.started.IsZero() && time.Since(s.walk.started) < walkLife && s.walk.pages > 0
	if !resumed {
		s.begin(s.since())
	}
	err := s.pages(ctx)
	var refused *registry.StatusError
	if resumed && s.got == 0 && errors.As(err, &refused) {
		s.begin(s.since()) // the cursor has expired
		err = s.pages(ctx)
	}
	return err
}

// since returns from when changes are asked for, zero for the whole list. A list of one
// page with an ETag costs no more as a whole.
func (s *syncer) since() time.Time {
	r := s.row
	if r.synced.IsZero() || r.etag != "" || s.o.Whole && time.Since(r.whole) > wholeEvery {
		return time.Time{}
	}
	return r.since
}

func (s *syncer) begin(since time.Time) {
	s.walk = walk{number: s.walk.number + 1, started: time.Now(), since: since}
	clear(s.seen)
	s.repeats = 0
}

// pages reads the rest of the list.
func (s *syncer) pages(ctx context.Context) error {
	for {
		w := &s.walk
		q, etag := registry.Query{UpdatedSince: w.since}, ""
		if !w.isDelta() {
			q.Version = "latest"
			if w.pages == 0 && !s.row.synced.IsZero() {
				etag = s.row.etag
			}
		}
		p, err := s.c.Page(ctx, q, w.cursor, etag)
		var refused *registry.StatusError
		if w.pages == 0 && w.isDelta() && errors.As(err, &refused) {
			s.begin(time.Time{}) // it knows no changes
			continue
		}
		if err != nil {
			return err
		}
		switch {
		case p.Unchanged:
			return s.unchanged(ctx)
		case w.pages == 0 && w.isDelta() && !follows(p, w.since):
			s.begin(time.Time{})
			continue
		case w.pages == 0:
			// The earlier of the two clocks: changes that come twice do no harm.
			w.next = p.Date.Add(-overlap)
			if now := time.Now(); p.Date.After(now) {
				w.next = now.Add(-overlap)
			}
		}
		// A page that is here is stored, whatever becomes of ctx.
		more, err := s.store(context.WithoutCancel(ctx), ctx, p)
		if err != nil || !more {
			return err
		}
	}
}

// follows reports whether a registry has left out what has not changed since. Static ones
// return everything, and others may do so.
func follows(p *registry.Page, since time.Time) bool {
	for i := range p.Records {
		at, err := time.Parse(time.RFC3339, p.Records[i].Meta.UpdatedAt)
		if err != nil || at.Before(since) {
			return false
		}
	}
	return true
}

// store puts a page into the copy and ends the walk with the last one, for which it may
// ask the registry, within asking.
func (s *syncer) store(ctx, asking context.Context, p *registry.Page) (more bool, err error) {
	w := &s.walk
	// A cursor that was there before means the end if the page has nothing new: the
	// registry ignores cursors. Otherwise the list has a circle.
	again := s.seen[p.Next]
	s.seen[p.Next] = true
	w.cursor, w.pages = p.Next, w.pages+1
	fresh, size := 0, int64(0)
	err = s.write(ctx, func(b *batch) error {
		fresh = 0
		for i := range p.Records {
			first, err := b.take(&p.Records[i])
			if err != nil {
				return err
			}
			if first {
				fresh++
			}
		}
		if err := b.tx.QueryRowContext(ctx, `SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()`).Scan(&size); err != nil {
			return err
		}
		if err := b.tx.QueryRowContext(ctx, `SELECT count(*) FROM servers WHERE registry = ?`, b.registry).Scan(&s.servers); err != nil {
			return err
		}
		return b.keepWalk()
	})
	if err != nil {
		return false, err
	}
	s.got++
	if s.o.Progress != nil {
		s.o.Progress(s.servers, w.pages)
	}
	if s.repeats++; fresh > 0 {
		s.repeats = 0
	}
	switch {
	case p.Next == "", again && fresh == 0:
		return false, s.finish(ctx, asking, p.ETag)
	case again:
		return false, s.abandon(ctx, "its list repeats a cursor")
	case s.repeats == maxRepeats:
		return false, s.abandon(ctx, fmt.Sprintf("%d pages of its list have nothing new", maxRepeats))
	case w.pages == maxPages:
		return false, s.abandon(ctx, fmt.Sprintf("its list has more than %d pages", maxPages))
	case size > maxBytes:
		return false, s.abandon(ctx, fmt.Sprintf("the file of copies has more than %d MiB", maxBytes>>20))
	}
	return true, nil
}

// abandon ends the walk, so that the next one begins at the first page.
func (s *syncer) abandon(ctx context.Context, why string) error {
	s.walk.started = time.Time{}
	err := &runtime.ProtocolError{Reason: fmt.Sprintf("%s cannot be copied: %s", s.c.URL(), why)}
	s.got = 0 // a failure, whatever was read
	return errors.Join(err, s.write(ctx, func(b *batch) error { return b.keepWalk() }))
}

// unchanged notes that the copy is still right.
func (s *syncer) unchanged(ctx context.Context) error {
	s.walk.started, s.walk.pages, s.got = time.Time{}, 0, 1
	return s.write(ctx, func(b *batch) error {
		if err := b.keepWalk(); err != nil {
			return err
		}
		return b.exec(`UPDATE registries SET synced = ?1, whole = ?1 WHERE id = ?2`, toNanos(time.Now()), b.registry)
	})
}

// finish makes the copy complete after the last page.
func (s *syncer) finish(ctx, asking context.Context, etag string) error {
	if s.walk.isDelta() {
		if err := s.askNewest(asking); err != nil {
			return err
		}
	}
	w := s.walk
	s.walk.started = time.Time{}
	if w.pages > 1 || w.isDelta() {
		etag = ""
	}
	empty := false
	err := s.write(ctx, func(b *batch) error {
		if err := b.keepWalk(); err != nil {
			return err
		}
		whole := s.row.whole
		if !w.isDelta() {
			left, err := b.sweep()
			if err != nil {
				return err
			}
			if empty = left == 0 && s.servers > 0; empty {
				return nil
			}
			s.servers, whole = left, w.started
		}
		if err := b.prune(time.Now()); err != nil {
			return err
		}
		return b.exec(`UPDATE registries SET synced = ?, whole = ?, since = ?, etag = ? WHERE id = ?`,
			toNanos(w.started), toNanos(whole), toNanos(w.next), etag, b.registry)
	})
	if err == nil && empty {
		return &runtime.ProtocolError{Reason: s.c.URL() + " lists no servers now; its copy was not changed"}
	}
	return err
}

// askNewest asks for the newest version of the servers whose copied version is gone.
func (s *syncer) askNewest(ctx context.Context) error {
	names, err := s.stale(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		rec, err := s.c.Get(ctx, name, "")
		var missing *registry.NotFoundError
		if err != nil && !errors.As(err, &missing) {
			return err
		}
		err = s.write(ctx, func(b *batch) error {
			old, err := b.find(name)
			if err != nil || old.id == 0 {
				return err
			}
			if rec == nil || rec.Meta.Status == registry.Deleted {
				return b.remove(old.id)
			}
			return b.put(rec, old)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *syncer) stale(ctx context.Context) (names []string, err error) {
	err = s.m.file.Do(ctx, true, func(db *sql.DB) error {
		names = nil
		rows, err := db.QueryContext(ctx, `SELECT name FROM servers WHERE registry = ? AND stale LIMIT ?`, s.row.id, maxAsked)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return err
			}
			names = append(names, name)
		}
		return rows.Err()
	})
	return names, err
}

// noteFailure stores that the registry gave nothing.
func (s *syncer) noteFailure(ctx context.Context) {
	_ = s.write(context.WithoutCancel(ctx), func(b *batch) error { // the failure itself is what to report
		return b.exec(`UPDATE registries SET failed = ? WHERE id = ?`, toNanos(time.Now()), b.registry)
	})
}
