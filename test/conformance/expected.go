package main

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"
)

// expectation is one line of the file of expected failures:
//
//	ROW REVISION SCENARIO[:CHECK]   # why
//
// Without a check all failures of the scenario are expected. A line that names
// nothing that fails is stale, which is a failure itself.
type expectation struct {
	Row, Version, Scenario, Check string
	Why                           string
	line                          int
	met                           bool
}

func (e *expectation) String() string {
	name := e.Scenario
	if e.Check != "" {
		name += ":" + e.Check
	}
	return strings.Join([]string{e.Row, e.Version, name}, " ")
}

// expectations are the lines of the file.
type expectations []*expectation

func readExpectations(path string) (expectations, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out expectations
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		text, why, hasWhy := strings.Cut(lines.Text(), "#")
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		if len(words) != 3 || !hasWhy || strings.TrimSpace(why) == "" {
			return nil, fmt.Errorf("%s:%d: want ROW REVISION SCENARIO[:CHECK] # WHY", path, n)
		}
		e := &expectation{Row: words[0], Version: words[1], Why: strings.TrimSpace(why), line: n}
		e.Scenario, e.Check, _ = strings.Cut(words[2], ":")
		same := func(o *expectation) bool { return o.String() == e.String() }
		if slices.ContainsFunc(out, same) {
			return nil, fmt.Errorf("%s:%d: %s is there twice", path, n, e)
		}
		out = append(out, e)
	}
	return out, lines.Err()
}

// expects reports whether a failure is listed, and notes that it was met.
func (x expectations) expects(row, version, scenario, check string) bool {
	found := false
	for _, e := range x {
		if e.Row == row && e.Version == version && e.Scenario == scenario && (e.Check == "" || e.Check == check) {
			e.met, found = true, true
		}
	}
	return found
}

// stale are the lines about a row and revision that nothing has met.
func (x expectations) stale(row, version string) []*expectation {
	var out []*expectation
	for _, e := range x {
		if e.Row == row && e.Version == version && !e.met {
			out = append(out, e)
		}
	}
	return out
}

// unknown are the lines about rows and revisions that there are not.
func (x expectations) unknown(rows []row) []*expectation {
	var out []*expectation
	for _, e := range x {
		ok := slices.ContainsFunc(rows, func(r row) bool {
			return r.name == e.Row && slices.ContainsFunc(r.parts, func(p part) bool { return p.version == e.Version })
		})
		if !ok {
			out = append(out, e)
		}
	}
	return out
}
