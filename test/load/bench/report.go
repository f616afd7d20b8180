package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/mcpctl/mcpctl/test/load/gen"
)

// report is everything a run has measured: the raw figures. The rows, the page
// and the plots follow from it.
type report struct {
	Machine machine `json:"machine"`
	// Apart are the groups that were measured later than the rest, and where.
	Apart map[string]machine `json:"apart,omitempty"`
	// Short is a run whose figures are for a quick look only.
	Short   bool    `json:"short,omitempty"`
	Seconds float64 `json:"seconds"`
	// Rows are the promises, judged.
	Rows []row `json:"rows"`
	// Busy is how much of the machine others used just before each group, from 0
	// to 1.
	Busy map[string]float64 `json:"busy_before"`
	// Loads are the runs of each group: by name of what was called, the rounds.
	Loads map[string]loads `json:"loads"`
	// Curves are the runs with ever more callers: by what was called, for each
	// number of callers, the rounds.
	Curves map[string][][]gen.Result `json:"curves,omitempty"`
	// Lists are how long lists took, by number of tools.
	Lists []lists `json:"lists,omitempty"`
	// Memory is in kB, Allocations are per call, Starts in milliseconds.
	Memory      map[string]int64   `json:"memory_kb,omitempty"`
	Allocations map[string]float64 `json:"allocations_per_call,omitempty"`
	ColdStart   *coldStart         `json:"cold_start,omitempty"`
	// Users is the memory in kB with many users, by how serve lets them in.
	Users map[string]int64 `json:"users_kb,omitempty"`
	// Policy is what policies cost: times in milliseconds, memory in MB.
	Policy map[string]float64 `json:"policy,omitempty"`
	// Done are the groups that are complete.
	Done []string `json:"groups"`
}

// loads are the runs of one group, by the name of what was called.
type loads map[string][]gen.Result

// lists are the times of the lists of so many tools, in milliseconds: of each
// start of serve, or of each repetition.
type lists struct {
	Backends int `json:"backends"`
	Tools    int `json:"tools"`
	Pages    int `json:"pages"`
	Bytes    int `json:"bytes"`
	// Cold is the first list where nothing is known of any server, from the
	// start of the process.
	Cold []float64 `json:"cold_ms"`
	// First is the same where everything is known, FirstPage its first page.
	First     []float64 `json:"first_ms"`
	FirstPage []float64 `json:"first_page_ms"`
	// Again is each further list of the same process, Page a page of it.
	Again []float64 `json:"again_ms"`
	Page  []float64 `json:"page_ms"`
	// Started is how many servers were started for all but Cold.
	Started int `json:"backends_started"`
}

type coldStart struct {
	Mcpctl float64 `json:"mcpctl_ms"`
	SDK    float64 `json:"sdk_ms"`
	Ratio  float64 `json:"ratio"`
}

// note notes on which machine a group is measured.
func (r *report) note(group string, m machine) {
	if m == r.Machine {
		delete(r.Apart, group)
		return
	}
	if r.Apart == nil {
		r.Apart = map[string]machine{}
	}
	r.Apart[group] = m
}

func load(file string) (*report, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	r := &report{}
	if err := json.Unmarshal(b, r); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return r, nil
}

// save replaces the file whole, so that a run may be interrupted at any time.
func save(file string, r *report) error {
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	next := file + ".new"
	if err := os.WriteFile(next, append(b, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(next, file)
}

// median of values; of none it is 0.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(values))
	if n := len(s); n%2 == 0 {
		return (s[n/2-1] + s[n/2]) / 2
	}
	return s[len(s)/2]
}

// scatter is the distance between the middle half's ends, as a share of the
// median.
func scatter(values []float64) float64 {
	m := median(values)
	if m == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(values))
	n := len(s)
	return (s[n-1-n/4] - s[n/4]) / m
}
