package finder_test

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/internal/results"
	"github.com/mcpctl/mcpctl/internal/views"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/finder"
)

var ownerOf = finder.ResultOwner{Who: "alice", View: new(views.View)}

// TestBound: of 10,000 large results those are kept that came last, within the bound of memory;
// one that is too large is not.
func TestBound(t *testing.T) {
	const size = 100 << 10
	var s finder.ResultCache
	defer s.Close()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var ids []string
	for range 10_000 {
		id, ok := s.Put(finder.StoredResult{Owner: ownerOf, Texts: results.Texts{make([]byte, size)}})
		if !ok {
			t.Fatal("it is not kept")
		}
		ids = append(ids, id)
		if n := s.Size(); n > finder.MaxAll {
			t.Fatalf("%d bytes are kept", n)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if used := int64(after.HeapAlloc) - int64(before.HeapAlloc); used > finder.MaxAll*11/10 {
		t.Errorf("%d bytes are used", used)
	}
	there := 0
	for i, id := range ids {
		if is := s.Get(ownerOf, id) != nil; is {
			there++
		} else if i > len(ids)-finder.MaxAll/size*9/10 {
			t.Errorf("%d is gone", i)
		}
	}
	if there < finder.MaxAll/size*9/10 || s.Get(ownerOf, ids[0]) != nil {
		t.Errorf("%d are kept", there)
	}
	if _, ok := s.Put(finder.StoredResult{Owner: ownerOf, Texts: results.Texts{make([]byte, finder.MaxOne)}}); ok || s.Get(ownerOf, ids[len(ids)-1]) == nil {
		t.Error("one that is too large is kept, or took the place of others")
	}
	many := make(results.Texts, 1<<20) // each empty
	if _, ok := s.Put(finder.StoredResult{Owner: ownerOf, Texts: many}); ok {
		t.Error("texts count by their bytes alone")
	}
	s.Close()
	if s.Size() != 0 || s.Get(ownerOf, ids[len(ids)-1]) != nil {
		t.Error("something is kept")
	}
}

// TestShare: whoever keeps the most makes room; what others keep stays.
func TestShare(t *testing.T) {
	var s finder.ResultCache
	defer s.Close()
	put := func(who string, size int) string {
		t.Helper()
		id, ok := s.Put(finder.StoredResult{Owner: finder.ResultOwner{Who: who}, Texts: results.Texts{make([]byte, size)}})
		if !ok {
			t.Fatal("it is not kept")
		}
		return id
	}
	has := func(who, id string) bool { return s.Get(finder.ResultOwner{Who: who}, id) != nil }
	alice := put("alice", 4<<20)
	first := put("bob", 4<<20)
	var last string
	for range 40 {
		last = put("bob", 4<<20)
	}
	if !has("alice", alice) || has("bob", first) || !has("bob", last) {
		t.Errorf("after bob's: alice's %v, bob's first %v, bob's last %v", has("alice", alice), has("bob", first), has("bob", last))
	}
	second := put("alice", 4<<20)
	if !has("alice", alice) || !has("alice", second) || !has("bob", last) {
		t.Error("alice has no room beside bob's")
	}
	for i := range 100 {
		put(fmt.Sprint("one of many ", i), 4<<20)
	}
	if n := s.Size(); n > finder.MaxAll {
		t.Errorf("%d bytes are kept", n)
	}
}

// TestOwner: a result is its owner's alone, and an id is not to be guessed.
func TestOwner(t *testing.T) {
	var s finder.ResultCache
	defer s.Close()
	texts := results.Texts{[]byte("canary")}
	id, _ := s.Put(finder.StoredResult{Owner: ownerOf, Texts: texts, Most: 7, Tool: "t"})
	other, _ := s.Put(finder.StoredResult{Owner: ownerOf, Texts: texts})
	if r := s.Get(ownerOf, id); r == nil || !bytes.Equal(r.Texts[0], texts[0]) || r.Most != 7 || r.Tool != "t" || id == other || len(id) < 26 {
		t.Errorf("got %+v of %s", r, id)
	}
	for _, o := range []finder.ResultOwner{{}, {Who: "bob", View: ownerOf.View}, {Who: ownerOf.Who}, {Who: ownerOf.Who, View: new(views.View)}} {
		if s.Get(o, id) != nil && o != ownerOf {
			t.Errorf("%+v has it", o)
		}
	}
	for _, unknown := range []string{"", strings.ToUpper(id), id + "a", finder.ResultURI(id)} {
		if s.Get(ownerOf, unknown) != nil {
			t.Errorf("%s is known", unknown)
		}
	}
	if got, ok := finder.ResultID(finder.ResultURI(id)); !ok || got != id {
		t.Errorf("got %s", got)
	}
	if _, ok := finder.ResultID("file:///" + id); ok {
		t.Error("another URI is one of a result")
	}
}

// TestLife: a result is gone after its time, and nothing is left of it.
func TestLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s finder.ResultCache
		first, _ := s.Put(finder.StoredResult{Owner: ownerOf, Texts: results.Texts{[]byte("a")}})
		time.Sleep(finder.TTL / 2)
		second, _ := s.Put(finder.StoredResult{Owner: ownerOf, Texts: results.Texts{[]byte("b")}})
		time.Sleep(finder.TTL/2 - 1)
		if s.Get(ownerOf, first) == nil {
			t.Error("it is gone too early")
		}
		size := s.Size()
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if s.Get(ownerOf, first) != nil || s.Get(ownerOf, second) == nil || s.Size() != size/2 {
			t.Error("it is still there, or the other is gone")
		}
		time.Sleep(finder.TTL / 2)
		synctest.Wait()
		if s.Get(ownerOf, second) != nil || s.Size() != 0 {
			t.Errorf("%d bytes are left", s.Size())
		}
	})
}

