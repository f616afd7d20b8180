package eras_test

import (
	"flag"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/wire"
)

// quick is how long a check may take that is known to fail.
const quick = 4 * time.Second

var (
	limit    = flag.Duration("limit", wire.Limit, "how long a check may take, on a busy machine")
	settling = flag.Duration("settling", wire.Limit, "how long a backend may take to be there, with the pause after a connection that has failed")
)

// TestEras runs each line for each pair of an endpoint and a backend, and compares
// the outcome with test/reports/eras.md.
func TestEras(t *testing.T) {
	doc := readDoc(t)
	var mu sync.Mutex
	got := outcomes{}
	t.Run("pairs", func(t *testing.T) {
		for _, f := range endpoints() {
			for _, b := range backends() {
				if !daily(f, b) {
					continue
				}
				t.Run(f.name+"/"+b.name, func(t *testing.T) {
					t.Parallel()
					results := runPair(t, f, b, doc)
					mu.Lock()
					defer mu.Unlock()
					maps.Copy(got, results)
				})
			}
		}
	})
	if len(got) == len(endpoints())*len(backends())*len(lines()) { // else -run has left some out
		compareDoc(t, got, doc)
	}
}

// daily reports whether a pair is always run. How a server takes the probe is settled before
// it sees a client's message: one front of each era finds what goes wrong, and make nightly
// has the others.
func daily(f endpoint, b backend) bool {
	if *update || wire.Nightly() || f.name == "stdio" || f.name == "modern-http" {
		return true
	}
	switch b.name {
	case "exits", "silent", "refuses", "lists-legacy", "404", "401", "modern-only", "dual", "dual-http":
		return false
	}
	return true
}

// runPair runs all lines for one pair.
func runPair(t *testing.T, f endpoint, b backend, doc outcomes) outcomes {
	t.Helper()
	out := outcomes{}
	p, err := newPair(f, b)
	if p != nil {
		defer p.close()
	}
	for _, l := range lines() {
		where := cell{l.name, f.name, b.name}
		reason := ""
		if l.impossible != nil {
			reason = l.impossible(f, b)
		}
		check := l.check
		if reason != "" {
			check = l.refused
		}
		if check == nil {
			out[where] = outcome{reason: reason}
			continue
		}
		t.Run(l.name, func(t *testing.T) {
			e := err
			if e == nil {
				most := *limit
				if known, ok := doc[where]; !ok || known.failed {
					most = quick
				}
				e = p.run(line{check: check}, most)
			}
			if e == nil {
				e = p.held("b")
			}
			out[where] = outcome{reason: reason, failed: e != nil}
			switch {
			case e == nil:
			case doc[where].failed || *update:
				t.Logf("%s/%s/%s fails: %v", f.name, b.name, l.name, e)
			default:
				t.Errorf("%v", e)
			}
		})
	}
	return out
}
