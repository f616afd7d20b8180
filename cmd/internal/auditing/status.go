package auditing

import (
	"context"
	"path/filepath"
	"time"

	"github.com/mcpctl/mcpctl/internal/audit/export"
)

// Status is how the log is, in the status of a serve.
type Status struct {
	// Path is where it is, Run the name of this run in it.
	Path string `json:"path"`
	Run  string `json:"run,omitempty"`
	// Bytes is the size of its files, Records how many were ever added, Oldest the number of
	// the first that is still there.
	Bytes   int64 `json:"bytes"`
	Records int64 `json:"records"`
	Oldest  int64 `json:"oldest,omitempty"`
	// Signed is how many of them the last checkpoint covers, Checkpoint when this process
	// has made one last.
	Signed     int64     `json:"signed"`
	Checkpoint time.Time `json:"checkpoint,omitzero"`
	// Required says that requests are refused which cannot be recorded; Unwritten is how many
	// records of this run are missing, Waiting how many are on their way.
	Required  bool   `json:"required"`
	Unwritten uint64 `json:"unwritten,omitempty"`
	Waiting   int    `json:"waiting,omitempty"`
	// Problem is why records cannot be written now, "" if they can.
	Problem string `json:"problem,omitempty"`
	// Exports are the targets of records and checkpoints. Elsewhere is why this process sends
	// nothing to them, "" where it does.
	Exports   []export.Status `json:"exports,omitempty"`
	Elsewhere string          `json:"elsewhere,omitempty"`
}

// Status returns how the log is, nil for none.
func (r *Recorder) Status(ctx context.Context) *Status {
	if r == nil {
		return nil
	}
	s := &Status{Path: filepath.Join(r.o.Dir, LogName), Required: !r.o.Audit.Optional}
	if err := r.problem(); err != nil {
		s.Problem = err.Error()
	}
	if r.Journal == nil {
		return s
	}
	h := r.Journal.Health()
	s.Run, s.Unwritten, s.Waiting = r.Journal.Run(), h.Unwritten, h.Waiting
	s.Exports, s.Elsewhere = r.exporter.Status()
	if l, err := r.log.get(ctx); err == nil {
		if stat, err := l.Stat(ctx); err == nil {
			s.Bytes, s.Records, s.Oldest, s.Signed = stat.Bytes, stat.Size, stat.Oldest, stat.Signed
		} else if s.Problem == "" {
			s.Problem = err.Error()
		}
	}
	r.log.mu.Lock()
	defer r.log.mu.Unlock()
	s.Checkpoint = r.log.signed
	return s
}
