package auditing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	goruntime "runtime"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/control"
	"github.com/mcpctl/mcpctl/cmd/internal/doctor"
	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/internal/audit/export"
	"github.com/mcpctl/mcpctl/internal/audit/journal"
	"github.com/mcpctl/mcpctl/internal/audit/logfile"
	"github.com/mcpctl/mcpctl/internal/plain"
)

// checks are those of one log.
type checks struct {
	*doctor.Report
	o Options
}

// Check returns what doctor finds of the log: nothing where config.yaml asks for none. It
// changes nothing.
func Check(ctx context.Context, a *settings.Audit, dir string, getenv func(string) string) []*doctor.Report {
	if a == nil || dir == "" {
		return nil
	}
	c := checks{&doctor.Report{Name: filepath.Join(dir, LogName), OK: true}, Options{Audit: a, Dir: dir, Getenv: getenv}}
	if c.files() {
		c.log(ctx)
		c.rings(ctx)
	}
	c.targets()
	c.serves(ctx)
	return []*doctor.Report{c.Report}
}

// files checks the log's files, and reports whether there is a log to look into.
func (c *checks) files() bool {
	key := filepath.Join(c.o.Dir, KeyName)
	_, err := os.Stat(c.Name)
	exists := err == nil
	info, err := os.Stat(key)
	const others = 0o077
	switch {
	case errors.Is(err, fs.ErrNotExist) && !exists:
		c.Pass("audit", "there is no audit log yet: the first request makes it")
		return false
	case errors.Is(err, fs.ErrNotExist):
		c.Fail("audit", "config", "its key is gone: "+key, "put a copy of "+key+" in place, or begin a new log: mv "+c.Name+" "+c.Name+".old")
	case err != nil:
		c.Fail("audit", "config", err.Error(), "")
	case goruntime.GOOS != "windows" && info.Mode().Perm()&others != 0:
		c.Fail("audit", "config", fmt.Sprintf("others may read or write its key (mode %04o): it is not used", info.Mode().Perm()), "chmod 600 "+key)
	}
	if !exists {
		return false
	}
	f, err := os.OpenFile(c.Name, os.O_RDWR, 0)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		why := "requests are refused"
		if c.o.Audit.Optional {
			why = "requests are not recorded"
		}
		c.Fail("audit", "config", "it cannot be written, and "+why+": "+err.Error(), "chmod u+w "+c.Name)
	}
	return true
}

// log checks what the log says of itself.
func (c *checks) log(ctx context.Context) {
	l, err := logfile.OpenReadOnly(ctx, c.Name)
	if err != nil {
		c.Fail("audit", "config", err.Error(), ui.HintOf(err))
		return
	}
	defer func() { _ = l.Close() }() // it was read
	s, err := l.Stat(ctx)
	if err != nil {
		c.Fail("audit", "config", err.Error(), "mcpctl audit verify")
		return
	}
	text := fmt.Sprintf("%s, %.1f MB", plain.Count(int(s.Size), "record"), float64(s.Bytes)/1e6)
	if s.Oldest > 0 {
		text += fmt.Sprintf("; the first %d are removed", s.Oldest)
	}
	if s.Signed > s.Oldest {
		raw, err := l.Record(ctx, s.Signed-1)
		if r, perr := audit.Parse(raw); err == nil && perr == nil {
			text += fmt.Sprintf("; the last checkpoint is about %d, up to %s", s.Signed, r.Time.Local().Format(time.DateTime))
		}
	}
	c.Pass("audit", text)
}

// rings checks whether runs have ended whose records are not all in the log.
func (c *checks) rings(ctx context.Context) {
	left := 0
	err := journal.Ended(ctx, c.o.Dir, func(*journal.Left) error {
		left++
		return nil
	})
	switch {
	case err != nil:
		c.Fail("audit", "config", err.Error(), "")
	case left > 0:
		c.Warn("audit", plain.Count(left, "run")+" has ended without its last records in the log: they wait in "+filepath.Join(c.o.Dir, "audit-*.ring"), "mcpctl serve  # appends them when it starts")
	}
}

// targets checks where records and checkpoints go.
func (c *checks) targets() {
	if _, err := exportsOf(c.o); err != nil {
		c.Fail("audit", "config", err.Error(), "mcpctl config sources  # shows where config.yaml is")
	}
	var paths []string
	for _, a := range c.o.Audit.Anchors {
		paths = append(paths, a.File)
	}
	for _, e := range c.o.Audit.Exports {
		paths = append(paths, e.JSONL)
	}
	for _, path := range paths {
		if path == "" {
			continue
		}
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
			c.Fail("audit", "config", path+" is not a regular file", "mcpctl config sources  # shows where config.yaml is; choose another path in audit")
		} else if _, err := os.Stat(filepath.Dir(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			c.Fail("audit", "config", err.Error(), "")
		}
	}
	sent, err := export.Sent(c.o.Dir)
	if err != nil {
		c.Fail("audit", "config", err.Error(), "")
	}
	for _, s := range sent {
		what := "records up to"
		if s.Kind == "file" || s.Kind == "witness" {
			what = "the checkpoint of"
		}
		c.Pass("audit", fmt.Sprintf("%s has %s %d", s.Target, what, s.Next))
	}
}

// serves checks what running serves say of the log.
func (c *checks) serves(ctx context.Context) {
	all, err := control.Find(ctx, c.o.Dir)
	if err != nil {
		return // mcpctl status says why
	}
	for _, f := range all {
		var s struct{ Audit *Status }
		if f.Err != nil || json.Unmarshal(f.Status, &s) != nil || s.Audit == nil {
			continue
		}
		if s.Audit.Problem != "" {
			c.Fail("audit", "config", fmt.Sprintf("serve %d cannot write it: %s", f.PID, s.Audit.Problem), "mcpctl status")
		}
		if s.Audit.Unwritten > 0 {
			c.Warn("audit", fmt.Sprintf("serve %d has let %d requests pass without a record", f.PID, s.Audit.Unwritten), "mcpctl audit --kind gap")
		}
		for _, e := range s.Audit.Exports {
			if e.Problem != "" {
				c.Warn("audit", fmt.Sprintf("%s gets nothing since %s: %s", e.Target, e.Since.Local().Format(time.DateTime), e.Problem), "mcpctl status")
			}
		}
	}
}
