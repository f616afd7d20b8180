package mirror_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/mirror"
	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/test/require"
)

// crooked is a registry of many servers that does something wrong on some pages, once
// each.
type crooked struct {
	total, page int
	faults      map[int]func(w http.ResponseWriter, r *http.Request) (answered bool)
	pages       atomic.Int64 // that were asked for
}

// ServeHTTP answers with the page at an offset, which is the cursor.
func (c *crooked) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.pages.Add(1)
	at, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
	if fault := c.faults[at/c.page]; fault != nil {
		delete(c.faults, at/c.page)
		if fault(w, r) {
			return
		}
	}
	// The last record of the page before is on this one, too: records have moved.
	var items []json.RawMessage
	for i := max(at-1, 0); i < min(at+c.page, c.total); i++ {
		items = append(items, record(old(), fmt.Sprintf("org.n%d/s%05d", i%97, i), "1.0.0", "active", fmt.Sprintf("Keeps %s and %s for n%d", noun(i), noun(i/7), i)))
	}
	next := ""
	if at+c.page < c.total {
		next = strconv.Itoa(at + c.page)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"servers": items, "metadata": map[string]any{"nextCursor": next}})
}

func noun(i int) string {
	nouns := strings.Fields("notes mail calendars tickets issues files images charts maps routes songs films books papers prices orders invoices customers logs metrics alerts builds tests pages sites domains keys secrets tokens users groups rooms")
	return nouns[i%len(nouns)]
}

// TestLarge copies a registry that does everything wrong, in bounded memory. MCPCTL_COPY
// is how many servers it has (make registry-copy: 20,000).
func TestLarge(t *testing.T) {
	t.Parallel()
	c := &crooked{total: 60, page: 5}
	if n, err := strconv.Atoi(os.Getenv("MCPCTL_COPY")); err == nil {
		c.total, c.page = n, 100
	}
	c.faults = map[int]func(w http.ResponseWriter, r *http.Request) bool{
		1: func(w http.ResponseWriter, _ *http.Request) bool { // slow
			_, _ = io.WriteString(w, "  ")
			_ = http.NewResponseController(w).Flush()
			time.Sleep(50 * time.Millisecond)
			return false
		},
		2: func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
			return true
		},
		3: func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(http.StatusBadGateway)
			return true
		},
		4: func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, r.URL.String()+"&again=1", http.StatusTemporaryRedirect)
			return true
		},
		5: func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<html>")
			return true
		},
		6: func(w http.ResponseWriter, _ *http.Request) bool { // 200 MB
			block := []byte(strings.Repeat(" ", 1<<20))
			for range 200 {
				if _, err := w.Write(block); err != nil {
					break
				}
			}
			return true
		},
		7: func(w http.ResponseWriter, r *http.Request) bool { // hangs
			_, _ = io.WriteString(w, `{"servers":[`)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			return true
		},
		8: func(w http.ResponseWriter, r *http.Request) bool { // a cursor that was there before
			_, _ = fmt.Fprintf(w, `{"servers":[{"name":"a.b/odd","version":"1"}],"metadata":{"nextCursor":%q}}`, r.URL.Query().Get("cursor"))
			return true
		},
	}
	s := httptest.NewServer(c)
	defer s.Close()
	// A page has 30 kB, an answer may have 4 MiB.
	client, err := registry.New(registry.Options{BaseURL: s.URL, RetryWait: time.Millisecond, MaxBody: 4 << 20, TryTimeout: time.Second, HTTPClient: s.Client()})
	require.NoError(t, err)
	m := open(t)
	peak := watchHeap(t)
	begun := time.Now()
	failures := map[string]int{}
	for range 100 {
		if err = m.Sync(t.Context(), client, mirror.Options{}); err == nil {
			break
		}
		failures[kind(err)]++
	}
	require.NoError(t, err)
	// A machine that is busy may have more timeouts.
	if failures["protocol"] != 3 || failures["timeout"] < 1 || len(failures) != 2 {
		t.Errorf("got the failures %v, want three of the protocol (HTML, 200 MB, a cursor twice) and a timeout", failures)
	}
	st, err := m.State(t.Context(), client.URL())
	if err != nil || st.Servers != c.total || st.Synced.IsZero() {
		t.Errorf("got %+v, %v; want %d servers", st, err, c.total)
	}
	took, heap := time.Since(begun), peak()
	if heap > 100<<20 {
		t.Errorf("the heap had %d MB", heap>>20)
	}
	best := time.Minute
	for range 20 {
		start := time.Now()
		if got := names(t, m, fmt.Sprintf("notes and mail n%d", c.total/2), client.URL()); !strings.Contains(got, fmt.Sprintf("/s%05d@", c.total/2)) {
			t.Fatalf("found %s", got)
		}
		best = min(best, time.Since(start))
	}
	if best > 200*time.Millisecond {
		t.Errorf("a search takes %s", best)
	}
	t.Logf("%d servers: %d requests, %s, heap at most %d MB; a search takes %s", c.total, c.pages.Load(), took.Round(time.Millisecond), heap>>20, best.Round(10*time.Microsecond))
}

func kind(err error) string {
	var delayed *runtime.TimeoutError
	var proto *runtime.ProtocolError
	switch {
	case errors.As(err, &delayed):
		return "timeout"
	case errors.As(err, &proto):
		return "protocol"
	}
	return err.Error()
}

// watchHeap returns a function that stops watching, and returns the most bytes that the
// heap had.
func watchHeap(t *testing.T) (peak func() uint64) {
	t.Helper()
	stop, done := make(chan struct{}), make(chan uint64)
	go func() {
		most := uint64(0)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		for {
			metrics.Read(sample)
			most = max(most, sample[0].Value.Uint64())
			select {
			case <-tick.C:
			case <-stop:
				done <- most
				return
			}
		}
	}()
	return func() uint64 {
		close(stop)
		return <-done
	}
}
