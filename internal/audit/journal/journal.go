// Package journal takes the records of a running process from the path of calls to the log.
package journal

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/internal/audit"
)

// ErrUnwritten is that a record cannot be written, so that what it is about must not be
// done. Health says why.
var ErrUnwritten = errors.New("the audit log cannot be written")

// Log keeps records in order, for good. Its methods are called by one goroutine.
type Log interface {
	// Append adds a batch in one transaction, all of it or nothing, and returns the number
	// of its first record in the log.
	Append(ctx context.Context, b *audit.Batch) (first int64, err error)
	// State returns the State of the last batch of a run, nil for none.
	State(ctx context.Context, run string) ([]byte, error)
	// Checkpoint signs the log as it is now. It does nothing where that has been done.
	Checkpoint(ctx context.Context) (note []byte, err error)
}

// Options are settings of a Journal.
type Options struct {
	// Log is where records go.
	Log Log
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
	// Redact takes secrets out: what has the form of one, and what Clean knows.
	Redact bool
	// Clean takes the secrets of the connections to a server for a principal out of arguments
	// or a result, which are JSON. With false they are not kept. One goroutine calls it. Nil:
	// none are known.
	Clean func(server, principal string, body []byte) (clean []byte, ok bool)
}

// Bounds of a journal.
const (
	// fileSlots are those of a ring that is a file, 8 MiB: more than half a second of calls
	// at full speed, should the log take that long. memorySlots are those of a ring whose
	// requests wait for the log.
	fileSlots   = 1 << 14
	memorySlots = 1 << 11
	// spaceWait is how long Wait waits for room in the ring.
	spaceWait = 50 * time.Millisecond
	// maxBody is how long arguments and results may be of which a body is kept; maxKept is
	// Bodies.Max where that is 0.
	maxBody   = 1 << 20
	maxBodies = 16 << 10
)

// Journal takes the records of one run. All methods may be called concurrently. A nil
// Journal takes none, and refuses nothing.
type Journal struct {
	o    Options
	run  string
	base time.Time // times since then are those of Ticket

	ring   *Ring
	blocks *Blocks
	// undigested has, for the place of each entry in the ring, what must not be in its file; a
	// undigested in the form of pack. bodies has those that are kept, instead; nil if none is.
	// They belong to who loads the undigested before and stores it after.
	undigested []atomic.Uint64
	bodies     []bodies
	// spare are slots that only outcomes may take.
	spare int

	closed    atomic.Bool
	unwritten atomic.Uint64
	w         *writer
}

// undigested are bytes whose digests an entry's record gets.
type undigested struct{ args, result Ref }

func (b undigested) pack() uint64 { return uint64(b.args)<<32 | uint64(b.result) }

func unpackUndigested(v uint64) undigested { return undigested{Ref(v >> 32), Ref(v)} } //nolint:gosec // its halves

// bodies are bytes of which the record gets digests, and the log bodies.
type bodies struct {
	args, result []byte
	of           owner
}

// owner is whose connections may have secrets that are in bodies.
type owner struct{ server, principal string }

// Open begins a run. What the rings of runs that have ended without Close still hold is
// appended first, and of decisions without an outcome that it is lost.
func Open(ctx context.Context, o Options) (*Journal, error) {
	o.Bodies.Max = cmp.Or(o.Bodies.Max, maxBodies)
	run := strings.ToLower(rand.Text()[:10])
	if o.Dir == "" {
		return begin(ctx, o, run, New(memorySlots))
	}
	if err := recoverRuns(ctx, &o); err != nil {
		return nil, fmt.Errorf("audit log: records of runs that have ended: %w", err)
	}
	slots := fileSlots
	if o.Durability != Process {
		slots = 0
	}
	r, err := CreateRing(ctx, o.Dir, run, slots, memorySlots)
	if err != nil {
		return nil, fmt.Errorf("audit log: %w", err)
	}
	return begin(ctx, o, run, r)
}

// begin begins a run with its ring, which is gone if that fails.
func begin(ctx context.Context, o Options, run string, r *Ring) (_ *Journal, err error) {
	defer func() {
		if err != nil {
			_ = r.Close(true) // nothing is in it
		}
	}()
	j := &Journal{o: o, run: run, base: time.Now(), ring: r, spare: r.Slots() / 4}
	if j.blocks, err = NewBlocks(); err != nil {
		return nil, fmt.Errorf("audit log: %w", err)
	}
	j.undigested = make([]atomic.Uint64, r.Slots())
	if o.Bodies.Of != nil {
		j.bodies = make([]bodies, r.Slots())
	}
	j.w = newWriter(j)
	if err := j.append(&audit.Record{Kind: audit.KindStart, Text: o.Version}, j.spare); err != nil {
		return nil, err
	}
	working, cancel := context.WithCancel(context.WithoutCancel(ctx))
	j.w.cancel = cancel
	go j.w.work(working)
	return j, nil
}

