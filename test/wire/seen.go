package wire

import (
	"context"
	"sync"
	"testing"

	"github.com/mcpctl/mcpctl/internal/audit"
)

// Seen are calls that others have seen, by the trace ids that they had: those that a backend
// got, and those whose answer a client got. The zero value has none. Its methods may be called
// concurrently.
type Seen struct {
	mu              sync.Mutex // guards what follows
	backend, client map[string]bool
}

// Backend notes that a backend got a call.
func (s *Seen) Backend(id string) { s.note(&s.backend, id) }

// Client notes that a client got the answer of a call.
func (s *Seen) Client(id string) { s.note(&s.client, id) }

func (s *Seen) note(by *map[string]bool, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if *by == nil {
		*by = map[string]bool{}
	}
	(*by)[id] = true
}

// Count returns how many calls backends and clients have seen.
func (s *Seen) Count() (backend, client int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.backend), len(s.client)
}

// Compare fails the test where the records of an audit log, from a number on, are not as they
// must be: the numbers of each run dense, one decision and one outcome for each call, and none
// missing of what others have seen.
func (s *Seen) Compare(t testing.TB, log interface {
	Read(ctx context.Context, from, to int64, each func(n int64, record []byte) error) error
}, from int64,
) {
	t.Helper()
	type name struct {
		run string
		n   uint64
	}
	ids, outs, last := map[name]string{}, map[string]string{}, map[string]uint64{}
	err := log.Read(t.Context(), from, 0, func(_ int64, raw []byte) error {
		r, err := audit.Parse(raw)
		if err != nil {
			return err
		}
		if before, known := last[r.Run]; known && r.N != before+1 || !known && r.N != 1 {
			t.Errorf("run %s: record %d after %d", r.Run, r.N, before)
		}
		last[r.Run] = r.N
		switch id := r.Target.Trace; r.Kind { //nolint:exhaustive // others have no outcome
		case audit.KindCall:
			if _, twice := outs[id]; twice {
				t.Errorf("call %s has two decisions", id)
			}
			ids[name{r.Run, r.N}], outs[id] = id, r.Outcome.Out
		case audit.KindDone:
			if id = ids[name{r.Run, r.Of}]; id == "" || outs[id] != "" {
				t.Errorf("call %q, %s-%d, has two outcomes, or no decision: %s", id, r.Run, r.N, outs[id])
			}
			outs[id] = r.Outcome.Out
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for id := range s.backend {
		if _, ok := outs[id]; !ok {
			t.Errorf("a backend got call %s, whose decision is not in the log", id)
		}
	}
	for id := range s.client {
		if outs[id] != audit.OutOK {
			t.Errorf("a client got the answer of call %s, whose outcome is %q in the log", id, outs[id])
		}
	}
	for id, out := range outs {
		if out == "" {
			t.Errorf("call %s has no outcome", id)
		}
	}
}
