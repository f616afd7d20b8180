package main

import (
	"fmt"
	"io"
	"time"
)

// report prints what came of each row, and keeps whether all is well.
type report struct {
	out      io.Writer
	expected expectations
	verbose  bool

	failed bool
	lines  []string
	// of the row that runs
	passed, made, known, clean, scenarios, skipped int
	bad                                            bool
}

func (r *report) say(format string, a ...any) { fmt.Fprintf(r.out, format+"\n", a...) }

// part judges one revision of a row.
func (r *report) part(w row, p part, scenarios []scenario) {
	made := 0
	for _, s := range scenarios {
		r.scenario(w, p, s)
		made += s.Made()
	}
	if made < p.least {
		r.say("FAIL  %s %s: %d checks were made, at least %d were expected", w.name, p.version, made, p.least)
		r.bad = true
	}
	for _, e := range r.expected.stale(w.name, p.version) {
		r.say("FAIL  %s: line %d of the expected failures is stale: it does not fail", e, e.line)
		r.bad = true
	}
}

func (r *report) scenario(w row, p part, s scenario) {
	if s.Skipped {
		r.skipped++
		if r.verbose {
			r.say("skip  %s %s %s", w.name, p.version, s.Name)
		}
		return
	}
	r.scenarios++
	r.passed += s.Passed
	r.made += s.Made()
	if len(s.Failures) == 0 {
		r.clean++
		if r.verbose {
			r.say("ok    %s %s %s %d/%d", w.name, p.version, s.Name, s.Passed, s.Made())
		}
	}
	for _, f := range s.Failures {
		if r.expected.expects(w.name, p.version, s.Name, f.Check) {
			r.known++
			if r.verbose {
				r.say("known %s %s %s:%s: %s", w.name, p.version, s.Name, f.Check, f.Why)
			}
			continue
		}
		r.bad = true
		r.say("FAIL  %s %s %s:%s: %s", w.name, p.version, s.Name, f.Check, f.Why)
	}
}

// broken notes that a row could not be run.
func (r *report) broken(w row, err error) {
	r.bad = true
	r.say("FAIL  %s: %v", w.name, err)
}

// row sums a row up.
func (r *report) row(w row, took time.Duration) {
	word := "ok  "
	if r.bad {
		word, r.failed = "FAIL", true
	}
	line := fmt.Sprintf("%s  %-12s passed %d/%d checks, %d/%d scenarios", word, w.name, r.passed, r.made, r.clean, r.scenarios)
	if r.known > 0 {
		line += fmt.Sprintf(", %d expected failures", r.known)
	}
	if r.skipped > 0 {
		line += fmt.Sprintf(", %d that the suite skips", r.skipped)
	}
	r.say("%s (%.0f s)", line, took.Seconds())
	r.lines = append(r.lines, line+": "+w.what)
	r.passed, r.made, r.known, r.clean, r.scenarios, r.skipped, r.bad = 0, 0, 0, 0, 0, 0, false
}

// finish prints the table and reports whether every row is as it must be.
func (r *report) finish() bool {
	r.say("")
	for _, l := range r.lines {
		r.say("%s", l)
	}
	return !r.failed
}
