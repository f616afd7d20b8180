package main

import (
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/codegen/suite"
)

// sampleReport is a run in which everything was held.
func sampleReport() *report {
	r := &report{Machine: "2 cores", Rounds: 3, SuiteVersion: "v1", Staticcheck: "staticcheck 1"}
	for _, d := range suite.Drafts() {
		for _, place := range places() {
			r.Suite = append(r.Suite, judged{Draft: d, Place: place, Tally: tally{Groups: 2, Raw: 1, Valid: 4, Accepted: 4, RoundTripped: 4, Invalid: 3, Rejected: 3, Excepted: 1}})
		}
	}
	all, err := contests()
	if err != nil {
		panic(err)
	}
	for _, c := range all {
		r.Bakeoff = append(r.Bakeoff, outcome{Contest: c, Tally: tally{Groups: 1, Valid: 2, Accepted: 2, RoundTripped: 2, Invalid: 2, Rejected: 2}})
	}
	r.Corpus = []corpusServer{{Name: "github", What: "github", Tools: 1, Schemas: 1, Exported: 9, Fields: 400, Untyped: []string{"A.B"}}}
	r.Peers = []peerReport{{Name: "other", Version: "1", Suite: r.Suite[:1], Bakeoff: r.Bakeoff, Corpus: fields{1, 0, 100, 9}}}
	for _, n := range []int{250, 500, 1000} {
		r.Scale = append(r.Scale, scaled{Tools: n, Generate: 2 * time.Second, Memory: 200 << 20, CompileCPU: time.Duration(n) * 20 * time.Millisecond})
	}
	r.Calls = readCalls([]byte("    x_test.go:1: echo: 34 allocations, 31 by hand; 1.30 times as long\n"))
	return r
}

// TestMissed wants every bound that is broken to be told of, and no other.
func TestMissed(t *testing.T) {
	if got := sampleReport().missed(); got != nil {
		t.Fatalf("got %q of a run in which everything was held", got)
	}
	spoils := map[string]func(*report){
		"have no type":      func(r *report) { r.Suite[0].Tally.NoCode = 1 },
		"refused":           func(r *report) { r.Suite[1].Failures = []failure{{Reason: "refused"}} },
		"changed":           func(r *report) { r.Bakeoff[2].Failures = []failure{{Reason: "changed"}} },
		"does not compile":  func(r *report) { r.Corpus[0].Compile = "x" },
		"go vet":            func(r *report) { r.Corpus[0].Vet = "x" },
		"staticcheck":       func(r *report) { r.Corpus[0].Staticcheck = "x" },
		"gofmt":             func(r *report) { r.Corpus[0].Unformatted = []string{"x"} },
		"not documented":    func(r *report) { r.Corpus[0].Undocumented = []string{"x"} },
		"are untyped":       func(r *report) { r.Corpus[0].Untyped = make([]string, 5) },
		"generated in 3.1s": func(r *report) { r.Scale[2].Generate = 3100 * time.Millisecond },
		"251 MB":            func(r *report) { r.Scale[2].Memory = 251 << 20 },
		"34 allocations":    func(r *report) { r.Calls[0].Hand = 30 },
		"long as by hand":   func(r *report) { r.Calls[0].Ratio = 1.31 },
		"times as long to":  func(r *report) { r.Scale[2].CompileCPU *= 2 },
	}
	for want, spoil := range spoils {
		r := sampleReport()
		spoil(r)
		if got := r.missed(); len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("got %q, want one line with %q", got, want)
		}
	}
}

// TestPage wants the page to be made of what was found out, and nothing of
// where.
func TestPage(t *testing.T) {
	page := sampleReport().page()
	for _, want := range []string{
		"| draft2020-12 | **mcpctl**, optional arguments | 0 | 0 | 100 % (4 of 4) | 100 % (4 of 4) | 100 % (3 of 3) | 50 % (1 of 2) |",
		"| **all** | **20, 20 of 20; 20 of 20** | **20, 20 of 20; 20 of 20** |",
		"Untyped in total: **0.2 % (1 of 400)**",
		"| 1000 | 0.0 MB | 2.0 s | 0.0 s | 200 MB |",
		"| echo | 34 | 31 | 1.30 |",
		"- draft7, refRemote: remote ref\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if strings.Contains(page, "busy with other work") {
		t.Error("a quiet machine is called busy")
	}
	r := sampleReport()
	r.Load = 100
	if !strings.Contains(r.page(), "busy with other work (load 100)") {
		t.Error("a busy machine is not told of")
	}
}

// TestShare never rounds up to all, nor down to none.
func TestShare(t *testing.T) {
	for want, n := range map[string][2]int{
		"100 % (7 of 7)": {7, 7}, "99.9 % (9999 of 10000)": {9999, 10000}, "0 % (0 of 5)": {0, 5}, "–": {0, 0}, "33.3 % (1 of 3)": {1, 3},
	} {
		if got := share(n[0], n[1]); got != want {
			t.Errorf("%v: got %q, want %q", n, got, want)
		}
	}
}