// TestTask: what a task has come to is kept once for each owner, and as long as it is asked for; if it changes, what it
// was leaves.
func TestTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s finder.ResultCache
		put := func(o finder.ResultOwner, task, text string) string {
			id, ok := s.Put(finder.StoredResult{Owner: o, Task: task, Texts: results.Texts{[]byte(text)}})
			if !ok {
				t.Fatal("it is not kept")
			}
			return id
		}
		id := put(ownerOf, "t", "a")
		size := s.Size()
		time.Sleep(finder.TTL / 2)
		other, another := put(ownerOf, "u", "a"), put(finder.ResultOwner{Who: "bob", View: ownerOf.View}, "t", "a")
		if again := put(ownerOf, "t", "a"); again != id || s.Size() != 3*size || other == id || another == id {
			t.Errorf("got %s, want %s; %d bytes", again, id, s.Size())
		}
		time.Sleep(finder.TTL / 2)
		if s.Get(ownerOf, id) == nil {
			t.Error("it is gone too early")
		}
		changed := put(ownerOf, "t", "b")
		if r := s.Get(ownerOf, changed); r == nil || string(r.Texts[0]) != "b" || s.Get(ownerOf, id) != nil || s.Size() != 3*size {
			t.Errorf("got %+v, %d bytes", r, s.Size())
		}
		if first := put(ownerOf, "", "a"); put(ownerOf, "", "a") == first || s.Size() != 5*size {
			t.Error("results without a task are one")
		}
		time.Sleep(finder.TTL)
		synctest.Wait()
		if s.Size() != 0 || put(ownerOf, "t", "b") == changed {
			t.Errorf("%d bytes are left", s.Size())
		}
		s.Close()
		if put(ownerOf, "t", "b"); s.Size() != size {
			t.Errorf("%d bytes are kept", s.Size())
		}
		s.Close()
	})
}

// TestTogether: many at once.
func TestTogether(t *testing.T) {
	var s finder.ResultCache
	defer s.Close()
	var crowd sync.WaitGroup
	for i := range 8 {
		o := finder.ResultOwner{Who: fmt.Sprint(i)}
		crowd.Go(func() {
			for range 200 {
				id, ok := s.Put(finder.StoredResult{Owner: o, Texts: results.Texts{make([]byte, 1<<10)}})
				if r := s.Get(o, id); !ok || r == nil || r.Owner != o || s.Get(finder.ResultOwner{Who: "x"}, id) != nil {
					t.Errorf("got %+v", r)
				}
			}
		})
	}
	crowd.Wait()
}
