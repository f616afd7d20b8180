package journal

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/mcpctl/mcpctl/internal/access/guards"
	"github.com/mcpctl/mcpctl/internal/audit"
)

// batch are records on their way to the log. Its memory is used again.
type batch struct {
	o *Options
	b audit.Batch
	// text are the records, one after the other; ends says where each of them ends.
	text []byte
	ends []int
	// last is the number of the last record, open are the decisions without an outcome up to
	// there, in order.
	last uint64
	open []uint64
	// stopped is that the run is over, and nothing of it can be found anywhere else.
	stopped bool

	buf     []byte         // of an entry
	digests [2][]byte      // of the arguments and of the result of a record
	clean   *guards.Guards // of bodies, nil for none
	unpacker
}

func (b *batch) len() int { return len(b.ends) }

// reset empties the batch, and keeps what is known of the run.
func (b *batch) reset() {
	b.text, b.ends, b.b.Bodies = b.text[:0], b.ends[:0], b.b.Bodies[:0]
	b.b.Sign, b.b.Signed = false, false
}

// sources are the bytes whose digests a record gets.
type sources struct {
	undigested
	bodies

	blocks *Blocks
}

// add adds an entry. The bytes that its digests are of are nil if they went with their
// process.
func (b *batch) add(it *Item, with *sources) {
	var r audit.Record
	if !b.unpacker.record(it, &r) {
		b.torn(it.N)
		return
	}
	if with != nil {
		if d := b.digestOf(with, false, r.Arguments.Size); d != "" {
			r.Arguments.Digest = d
		}
		if d := b.digestOf(with, true, r.Outcome.ResultSize); d != "" {
			r.Outcome.ResultDigest = d
		}
	}
	if r.Arguments.Size > 0 && r.Arguments.Digest == "" {
		r.Arguments.Digest = audit.Lost
	}
	if r.Outcome.ResultSize > 0 && r.Outcome.ResultDigest == "" {
		r.Outcome.ResultDigest = audit.Lost
	}
	if it.Open {
		b.open = append(b.open, it.N)
	}
	b.record(&r)
}

// torn adds a record for an entry that is no record.
func (b *batch) torn(n uint64) {
	b.record(&audit.Record{
		N: n, Time: time.Now(), Kind: audit.KindGap, Count: 1, Text: "cut off when the process ended",
	})
}

// lost adds the outcome of a decision that has none, after the run has ended.
func (b *batch) lost(of uint64) {
	b.record(&audit.Record{
		N: b.last + 1, Time: time.Now(), Kind: audit.KindDone, Of: of, Outcome: audit.Outcome{Out: audit.OutLost},
	})
}

// record adds a record of the run.
func (b *batch) record(r *audit.Record) {
	if r.Kind == audit.KindDone {
		if i, ok := slices.BinarySearch(b.open, r.Of); ok {
			b.open = slices.Delete(b.open, i, i+1)
		}
	}
	if r.Kind == audit.KindStop {
		b.stopped = b.o.Dir == "" || b.o.Durability != Process
		b.b.Sign = true // nothing comes after it
	}
	r.Run = b.b.Run
	b.text = r.Append(b.text)
	b.ends = append(b.ends, len(b.text))
	b.last = r.N
}

// digestOf returns the digest of the arguments or the result: of size bytes in a block, or of
// a body, which is kept; "" for neither. It is good until that of the next record is made.
func (b *batch) digestOf(with *sources, result bool, size int64) string {
	dst, ref, body := &b.digests[0], with.undigested.args, with.bodies.args
	if result {
		dst, ref, body = &b.digests[1], with.undigested.result, with.bodies.result
	}
	switch {
	case ref != 0:
		*dst = b.o.Digest((*dst)[:0], with.blocks.Bytes(ref)[:size])
		with.blocks.Free(ref)
	case body != nil:
		*dst = b.o.Digest((*dst)[:0], body)
		b.keep(body, string(*dst), result, with.of)
	default:
		return ""
	}
	return textOf(*dst)
}

// keep keeps a body of the record that is added next. What cannot be looked through for
// secrets is not kept.
func (b *batch) keep(body []byte, digest string, result bool, of owner) {
	if b.clean != nil {
		ok := json.Valid(body) // else it would be looked through in part
		if ok && b.o.Bodies.Clean != nil {
			body, ok = b.o.Bodies.Clean(of.server, of.principal, body)
		}
		if !ok {
			return
		}
		var err error
		if body, _, err = b.clean.Clean(body); err != nil {
			return
		}
	}
	one := audit.Body{Record: b.len(), Digest: digest, Result: result, Data: body}
	if n := b.o.Bodies.Max; len(body) > n {
		for n > 0 && !utf8.RuneStart(body[n]) {
			n--
		}
		one.Data, one.Cut = body[:n], true
	}
	b.b.Bodies = append(b.b.Bodies, one)
}

// seal returns the batch for the log.
func (b *batch) seal() *audit.Batch {
	b.b.Records = b.b.Records[:0]
	from := 0
	for _, end := range b.ends {
		b.b.Records = append(b.b.Records, b.text[from:end:end])
		from = end
	}
	b.b.State = b.state(b.b.State[:0])
	return &b.b
}

// state returns what is kept for the process that comes after this one, if it is cut off:
// the number of the last record, and of the decisions without an outcome, each as the
// distance from the one before. After a stop it is nothing.
func (b *batch) state(dst []byte) []byte {
	if b.stopped {
		return nil
	}
	dst = binary.AppendUvarint(dst, b.last)
	before := uint64(0)
	for _, n := range b.open {
		dst = binary.AppendUvarint(dst, n-before)
		before = n
	}
	return dst
}

func readState(state []byte) (last uint64, open []uint64) {
	last, n := binary.Uvarint(state)
	at := uint64(0)
	for n > 0 {
		state = state[n:]
		var step uint64
		if step, n = binary.Uvarint(state); n > 0 {
			at += step
			open = append(open, at)
		}
	}
	return last, open
}

// isIn reports whether the log has the batch already.
func (b *batch) isIn(ctx context.Context, k Log) bool {
	state, err := k.State(ctx, b.b.Run)
	if err != nil || state == nil {
		return false
	}
	last, _ := readState(state)
	return last >= b.last
}
