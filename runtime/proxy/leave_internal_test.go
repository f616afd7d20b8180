package proxy

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

// TestOneProcessAtATime: some programs cannot run twice. A server that was
// replaced, or removed and added again, is not connected before its connection
// from before has ended, also where that was being closed already, or when the
// next change comes before.
func TestOneProcessAtATime(t *testing.T) {
	t.Parallel()
	at := func(digest string) []Server { return []Server{{Name: "a", Digest: digest}, {Name: "b"}} }
	for name, changes := range map[string][][]Server{
		"replaced":                  {at("2")},
		"removed and added":         {Named("b"), at("1")},
		"replaced twice":            {at("2"), at("3")},
		"removed and added, twice":  {Named("b"), at("1"), Named("b"), at("1")},
		"replaced, removed, added":  {at("2"), Named("b"), at("1")},
		"removed and added changed": {Named("b"), at("2")},
	} {
		for _, ending := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, Options{Servers: at("1")}, map[string]*runtimetest.Server{"a": runtimetest.New(), "b": runtimetest.New()})
				s.do(old(), "tools/call", echoCall)
				s.mu.Lock()
				s.closing = 3 * time.Second
				s.mu.Unlock()
				if ending {
					s.kill("a", errKilled)
				}
				for _, to := range changes {
					if _, err := s.p.Reconfigure(to); err != nil {
						t.Fatal(err)
					}
					if len(to) == 2 {
						go func() { _, _ = s.try(t.Context(), old(), "tools/call", echoCall) }()
					}
					time.Sleep(100 * time.Millisecond) // as time goes in the bubble
				}
				for range 60 {
					if n := s.alive("a"); n > 1 {
						t.Fatalf("%s, ending %t: %d run at a time", name, ending, n)
					}
					time.Sleep(100 * time.Millisecond) // as time goes in the bubble
				}
				s.do(old(), "tools/call", echoCall)
				if n := s.alive("a"); n != 1 {
					t.Errorf("%s, ending %t: %d run", name, ending, n)
				}
			})
		}
	}
}
