package journal_test

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/internal/audit/journal"
)

// memory is a Keeper that is a slice.
type memory struct {
	mu          sync.Mutex
	err         error        // of everything
	unsigned    error        // of Checkpoint, and of signing in Append
	timeout     error        // of Append, after the batch is in
	delay       atomic.Int64 // of Append, in nanoseconds
	records     [][]byte
	bodies      []audit.Body
	batches     int
	syncs       int
	states      map[string][]byte
	checkpoints []int // how many records each had
}

func (m *memory) Append(ctx context.Context, b *audit.Batch) (int64, error) {
	if d := time.Duration(m.delay.Load()); d > 0 {
		time.Sleep(d)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return 0, m.err
	}
	first := len(m.records)
	for _, r := range b.Records {
		m.records = append(m.records, slices.Clone(r))
	}
	for _, body := range b.Bodies {
		body.Record += first
		body.Data = slices.Clone(body.Data)
		m.bodies = append(m.bodies, body)
	}
	if m.states == nil {
		m.states = make(map[string][]byte)
	}
	if b.State == nil {
		delete(m.states, b.Run)
	} else {
		m.states[b.Run] = slices.Clone(b.State)
	}
	m.batches++
	if b.Sync {
		m.syncs++
	}
	if b.Signed = b.Sign && m.unsigned == nil; b.Signed {
		m.checkpoints = append(m.checkpoints, len(m.records))
	}
	return int64(first), m.timeout
}

func (m *memory) State(_ context.Context, run string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.states[run], m.err
}

func (m *memory) Checkpoint(context.Context) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := cmp.Or(m.err, m.unsigned); err != nil {
		return nil, err
	}
	m.checkpoints = append(m.checkpoints, len(m.records))
	return nil, nil
}

func (m *memory) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.err = err
}

// all returns the records there are.
func (m *memory) all(t testing.TB) []audit.Record {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []audit.Record
	for _, b := range m.records {
		r, err := audit.Parse(b)
		if err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		all = append(all, r)
	}
	return all
}

// dense reports holes and doubles in the numbers of each run.
func dense(t testing.TB, all []audit.Record) {
	t.Helper()
	last := make(map[string]uint64)
	for _, r := range all {
		if r.N != last[r.Run]+1 {
			t.Fatalf("run %s: record %d after %d: %+v", r.Run, r.N, last[r.Run], r)
		}
		last[r.Run] = r.N
	}
}

func digest(dst, b []byte) []byte {
	h := hmac.New(sha256.New, []byte("key"))
	h.Write(b)
	return base64.RawURLEncoding.AppendEncode(append(dst, "hmac:"...), h.Sum(nil))
}

func open(t testing.TB, o journal.Options) *journal.Journal {
	t.Helper()
	if o.Digest == nil {
		o.Digest = digest
	}
	j, err := journal.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = j.Close(ctx)
	})
	return j
}

func closed(t testing.TB, j *journal.Journal) {
	t.Helper()
	if err := j.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// call is a decision of a usual size.
func call(args string) *journal.Request {
	return &journal.Request{
		Kind: audit.KindCall,
		Principal: audit.Principal{
			ID: "https://idp.example|8f3a", Name: "alice@example.com", Groups: []string{"dev"}, Client: "claude/2.1", Via: "jwt", Flow: "k3f9aaaa",
		},
		Target: audit.Target{
			Server: "gh", Item: "create_issue", Era: "2026-07-28",
			Definition: "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
		},
		Decision: audit.Decision{
			Verdict: audit.VerdictAllow, By: []string{"rule-1"},
			Generation: "sha256:486ea46224d1bb4fb680f34f7c9ad96a8f24ec88be73ea8e5a6c65260e9cb8a7", Seen: []string{"untrusted"},
		},
		Arguments: []byte(args),
	}
}

// none is a Keeper that keeps nothing. Batches wait while gate is locked; taken hears of each
// before it waits.
type none struct {
	gate  *sync.Mutex
	taken chan struct{}
}

func (k none) Append(context.Context, *audit.Batch) (int64, error) {
	select {
	case k.taken <- struct{}{}:
	default:
	}
	k.gate.Lock()
	defer k.gate.Unlock()
	return 0, nil
}
func (none) State(context.Context, string) ([]byte, error)       { return nil, nil }
func (none) Checkpoint(context.Context) (note []byte, err error) { return nil, nil }
