// Package journal takes the records of a running process from the path of calls to the log.
package journal

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/runtime/audit"
)

// ErrUnwritten is that a record cannot be written, so that what it is about must not be
// done.
var ErrUnwritten = errors.New("the audit log cannot be written")

// Keeper keeps records in order, for good. Its methods are called by one goroutine.
type Keeper interface {
	// Append adds a batch in one transaction, all of it or nothing, and returns the number
	// of its first record in the log.
	Append(ctx context.Context, b *audit.Batch) (first int64, err error)
	// State returns the State of the last batch of a run, nil for none.
	State(ctx context.Context, run string) ([]byte, error)
	// Checkpoint signs the log as it is now. It does nothing where that has been done.
	Checkpoint(ctx context.Context) error
}

// Options are settings of a Journal.
type Options struct {
	// Keeper is where records go.
	Keeper Keeper
	// Digest appends the keyed digest of b, for records. It may be called concurrently.
	Digest func(dst, b []byte) []byte
	// Dir is the folder of the files that have the records which are not yet in the log; ""
	// has them in memory alone.
	Dir string
	// Durability says what records outlive.
	Durability Durability
	// Optional lets requests pass whose records cannot be written; they are counted.
	Optional bool
	// Bodies are the arguments and results that are kept.
	Bodies Bodies
	// Version is that of the program, for the record of the run's start.
	Version string
	// Report is called when records can no longer be written, and with nil when they can
	// again; nil for never. It must not wait.
	Report func(error)
}

// Durability is what records outlive, before the request that they are about goes on.
type Durability int

const (
	// Process is that they outlive the process, if Options have a Dir: requests do not wait.
	Process Durability = iota
	// Logged is that they are in the log: requests wait for that. It is for commands with one
	// request, and takes no space.
	Logged
	// Power is that they outlive a loss of power: requests wait for the disk.
	Power
)

// Bodies says which arguments and results are kept. The zero value is none.
type Bodies struct {
	// Of reports whether those of an item are kept; nil for none.
	Of func(server, item string) bool
	// Max is how many bytes are kept of each, 0 for 16 KiB.
	Max int
	// Redact takes secrets out.
	Redact bool
}

// Journal takes the records of one run. All methods may be called concurrently. A nil
// Journal takes none, and refuses nothing.
type Journal struct {
	o   Options
	run string

	mu sync.Mutex
	n  uint64
}

// Open begins a run. What the rings of runs that have ended without Close still hold is
// appended first.
func Open(ctx context.Context, o Options) (*Journal, error) {
	return &Journal{o: o, run: "seam"}, nil
}

// Decision is what is recorded of a request before anything of it is sent.
type Decision struct {
	Kind audit.Kind
	Who  audit.Asker
	What audit.Subject
	Said audit.Said
	// Arguments are the bytes that the server gets; they are read before Begin returns.
	Arguments []byte
}

// Ticket stands for a decision whose outcome is still to be recorded. The zero Ticket is of
// no record.
type Ticket struct {
	N     uint64
	began time.Time
}

// Begin records a decision. It does not wait, takes no lock and allocates nothing. With
// ErrUnwritten the request must not be sent: later it may pass, see Wait. A decision whose
// verdict does not let the request pass is complete; of others End tells the outcome.
func (j *Journal) Begin(d *Decision) (Ticket, error) {
	if j == nil {
		return Ticket{}, nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.n++
	return Ticket{N: j.n, began: time.Now()}, nil
}

// Waits reports whether records count only after Wait: requests that cannot wait must be
// served otherwise.
func (j *Journal) Waits() bool { return j != nil && j.o.Durability != Process }

// Wait returns when the record outlives what the settings want it to outlive: at once with a
// ring. The error is ErrUnwritten, or the context's.
func (j *Journal) Wait(ctx context.Context, t Ticket) error { return nil }

// End records the outcome of a decision, before its answer goes to the client. Result are
// the bytes of the server's result, read before End returns; Took, ResultDigest and
// ResultSize of o are set by End. With ErrUnwritten the answer must not go.
func (j *Journal) End(t Ticket, o audit.Outcome, result []byte) error { return nil }

// Note records what is no request: its Time, Run and N are set by Note.
func (j *Journal) Note(r *audit.Record) error { return nil }

// Ref returns the name of a record, for people and errors: "RUN-N", "" for the zero Ticket.
func (j *Journal) Ref(t Ticket) string { return "" }

// Health is how a Journal is.
type Health struct {
	// Err is why records cannot be written now, nil if they can.
	Err error
	// Records is how many were taken, Unwritten how many were not.
	Records, Unwritten uint64
	// Waiting is how many are not yet in the log.
	Waiting int
}

// Health returns how the journal is.
func (j *Journal) Health() Health { return Health{} }

// Run returns the name of the run.
func (j *Journal) Run() string { return j.run }

// Close records the end of the run, and returns when all records are in the log, or ctx
// ends: they stay in the ring then.
func (j *Journal) Close(ctx context.Context) error { return nil }
