//go:build !race

// The race detector makes pools forget at random.

package proxy_test

import (
	"bytes"
	"fmt"
	"testing"
)

// TestCallDoesNotAllocate holds the gain of the asynchronous path: a call to a
// connected stdio backend allocates nothing in the proxy. The bound leaves
// room for a garbage collection that empties the pools.
func TestCallDoesNotAllocate(t *testing.T) {
	c := newPath(t, fmt.Appendf(nil, pathResult, "r"))
	const batch = 100
	lines := bytes.Repeat(echoLine(100), batch)
	for range 10 {
		c.round(t, lines, batch)
	}
	perCall := testing.AllocsPerRun(50, func() { c.round(t, lines, batch) }) / batch
	if perCall > 0.1 {
		t.Errorf("got %.2f allocations a call, want none", perCall)
	}
}

// TestModernCallAllocates little on stdio: what stands for the client, and its
// line, since the server may ask. The bound leaves the same room.
func TestModernCallAllocates(t *testing.T) {
	c := newPath(t, fmt.Appendf(nil, pathResult, "r"))
	const batch = 100
	lines := bytes.Repeat(julyEcho(100), batch)
	for range 10 {
		c.round(t, lines, batch)
	}
	if perCall := testing.AllocsPerRun(50, func() { c.round(t, lines, batch) }) / batch; perCall > 3.1 {
		t.Errorf("got %.2f allocations a call, want 3", perCall)
	}
}

// TestHTTPModernCallAllocates little beside what net/http does.
func TestHTTPModernCallAllocates(t *testing.T) {
	c := newWebPath(t, fmt.Appendf(nil, pathResult, "r"))
	c.modern()
	for range 10 {
		c.round()
	}
	if n := testing.AllocsPerRun(500, c.round); n > 5 {
		t.Errorf("got %.2f allocations a call, want 4", n)
	}
}

// TestAskingAllocatesNothing: a call with a token has the allocations of one without.
func TestAskingAllocatesNothing(t *testing.T) {
	for _, modern := range []bool{false, true} {
		var got [2]float64
		for i, c := range []*webPath{newWebPath(t, fmt.Appendf(nil, pathResult, "r")), newAskingPath(t)} {
			if modern {
				c.modern()
			}
			for range 10 {
				c.round()
			}
			got[i] = testing.AllocsPerRun(500, c.round)
		}
		if got[0] == 0 || got[1] > got[0] {
			t.Errorf("stateless %t: %.2f allocations a call, and %.2f with a token", modern, got[0], got[1])
		}
	}
}

// TestHTTPCallAllocates little beside what net/http does: the exchange, its
// channel, the answer.
func TestHTTPCallAllocates(t *testing.T) {
	c := newWebPath(t, fmt.Appendf(nil, pathResult, "r"))
	for range 10 {
		c.round()
	}
	if n := testing.AllocsPerRun(500, c.round); n > 5 {
		t.Errorf("got %.2f allocations a call, want 4", n)
	}
}

// TestHTTPToHTTPAllocates holds what a call over HTTP costs on both sides, with
// what net/http does on the side of the server and of the front.
func TestHTTPToHTTPAllocates(t *testing.T) {
	for era, most := range map[string]float64{"session": 80, "stateless": 112} {
		c := newWebPathOf(t, httpProxy(t, fmt.Appendf(nil, pathResult, "r")), nil, "")
		if era == "stateless" {
			c.modern()
		}
		for range 10 {
			c.round()
		}
		if n := testing.AllocsPerRun(200, c.round); n > most {
			t.Errorf("%s: got %.0f allocations a call, want at most %.0f", era, n, most)
		}
	}
}
