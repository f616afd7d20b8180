// Package auditing is the command mcpctl audit: it shows, follows, verifies and exports the
// audit log. It reads the log while others write it, and changes nothing of it but for
// mcpctl audit key rotate. serve and the commands that call servers record through
// [Recorder].
package auditing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/internal/audit/logfile"
)

// ErrFindings is what a command ends with that has printed what is wrong with the log.
var ErrFindings = errors.New("the log is not as it was written")

// Command is what the commands need of the program that they run in.
type Command struct {
	UI *ui.UI
	// Settings are those of the program, StateDir is where it keeps its state, "" for
	// nowhere.
	Settings settings.Settings
	StateDir string
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

func (p *Command) now() time.Time {
	if p.Now != nil {
		return p.Now()
	}
	return time.Now()
}

// Path returns where the log is.
func (p *Command) path() string { return filepath.Join(p.StateDir, LogName) }

func (p *Command) keyPath() string { return filepath.Join(p.StateDir, KeyName) }

// open opens the log for reading. The caller closes it.
func (p *Command) open(ctx context.Context) (*logfile.Log, error) {
	l, err := logfile.OpenReadOnly(ctx, p.path())
	if err != nil {
		return nil, p.explain(err)
	}
	return l, nil
}

// explain says what mends an error of a log.
func (p *Command) explain(err error) error {
	of, ok := errors.AsType[*logfile.Error](err)
	switch {
	case !ok:
		return err
	case errors.Is(err, fs.ErrNotExist) && of.Path != p.path():
		return ui.Usage("no such file: %s", of.Path)
	case errors.Is(err, fs.ErrNotExist) && p.Settings.Audit == nil:
		return &ui.Error{Kind: "config", Err: errors.New("there is no audit log: config.yaml has no section audit"), Remedy: "write audit: {keep: 90d} into " + p.Settings.File()}
	case errors.Is(err, fs.ErrNotExist):
		return &ui.Error{Kind: "other", Err: errors.New("there is no audit log yet"), Remedy: "it begins with mcpctl serve, or with a call: mcpctl SERVER TOOL"}
	case errors.Is(err, fs.ErrPermission):
		return &ui.Error{Kind: "config", Err: err, Remedy: "it belongs to who runs mcpctl serve: ask as that user"}
	}
	return &ui.Error{Kind: "config", Err: fmt.Errorf("%s: %w", of.Path, of.Err), Remedy: of.Mends}
}

// Find returns the entry of a name: RUN-N, or a number in the log. That of an outcome has its
// decision.
func (p *Command) Find(ctx context.Context, name string) (*Entry, error) {
	l, err := p.open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = l.Close() }() // nothing is written
	return p.find(ctx, l, name)
}

func (p *Command) find(ctx context.Context, l *logfile.Log, name string) (e *Entry, err error) {
	run, number, named := cutLast(name, "-")
	n, numErr := strconv.ParseUint(number, 10, 63)
	switch {
	case !named && numErr == nil || numErr == nil && run == "":
		var raw []byte
		if raw, err = l.Record(ctx, int64(n)); err == nil {
			e, err = parse(int64(n), raw)
		}
	case numErr != nil:
		return nil, ui.Usage("%q names no record", name).WithHint("a record is RUN-N, as in data.record of an error, or its number in the log")
	default:
		e, err = ofRun(ctx, l, run, n)
	}
	if errors.Is(err, logfile.ErrNoRecord) {
		oldest, _ := l.Oldest(ctx) // 0 will do
		hint := "mcpctl audit shows those that there are"
		if oldest > 0 {
			hint = fmt.Sprintf("records before number %d have been removed; %s", oldest, hint)
		}
		return nil, ui.Usage("the log has no record %s", name).WithHint("%s", hint)
	}
	if err != nil {
		return nil, p.explain(err)
	}
	if e.Kind == audit.KindDone {
		if of, err := ofRun(ctx, l, e.Run, e.Of); err == nil {
			e.Opening = of
		}
	}
	return e, nil
}

// cutLast cuts a text at the last separator. Without one, before is "".
func cutLast(text, separator string) (before, after string, found bool) {
	i := strings.LastIndex(text, separator)
	if i < 0 {
		return "", text, false
	}
	return text[:i], text[i+len(separator):], true
}

// ofRun returns record n of a run.
func ofRun(ctx context.Context, l *logfile.Log, run string, n uint64) (found *Entry, err error) {
	// As records begin: see audit.Record.Append.
	head := fmt.Appendf(nil, `,"n":%d,"kind":`, n)
	of := member("run", run)
	err = l.Segments(ctx, logfile.Span{Backwards: true}, func(s logfile.Segment) error {
		if !bytes.Contains(s.Records, head) || !bytes.Contains(s.Records, of) {
			return nil
		}
		number := s.First
		for raw := range bytes.Lines(s.Records) {
			raw = bytes.TrimSuffix(raw, []byte("\n"))
			if bytes.Contains(raw, head) && bytes.Contains(raw, of) {
				if found, err = parse(number, raw); err != nil || found.Run == run && found.N == n {
					return errEnough
				}
			}
			number++
		}
		return nil
	})
	switch {
	case err == nil:
		err = fmt.Errorf("%w: %s-%d", logfile.ErrNoRecord, run, n)
	case errors.Is(err, errEnough):
		err = nil
	}
	return found, err
}
