package gateway

import (
	"fmt"
	"sync"
	"testing"

	"github.com/mcpctl/mcpctl/internal/access"
)

func TestBook(t *testing.T) {
	t.Parallel()
	b := NewVisitorBook()
	alice, bob := &access.Principal{ID: "token|alice", Name: "alice"}, &access.Principal{ID: "token|bob", Name: "bob"}
	n := 0
	later := &access.Principal{ID: "token|alice", Name: "Alice"} // by another credential
	for _, who := range []*access.Principal{alice, bob, alice, later} {
		if n++; b.Came(who) != (n <= 2) {
			t.Errorf("request %d: seen first %v", n, n > 2)
		}
	}
	for _, reason := range []string{"none", "unknown", "none"} {
		b.Refused(reason)
	}
	recent, all := b.Visitors()
	if all != 2 || recent[0].Name != "Alice" || recent[0].Requests != 3 || recent[1].ID != "token|bob" || recent[1].Requests != 1 {
		t.Errorf("got %+v", recent)
	}
	if got := fmt.Sprint(b.Refusals()); got != "map[none:2 unknown:1]" {
		t.Errorf("got %s", got)
	}
}

// TestBounds: who comes often stays, and reasons do not fill memory.
func TestBounds(t *testing.T) {
	t.Parallel()
	b := NewVisitorBook()
	often := &access.Principal{ID: "often"}
	for i := range 2 * maxVisitors {
		b.Came(&access.Principal{ID: fmt.Sprint(i)})
		b.Came(often)
		b.Refused(fmt.Sprint(i))
	}
	recent, n := b.Visitors()
	if n != maxVisitors || len(recent) != maxShown || recent[0].ID != "often" || recent[0].Requests != 2*maxVisitors {
		t.Errorf("got %d of %d, %+v", len(recent), n, recent[0])
	}
	if got := b.Refusals(); len(got) != maxReasons+1 || got["other"] != 2*maxVisitors-maxReasons {
		t.Errorf("got %d reasons, %d others", len(got), got["other"])
	}
}

// TestConcurrent: no request is lost.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	b := NewVisitorBook()
	var work sync.WaitGroup
	for range 4 {
		work.Go(func() {
			for i := range 500 {
				b.Came(&access.Principal{ID: fmt.Sprint(i % 10)})
				b.Visitors()
			}
		})
	}
	work.Wait()
	recent, _ := b.Visitors()
	var all uint64
	for _, v := range recent {
		all += v.Requests
	}
	if all != 2000 {
		t.Errorf("got %d", all)
	}
}

func TestAllocates(t *testing.T) {
	b := NewVisitorBook()
	who := &access.Principal{ID: "token|alice"}
	b.Came(who)
	if n := testing.AllocsPerRun(100, func() { b.Came(who) }); n > 0 {
		t.Errorf("got %v allocations", n)
	}
}