// Request is what is recorded of a request before anything of it is sent.
type Request struct {
	Kind      audit.Kind
	Principal audit.Principal
	Target    audit.Target
	Decision  audit.Decision
	// Arguments are the bytes that the server gets; they are read before Begin returns.
	Arguments []byte
}

// open reports whether an outcome is to come.
func (d *Request) open() bool { return passes(d.Decision.Verdict) }

func passes(verdict string) bool { return verdict == "" || verdict == audit.VerdictAllow }

// Ticket stands for a decision whose outcome is still to be recorded. The zero Ticket is of
// no record.
type Ticket struct {
	N          uint64
	place      uint32
	open       bool
	withBodies bool // its bodies
	of         owner
	began      time.Duration
}

// Begin records a decision. It does not wait, takes no lock and allocates nothing. With
// ErrUnwritten the request must not be sent. It may be tried again after Wait has returned
// nil for the zero Ticket. A decision whose verdict does not let the request pass is
// complete; of others End tells the outcome.
func (j *Journal) Begin(d *Request) (Ticket, error) {
	if j == nil {
		return Ticket{}, nil
	}
	if j.refuses() {
		return Ticket{}, j.drop()
	}
	now := time.Now()
	t := Ticket{began: now.Sub(j.base), open: d.open()}
	p := packed{time: micro(now)}
	p.texts[textKind] = string(d.Kind)
	p.principal(&d.Principal)
	p.what(&d.Target)
	p.said(&d.Decision)
	if t.withBodies = j.o.Bodies.Of != nil && j.o.Bodies.Of(d.Target.Server, d.Target.Item); t.withBodies {
		t.of = owner{d.Target.Server, d.Principal.ID}
	}
	var b undigested
	var body []byte
	if len(d.Arguments) > 0 {
		p.nums[numSize] = uint64(len(d.Arguments))
		b.args, body, p.texts[textDigest] = j.keep(d.Arguments, t.withBodies)
	}
	e, ok := j.claim(&p, b, bodies{args: body, of: t.of}, j.spare)
	if !ok {
		return Ticket{}, j.drop()
	}
	e.Publish(t.open)
	j.w.notify(e.N)
	t.N, t.place = e.N, e.Place
	return t, nil
}

func micro(t time.Time) uint64 { return uint64(max(0, t.UnixMicro())) }

// refuses reports whether decisions are refused.
func (j *Journal) refuses() bool {
	return j.closed.Load() || !j.o.Optional && j.w.failing.Load()
}

// drop counts a record that is not written where that does not matter, and says whether it
// does.
func (j *Journal) drop() error {
	if !j.o.Optional {
		return ErrUnwritten
	}
	j.unwritten.Add(1)
	return nil
}

// keep keeps bytes until the writer takes their digest. What is too long it digests now.
func (j *Journal) keep(data []byte, body bool) (ref Ref, copied []byte, digest string) {
	if body && len(data) <= maxBody {
		return 0, bytes.Clone(data), ""
	}
	if ref = j.blocks.Put(data); ref == 0 {
		digest = string(j.o.Digest(nil, data))
	}
	return ref, nil, digest
}

// claim puts an entry into the ring, but for its note, if that leaves spare slots.
func (j *Journal) claim(p *packed, b undigested, raw bodies, spare int) (Entry, bool) {
	size := p.size()
	e, ok := j.ring.Claim(size, spare)
	if !ok {
		j.blocks.Free(b.args)
		j.blocks.Free(b.result)
		return e, false
	}
	if j.bodies != nil {
		j.undigested[e.Place].Load()
		j.bodies[e.Place] = raw
	}
	j.undigested[e.Place].Store(b.pack())
	if buf := e.Space(); buf != nil {
		p.appendTo(buf[:0])
		return e, true
	}
	var buf []byte
	ref := j.blocks.Take(size)
	if ref != 0 {
		buf = j.blocks.Bytes(ref)
	}
	e.Add(p.appendTo(buf[:0]))
	j.blocks.Free(ref)
	return e, true
}

// done puts an entry with an outcome into the ring if that leaves spare slots.
func (j *Journal) done(p *packed, b undigested, raw bodies, o *audit.Outcome, spare int) bool {
	e, ok := j.claim(p, b, raw, spare)
	if !ok {
		return false
	}
	writeNote(e.Note(), o)
	e.Publish(false)
	j.w.notify(e.N)
	return true
}

// Waits reports whether records count only after Wait: requests that cannot wait must be
// served otherwise.
func (j *Journal) Waits() bool { return j != nil && j.o.Durability != Process }

