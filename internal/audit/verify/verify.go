// Package verify finds out what is wrong with an audit log. It needs the bytes of the log and
// the public key, and computes all hashes again: the stored ones only help to say which record
// was changed.
package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/note"

	"github.com/mcpctl/mcpctl/internal/audit/logfile"
	"github.com/mcpctl/mcpctl/internal/audit/merkle"
)

// Kind is a kind of finding.
type Kind string

// Kinds of findings.
const (
	// Changed, Missing, Inserted and Reordered are of records: others stand there than those
	// that were signed.
	Changed   Kind = "changed"
	Missing   Kind = "missing"
	Inserted  Kind = "inserted"
	Reordered Kind = "reordered"
	// Inconsistent is that the records are others than those that were signed, and that
	// their stored hashes were changed, too, so that only their range is known.
	Inconsistent Kind = "inconsistent"
	// Short is that the log has fewer records than were signed, or than a known checkpoint
	// has.
	Short Kind = "short"
	// Hole is that a record of a run is missing by its number there, Twice that a number is
	// there again.
	Hole  Kind = "hole"
	Twice Kind = "twice"
	// Unreadable is that a text was signed that is not a record.
	Unreadable Kind = "unreadable"
	// Hashes is that stored hashes were changed, and Segment that what the log says of a
	// segment is not as its records are: nothing of records.
	Hashes  Kind = "hashes"
	Segment Kind = "segment"
	// Unsigned is that a checkpoint, or the newest records, are not signed by the key.
	Unsigned Kind = "unsigned"
	// Damaged is that the file cannot be read from here on.
	Damaged Kind = "damaged"
	// Pruned and Clock are remarks: records that were removed by retention, with a record
	// of it, and a clock that was set back.
	Pruned Kind = "pruned"
	Clock  Kind = "clock"
)

// Finding is something that is wrong with a log.
type Finding struct {
	// Kind is what it is.
	Kind Kind `json:"kind"`
	// First and Last are the records that it is about; -1 for none.
	First int64 `json:"first"`
	Last  int64 `json:"last"`
	// Text says it in a sentence.
	Text string `json:"text"`
}

// Report is what is known of a log.
type Report struct {
	// Origin names the log; "" if it has no checkpoint.
	Origin string `json:"origin"`
	// Size is how many records were ever added, Oldest the number of the first one that is
	// still there.
	Size   int64 `json:"size"`
	Oldest int64 `json:"oldest"`
	// Signed is the number of records of the newest checkpoint with a good signature.
	Signed int64 `json:"signed"`
	// Checkpoints is how many checkpoints there are, Runs how many runs.
	Checkpoints int `json:"checkpoints"`
	Runs        int `json:"runs"`
	// Findings are what is wrong, in the order of the records; More is how many there are
	// beside these.
	Findings []Finding `json:"findings"`
	More     int       `json:"more,omitempty"`
	// Remarks are what is to be known, and not wrong.
	Remarks []Finding `json:"remarks,omitempty"`
}

// Options say what a log is verified with.
type Options struct {
	// Keys are verifier keys, as `mcpctl audit key` prints them; at least one. Keys that
	// have replaced them, or that they have replaced, are found by the records of that.
	Keys []string
	// Since are checkpoints that left the log's disk: it must begin with each of them.
	Since [][]byte
	// Most bounds the findings of a report; zero is 1,000.
	Most int
}

// MaxUnsigned is how many of the newest records may be without a checkpoint: it comes every
// thousand, or each minute.
const MaxUnsigned = 4096

// ErrKey is that a text is not a verifier key.
var ErrKey = errors.New("the key cannot be read: it is the line that `mcpctl audit key` prints")

// Log verifies a log as it is now. The error is about the options, or the context's: what
// is wrong with the log is in the report.
func Log(ctx context.Context, l *logfile.Log, o Options) (*Report, error) {
	c, err := newChecker(o)
	if err != nil {
		return nil, err
	}
	err = l.Snapshot(ctx, func(r *logfile.Reader) error { return c.log(ctx, r) })
	if ctxErr := ctx.Err(); ctxErr != nil {
		return nil, ctxErr
	}
	if err != nil {
		c.find(Damaged, c.tree.stored.Size(), -1, "the log cannot be read from record %d on: %v", c.tree.stored.Size(), err)
	}
	return c.finish(), nil
}

// File verifies the log at a path. That the file is damaged so that it cannot be opened is a
// finding, that there is none an error.
func File(ctx context.Context, path string, o Options) (*Report, error) {
	l, err := logfile.OpenReadOnly(ctx, path)
	if damaged, ok := errors.AsType[*logfile.Error](err); ok && errors.Is(err, logfile.ErrDamaged) {
		if _, err := verifiersOf(o.Keys); err != nil {
			return nil, err
		}
		return &Report{Findings: []Finding{{Damaged, -1, -1, fmt.Sprintf("%s: %v", damaged.Path, damaged.Err)}}}, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = l.Close() }() // nothing is written
	return Log(ctx, l, o)
}

// Proof verifies what [merkle.Proof.Text] writes, and returns it and its checkpoint.
func Proof(text []byte, keys []string) (*merkle.Proof, merkle.Checkpoint, error) {
	verifiers, err := verifiersOf(keys)
	if err != nil {
		return nil, merkle.Checkpoint{}, err
	}
	p, err := merkle.ParseProof(text)
	if err != nil {
		return nil, merkle.Checkpoint{}, err
	}
	c, err := p.Check(verifiers...)
	return p, c, err
}

func verifiersOf(keys []string) ([]note.Verifier, error) {
	var list []note.Verifier
	for _, k := range keys {
		v, err := note.NewVerifier(k)
		if err != nil {
			return nil, fmt.Errorf("%w: %q", ErrKey, k)
		}
		list = append(list, v)
	}
	if len(list) == 0 {
		return nil, ErrKey
	}
	return list, nil
}

// find adds a finding.
func (c *checker) find(kind Kind, first, last int64, format string, args ...any) {
	if len(c.report.Findings) >= c.most {
		c.report.More++
		return
	}
	c.report.Findings = append(c.report.Findings, Finding{kind, first, last, fmt.Sprintf(format, args...)})
}

// findEach adds findings of records, one for each row of numbers. The text begins with
// "record 1" or "records 1 to 3".
func (c *checker) findEach(kind Kind, numbers []int64, one, many string) {
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	for len(numbers) > 0 {
		n := 1
		for n < len(numbers) && numbers[n] == numbers[0]+int64(n) {
			n++
		}
		c.findRange(kind, numbers[0], numbers[n-1], one, many)
		numbers = numbers[n:]
	}
}

func (c *checker) findRange(kind Kind, first, last int64, one, many string) {
	if first == last {
		c.find(kind, first, last, "record %d %s", first, one)
		return
	}
	c.find(kind, first, last, "records %d to %d %s", first, last, many)
}

func (c *checker) remark(kind Kind, first, last int64, format string, args ...any) {
	if len(c.report.Remarks) < c.most {
		c.report.Remarks = append(c.report.Remarks, Finding{kind, first, last, fmt.Sprintf(format, args...)})
	}
}
