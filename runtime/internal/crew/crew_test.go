package crew_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/mcpctl/mcpctl/runtime/internal/crew"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestCrewRunsAll: everything that was taken runs, once, also beyond what is kept
// idle, and Close waits for it.
func TestCrewRunsAll(t *testing.T) {
	var c crew.Crew
	var ran atomic.Int64
	var sent sync.WaitGroup
	for range 8 {
		sent.Go(func() {
			for range 500 {
				if !c.Go(func() { ran.Add(1) }) {
					t.Error("refused")
				}
			}
		})
	}
	sent.Wait()
	block := make(chan struct{})
	for range 200 {
		c.Go(func() {
			<-block
			ran.Add(1)
		})
	}
	close(block)
	c.Close()
	if got := ran.Load(); got != 4200 {
		t.Errorf("%d have run, want 4200", got)
	}
	if c.Go(func() { t.Error("runs after the end") }) {
		t.Error("taken after the end")
	}
}

// TestCrewWorkBegetsWork: work may give work, also while the crew is closed.
func TestCrewWorkBegetsWork(t *testing.T) {
	var c crew.Crew
	inner := make(chan bool)
	c.Go(func() {
		c.Go(func() { inner <- true })
	})
	<-inner
	c.Refuse()
	c.Close()
}
