package workers_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/mcpctl/mcpctl/internal/workers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestPoolRunsAll: everything that was taken runs, once, also beyond what is kept
// idle, and Close waits for it.
func TestPoolRunsAll(t *testing.T) {
	var p workers.Pool
	var ran atomic.Int64
	var sent sync.WaitGroup
	for range 8 {
		sent.Go(func() {
			for range 500 {
				if !p.Go(func() { ran.Add(1) }) {
					t.Error("refused")
				}
			}
		})
	}
	sent.Wait()
	block := make(chan struct{})
	for range 200 {
		p.Go(func() {
			<-block
			ran.Add(1)
		})
	}
	close(block)
	p.Close()
	if got := ran.Load(); got != 4200 {
		t.Errorf("%d have run, want 4200", got)
	}
	if p.Go(func() { t.Error("runs after the end") }) {
		t.Error("taken after the end")
	}
}

// TestPoolWorkBegetsWork: work may give work, also while the pool is closed.
func TestPoolWorkBegetsWork(t *testing.T) {
	var p workers.Pool
	inner := make(chan bool)
	p.Go(func() {
		p.Go(func() { inner <- true })
	})
	<-inner
	p.Refuse()
	p.Close()
}