// Wait returns when all records that were taken before outlive what the settings want them
// to outlive: at once for Process. Call it after Begin and after End. For the zero Ticket it
// returns when a decision that was refused may be tried again, after 50 milliseconds at most.
// The error is ErrUnwritten, or the context's. After a failure End is still to be called.
func (j *Journal) Wait(ctx context.Context, t Ticket) error {
	switch {
	case j == nil || t.N == 0 && j.o.Optional:
		return nil
	case t.N == 0:
		return j.waitForSpace(ctx)
	case !j.Waits():
		return nil
	}
	_, last := j.ring.Used()
	for {
		more := j.w.more.wait()
		switch {
		case j.w.written.Load() >= last:
			return nil
		case j.w.failing.Load() || j.w.ended():
			if j.o.Optional {
				return nil
			}
			return ErrUnwritten
		}
		select {
		case <-more:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (j *Journal) waitForSpace(ctx context.Context) error {
	timeout := time.NewTimer(spaceWait)
	defer timeout.Stop()
	for {
		more := j.w.more.wait()
		if used, _ := j.ring.Used(); !j.refuses() && used+MaxSize/SlotSize < j.ring.Slots()-j.spare {
			return nil
		}
		select {
		case <-more:
		case <-timeout.C:
			j.unwritten.Add(1)
			return ErrUnwritten
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// End records the outcome of a decision, before its answer goes to the client. Result are
// the bytes of the server's result, read before End returns; Took, ResultDigest and
// ResultSize of o are set by End. With ErrUnwritten the answer must not go. A second End of
// the same ticket must not be.
func (j *Journal) End(t Ticket, o audit.Outcome, result []byte) error {
	if j == nil || t.N == 0 || !t.open {
		return nil
	}
	o.Took, o.ResultSize = time.Since(j.base)-t.began, int64(len(result))
	var b undigested
	var body []byte
	var digest string
	if len(result) > 0 {
		b.result, body, digest = j.keep(result, t.withBodies)
	}
	if digest == "" {
		if note, ok := j.ring.Amend(t.N, t.place); ok {
			b.args = unpackUndigested(j.undigested[t.place].Load()).args
			if body != nil {
				j.bodies[t.place].result = body
			}
			j.undigested[t.place].Store(b.pack())
			writeNote(note, &o)
			j.ring.Seal(t.N, t.place)
			return nil
		}
	}
	p := packed{time: micro(time.Now())}
	p.texts[textKind], p.texts[textResult] = string(audit.KindDone), digest
	p.nums[numOf] = t.N
	if j.closed.Load() {
		j.blocks.Free(b.result)
		return j.drop()
	}
	if !j.done(&p, b, bodies{result: body, of: t.of}, &o, 0) {
		return j.drop()
	}
	return nil
}

// Append records what is no request: its Time, Run and N are set here.
func (j *Journal) Append(r *audit.Record) error {
	if j == nil {
		return nil
	}
	if !j.closed.Load() {
		if err := j.append(r, j.spare); err == nil {
			return nil
		}
	}
	j.unwritten.Add(1)
	if j.o.Optional {
		return nil
	}
	return ErrUnwritten
}

func (j *Journal) append(r *audit.Record, spare int) error {
	p := packed{time: micro(time.Now())}
	p.texts[textKind], p.texts[textText] = cut(string(r.Kind), maxShort), cut(r.Text, maxLong)
	p.texts[textDigest], p.texts[textResult] = cut(r.Arguments.Digest, maxShort), cut(r.Outcome.ResultDigest, maxShort)
	p.nums = [nums]uint64{numOf: r.Of, numSize: uint64(max(0, r.Arguments.Size)), numCount: uint64(max(0, r.Count))}
	p.principal(&r.Principal)
	p.what(&r.Target)
	p.said(&r.Decision)
	if !j.done(&p, undigested{}, bodies{}, &r.Outcome, spare) {
		return ErrUnwritten
	}
	return nil
}

// Ref returns the name of a record, for people and errors: "RUN-N", "" for the zero Ticket.
func (j *Journal) Ref(t Ticket) string {
	if j == nil || t.N == 0 {
		return ""
	}
	return fmt.Sprintf("%s-%d", j.run, t.N)
}

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
func (j *Journal) Health() Health {
	if j == nil {
		return Health{}
	}
	written := j.w.written.Load()
	_, last := j.ring.Used()
	return Health{Err: j.w.health(), Records: last, Unwritten: j.unwritten.Load(), Waiting: int(last - written)} //nolint:gosec // at most as many as there are slots
}

// Run returns the name of the run, "" for nil.
func (j *Journal) Run() string {
	if j == nil {
		return ""
	}
	return j.run
}

// Close records the end of the run, and returns when all records are in the log, or ctx
// ends: they stay in the ring then, if it is a file. Requests that are not over get the
// outcome lost.
func (j *Journal) Close(ctx context.Context) error {
	if j == nil || j.closed.Swap(true) {
		return nil
	}
	err := j.w.close(ctx)
	if rerr := j.ring.Close(err == nil); err == nil && rerr != nil {
		err = rerr
	}
	if err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	return nil
}
