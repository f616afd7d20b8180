package auditing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/internal/audit/export"
	"github.com/mcpctl/mcpctl/internal/audit/journal"
	"github.com/mcpctl/mcpctl/internal/audit/logfile"
	"github.com/mcpctl/mcpctl/internal/plain"
)

// Names of the log and of its key in the state directory.
const (
	LogName = "audit.db"
	KeyName = "audit.key"
)

const (
	// pruneAfter is how long after its start serve looks for what is too old, pruneEvery how
	// often then.
	pruneAfter = time.Minute
	pruneEvery = time.Hour
	// commandPruneEvery is how often a command does.
	commandPruneEvery = 24 * time.Hour
	// flushTime bounds how long what is exported at the end may take.
	flushTime = 2 * time.Second
	// closeTime bounds how long the last records may take to the log.
	closeTime = 3 * time.Second
)

// Options say what is recorded, and where.
type Options struct {
	// Audit is the section of config.yaml; nil: nothing is recorded.
	Audit *settings.Audit
	// Dir is the state directory, "" for none.
	Dir string
	// Command makes requests wait for the log, which is right for a few of them; nothing is
	// exported, and what is too old is removed once a day.
	Command bool
	// Clean takes secrets out of arguments and results that are kept, see [journal.Bodies].
	Clean func(server, principal string, body []byte) (clean []byte, ok bool)
	// Version is that of this program.
	Version string
	Getenv  func(string) string
	Log     *slog.Logger
}

// Recorder is the log while mcpctl runs. All methods may be called concurrently. A nil
// Recorder records nothing.
type Recorder struct {
	// Journal takes records.
	Journal *journal.Journal

	o        Options
	log      *recorder
	exporter *export.Exporter
	failed   error // why nothing is recorded although it should be
	stop     context.CancelFunc
	work     sync.WaitGroup
}

// Open opens the log. Where it cannot be written, that is an error if it is required; else it
// is logged, and written as soon as that is possible.
func Open(ctx context.Context, o Options) (*Recorder, error) {
	if o.Audit == nil {
		return nil, nil
	}
	if o.Dir == "" {
		return nil, &ui.Error{Kind: "config", Err: errors.New("audit: there is no directory to keep the log in"), Remedy: "set HOME or MCPCTL_HOME"}
	}
	r := &Recorder{o: o}
	key, err := logfile.OpenKey(filepath.Join(o.Dir, KeyName))
	if err != nil {
		return r.without(err)
	}
	r.log = &recorder{path: filepath.Join(o.Dir, LogName), key: key}
	j := journal.Options{
		Log: r.log, Digest: key.AppendDigest, Dir: o.Dir, Optional: o.Audit.Optional, Version: o.Version, Report: r.report, Bodies: bodiesOf(o),
	}
	switch {
	case o.Audit.Power:
		j.Durability = journal.Power
	case o.Command:
		j.Durability = journal.Logged
	}
	if o.Command {
		j.Dir = ""
	}
	_, err = r.log.get(ctx)
	if err == nil {
		r.Journal, err = journal.Open(ctx, j)
	}
	if err != nil {
		if !o.Audit.Optional {
			_ = r.log.close() // it was not written
			return nil, unusable(err)
		}
		o.Log.Warn(notRecorded, ui.Attrs(err)...)
		j.Dir = "" // its folder may be what cannot be written
		if r.Journal, err = journal.Open(ctx, j); err != nil {
			return r.without(err)
		}
	}
	if !o.Command {
		if err := r.checkKey(key); err != nil {
			return nil, errors.Join(err, r.Journal.Close(ctx), r.log.close())
		}
	}
	return r, nil
}

// checkKey starts what looks after the log.
func (r *Recorder) checkKey(key *logfile.Key) error {
	o := r.o
	exports, err := exportsOf(o)
	if err != nil {
		return err
	}
	exports.Log, exports.Origin = r.log, key.Origin()
	if r.exporter, err = export.Start(exports); err != nil {
		return &ui.Error{Kind: "config", Err: fmt.Errorf("audit.export: %w", err)}
	}
	r.log.woken.Store(r.exporter)
	var ctx context.Context
	ctx, r.stop = context.WithCancel(context.Background())
	r.work.Go(func() { r.keep(ctx) })
	return nil
}

const notRecorded = "requests are NOT recorded: the audit log cannot be written (required: false has them pass)"

// without is a log that cannot be written in this run.
func (r *Recorder) without(err error) (*Recorder, error) {
	if !r.o.Audit.Optional {
		return nil, unusable(err)
	}
	r.o.Log.Warn(notRecorded, ui.Attrs(err)...)
	r.failed = err
	return r, nil
}

// unusable is the error of a log that is required.
func unusable(err error) error {
	remedy := cmp.Or(ui.HintOf(err), "make it writable, or remove audit from config.yaml")
	return &ui.Error{Kind: "config", Err: fmt.Errorf("the audit log cannot be written: %w", err), Remedy: remedy}
}

// report logs that records can no longer be written, and that they can again.
func (r *Recorder) report(err error) {
	switch {
	case err == nil:
		r.o.Log.Warn("the audit log is written again")
	case r.o.Audit.Optional:
		r.o.Log.Warn(notRecorded, ui.Attrs(err)...)
	default:
		r.o.Log.Error("requests are refused: the audit log cannot be written", ui.Attrs(err)...)
	}
}

// bodiesOf says which arguments and results are kept.
func bodiesOf(o Options) journal.Bodies {
	b := o.Audit.Bodies
	if b == nil {
		return journal.Bodies{}
	}
	return journal.Bodies{Max: int(b.Max), Redact: b.Redact, Clean: o.Clean, Of: func(server, item string) bool {
		for _, to := range b.To {
			if plain.MatchGlob(to, server+"/"+item) {
				return true
			}
		}
		return false
	}}
}

// exportsOf returns where records and checkpoints go.
func exportsOf(o Options) (export.Options, error) {
	out := export.Options{Dir: o.Dir, Version: o.Version, Logger: o.Log}
	for _, a := range o.Audit.Anchors {
		out.Anchors = append(out.Anchors, export.Anchor(a))
	}
	for _, e := range o.Audit.Exports {
		if e.JSONL != "" {
			out.Files = append(out.Files, export.File{Path: e.JSONL, Rotate: e.Rotate})
			continue
		}
		c := export.Collector{URL: e.OTLP, Header: http.Header{}}
		headers, err := settings.ExpandHeaders("audit.export", e.Headers, o.Getenv)
		if err != nil {
			return out, err
		}
		for name, value := range headers {
			c.Header.Set(name, value.Reveal())
		}
		out.Collectors = append(out.Collectors, c)
	}
	return out, nil
}

// Takes returns what takes records, nil for nothing.
func (r *Recorder) Takes() *journal.Journal {
	if r == nil {
		return nil
	}
	return r.Journal
}

// Record records what is no request. What cannot be recorded is logged: it has happened.
func (r *Recorder) Record(rec *audit.Record) {
	if r == nil || r.Journal == nil {
		return
	}
	if err := r.Journal.Append(rec); err != nil {
		r.o.Log.Warn("not recorded", "kind", rec.Kind, "err", err)
	}
}

// Unready returns a word for why requests are not recorded, "" if they are, and whether they
// are refused for that.
func (r *Recorder) Unready() (word string, refuses bool) {
	if r == nil || r.problem() == nil {
		return "", false
	}
	return "unrecorded", !r.o.Audit.Optional
}

// problem returns why records cannot be written now.
func (r *Recorder) problem() error {
	if r.failed != nil {
		return r.failed
	}
	return r.Journal.Health().Err
}

// Close writes and exports what is left.
func (r *Recorder) Close(ctx context.Context) {
	if r == nil || r.Journal == nil {
		return
	}
	if r.stop != nil {
		r.stop()
		r.work.Wait()
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	if r.o.Command {
		r.keepOnce(closing, time.Now())
	}
	if err := r.Journal.Close(closing); err != nil {
		r.o.Log.Warn("the last records are not in the audit log yet", ui.Attrs(err)...)
	}
	flushing, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
	defer cancel()
	r.exporter.Close(flushing)
	if err := r.log.close(); err != nil {
		r.o.Log.Warn("the audit log was not closed as it should", "err", err)
	}
}

// keep removes what is too old or too much, until ctx ends.
func (r *Recorder) keep(ctx context.Context) {
	for wait := pruneAfter; ; wait = pruneEvery {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		if err := r.prune(ctx, time.Now()); err != nil && ctx.Err() == nil {
			r.o.Log.Warn("the audit log keeps more than it should: it is tried again", ui.Attrs(err)...)
		}
	}
}

// keepOnce is keep for a command: one of them a day removes what no serve has. When, the
// file's time says.
func (r *Recorder) keepOnce(ctx context.Context, now time.Time) {
	mark := filepath.Join(r.o.Dir, "audit-kept")
	if info, err := os.Stat(mark); err == nil && now.Sub(info.ModTime()) < commandPruneEvery {
		return
	}
	err := os.WriteFile(mark, nil, 0o600)
	if err == nil {
		err = os.Chtimes(mark, now, now)
	}
	if err == nil {
		err = r.prune(ctx, now)
	}
	if err != nil {
		r.o.Log.Warn("the audit log keeps more than it should", ui.Attrs(err)...)
	}
}

// prune removes what is too old or too much at a time.
func (r *Recorder) prune(ctx context.Context, now time.Time) error {
	l, err := r.log.get(ctx)
	if err != nil {
		return err
	}
	a := r.o.Audit
	if b := a.Bodies; b != nil && b.Keep > 0 {
		if _, err := l.PruneBodies(ctx, now.Add(-b.Keep)); err != nil {
			return err
		}
	}
	var before time.Time
	if a.Keep > 0 {
		before = now.Add(-a.Keep)
	}
	gone, err := l.Prune(ctx, before, a.Max, func(first int64) error {
		if err := r.Journal.Append(&audit.Record{Kind: audit.KindPrune, Count: first}); err != nil {
			return err
		}
		return r.settled(ctx)
	})
	if gone > 0 {
		r.o.Log.Info("records of the audit log have been removed", "records", gone)
	}
	return err
}

// settled returns when what was recorded so far is in the log.
func (r *Recorder) settled(ctx context.Context) error {
	last := r.Journal.Health().Records
	for {
		h := r.Journal.Health()
		if h.Records >= last+uint64(max(h.Waiting, 0)) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// recorder is the log of a Journal and an Exporter. It is opened as soon as it can be.
type recorder struct {
	path  string
	key   *logfile.Key
	woken atomic.Pointer[export.Exporter] // is told what is new

	mu     sync.Mutex // guards what follows
	log    *logfile.Log
	signed time.Time // when this process last signed it
}
