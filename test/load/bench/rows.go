package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/mcpctl/mcpctl/test/load/gen"
)

// row is one promise and how it was held.
type row struct {
	// Group is where the figures are.
	Group string `json:"group"`
	What  string `json:"what"`
	// Reference and Got are medians with their unit, Reference "" where the
	// promise is not about a ratio.
	Reference string `json:"reference,omitempty"`
	Got       string `json:"got"`
	// Value is what is compared with Bound: it has to be at least or, with
	// AtMost, at most that. Low and High are its ends, round by round.
	Value  float64 `json:"value"`
	Low    float64 `json:"low,omitempty"`
	High   float64 `json:"high,omitempty"`
	Bound  float64 `json:"bound"`
	AtMost bool    `json:"at_most,omitempty"`
	Unit   string  `json:"unit,omitempty"`
	Held   bool    `json:"held"`
	// Noisy says that the reference scattered, or the machine was busy with
	// something else: the row should be measured again on a quiet one.
	Noisy bool `json:"noisy,omitempty"`
}

const (
	// noiseLimit is how far the middle half of the reference's rounds may lie
	// apart, as a share of their median.
	noiseLimit = 0.20
	// quietLimit is how much of the machine others may use.
	quietLimit = 0.10
)

// kind is what a row compares.
type kind struct {
	of   func(r gen.Result) float64
	show string // format of a value, with its unit
}

var (
	rate      = kind{func(r gen.Result) float64 { return r.PerSecond }, "%.0f/s"}
	cpu       = kind{func(r gen.Result) float64 { return r.CPU }, "%.1f µs"}
	halfTime  = kind{func(r gen.Result) float64 { return r.P50 }, "%.0f µs"}
	worstTime = kind{func(r gen.Result) float64 { return r.P99 }, "%.0f µs"}
)

// evaluate makes the rows of what has been measured.
func evaluate(r *report) []row {
	var rows []row
	ratio := func(group, what, got, reference string, k kind, bound float64, atMost bool) {
		if row, ok := compare(r, group, got, reference, k); ok {
			row.What, row.Bound, row.AtMost = what, bound, atMost
			rows = append(rows, row.judged())
		}
	}
	value := func(group, what string, v, bound float64, unit string, there bool) {
		if there {
			rows = append(rows, row{
				Group: group, What: what, Got: show(v, unit), Value: v, Bound: bound, AtMost: true, Unit: unit,
				// What is counted is the same on a busy machine.
				Noisy: r.Busy[group] > quietLimit && (unit != "" || group == "coldstart"),
			}.judged())
		}
	}
	ratio("stdio", "stdio → stdio, 100 B, 32 callers: calls/s, of a relay's", "serve", "relay", rate, .85, false)
	ratio("stdio", "the same: CPU of the proxy a call, of a relay's", "serve", "relay", cpu, 1.2, true)
	ratio("single", "the same, 1 caller: p50, of a relay's", "serve", "relay", halfTime, 1.25, true)
	ratio("large", "64 KiB arguments, 8 callers: CPU of the proxy a call, of a relay's", "serve", "relay", cpu, 1.6, true)
	ratio("http", "HTTP → stdio, 32 callers, sessions: calls/s, of the server called directly", "serve", "direct", rate, .90, false)
	ratio("http", "the same, stateless", "serve-stateless", "direct", rate, .90, false)
	if l := r.Loads["http"]; l != nil {
		peak := max(peakOf(l["serve"]), peakOf(l["serve-stateless"]))
		value("http", "the same, both eras: most memory ever held", mb(peak), 30, "MB", peak > 0)
	}
	ratio("http", "HTTP → HTTP, 32 callers: calls/s, of the server called directly", "serve-remote", "direct", rate, .60, false)
	ratio("bridge", "stdio → HTTP through bridge, 32 callers: calls/s, of the server called directly", "bridge", "direct", rate, .60, false)
	ratio("sessions", "64 sessions × 4 callers over HTTP: p99, of the server called directly", "serve", "direct", worstTime, 3, true)

	ratio("identity", "HTTP → stdio, 32 callers, with a token: CPU of the proxy a call, of that without serve.auth", "token", "serve", cpu, 1.04, true)
	ratio("identity", "the same, with an access token of an identity provider", "jwt", "serve", cpu, 1.04, true)
	for _, kind := range [][2]string{{"token", "with tokens"}, {"jwt", "with access tokens"}} {
		kb, there := r.Users[kind[0]]
		value("identity", fmt.Sprintf("memory of %d users with a session each, %s: more than without serve.auth", manyUsers, kind[1]), mb(kb-r.Users["serve"]), 32, "MB", there)
	}

	ratio("policy", "HTTP → stdio, 32 callers, an access token and 50 policies, verdict constant: CPU of the proxy a call, of that without policies", "policy", "jwt", cpu, 1.05, true)
	ratio("policy-stdio", "stdio → stdio, 32 callers, 50 policies, verdict constant: the same", "policy", "serve", cpu, 1.06, true)
	for _, one := range []struct {
		who, what string
		bound     float64
	}{{"policy", "constant", 3}, {"arguments", "two conditions on arguments", 20}} {
		l := r.Loads["policy-single"]
		more := paired(l[one.who], l["serve"], halfTime)
		value("policy-single", "stdio → stdio, 1 caller, 50 policies, verdict "+one.what+": p50, more than without", median(more), one.bound, "µs", len(more) > 0)
	}
	for _, one := range []struct {
		key, what string
		bound     float64
	}{
		{"first", "first list of a user with a new view, 5,000 tools, 50 policies: more than without policies", 40},
		{"again", "the same of a user with the view of another", 1},
		{"reload", "p99 of 32 callers, 5,000 tools, 1,000 users known: more while 50 policies are replaced", 5},
	} {
		with, there := r.Policy[one.key]
		value("policy", one.what, with-r.Policy[one.key+"-off"], one.bound, "ms", there)
	}
	with, there := r.Policy["memory-policy"]
	value("policy", "memory of 1,000 users with 50 views of 5,000 tools: more than without policies", with-r.Policy["memory-off"], 64, "MB", there)

	ratio("audit", "HTTP → stdio, 32 callers, an access token, 50 policies and the audit log: calls/s, of that without policies and log", "audit", "jwt", rate, .85, false)
	ratio("audit-stdio", "stdio → stdio, 32 callers, 50 policies and the audit log: the same", "audit", "serve", rate, .70, false)

	if i := slices.IndexFunc(r.Lists, func(l lists) bool { return l.Tools == promisedTools }); i >= 0 {
		l := r.Lists[i]
		value("lists", "start → first list, 50 servers × 100 tools, known from before", median(l.First), 25, "ms", true)
		value("lists", "servers started for it and for what follows", float64(l.Started), 0, "", true)
		value("lists", "the same list again", median(l.Again), 2, "ms", true)
		value("lists", "one page of it", median(l.Page), 2, "ms", true)
	}
	memory := func(what, key string, bound float64) {
		kb, ok := r.Memory[key]
		value("memory", what, mb(kb), bound, "MB", ok && kb > 0)
	}
	memory("memory, idle, 50 servers × 100 tools configured", "idle", 30)
	memory("memory after the calls of 256 callers, stdio → stdio", "after-calls-stdio", 60)
	memory("the same, HTTP → stdio", "after-calls-http", 60)
	allocations := func(what, key string, bound float64) {
		n, ok := r.Allocations[key]
		value("allocations", what, n, bound, "", ok)
	}
	allocations("allocations a call, stdio → stdio", "stdio", 2)
	allocations("allocations a call, HTTP → stdio, sessions", "http", 12)
	allocations("the same, stateless", "http-stateless", 14)
	if c := r.ColdStart; c != nil {
		value("coldstart", "one call of the command line, of a bare Go SDK program's", c.Ratio, 1.15, "", true)
	}
	return rows
}

func (r row) judged() row {
	if r.AtMost {
		r.Held = r.Value <= r.Bound
	} else {
		r.Held = r.Value >= r.Bound
	}
	return r
}

// compare takes the ratio of two of a group, round by round. There is none
// where the system does not tell the figures.
func compare(r *report, group, got, reference string, k kind) (row, bool) {
	l := r.Loads[group]
	if l == nil {
		return row{}, false
	}
	mine, theirs := values(l[got], k), values(l[reference], k)
	var ratios []float64
	for i := range min(len(mine), len(theirs)) {
		if theirs[i] > 0 && mine[i] > 0 {
			ratios = append(ratios, mine[i]/theirs[i])
		}
	}
	if len(ratios) == 0 {
		return row{}, false
	}
	return row{
		Group: group, Reference: fmt.Sprintf(k.show, median(theirs)), Got: fmt.Sprintf(k.show, median(mine)),
		Value: median(ratios), Low: slices.Min(ratios), High: slices.Max(ratios),
		Noisy: scatter(theirs) > noiseLimit || r.Busy[group] > quietLimit,
	}, true
}

// paired returns how much more one has than the other, round by round.
func paired(mine, theirs []gen.Result, k kind) (more []float64) {
	for i := range min(len(mine), len(theirs)) {
		more = append(more, k.of(mine[i])-k.of(theirs[i]))
	}
	return more
}

func values(rs []gen.Result, k kind) []float64 {
	out := make([]float64, len(rs))
	for i, r := range rs {
		out[i] = k.of(r)
	}
	return out
}

func peakOf(rs []gen.Result) int64 {
	var kb int64
	for _, r := range rs {
		kb = max(kb, r.PeakKB)
	}
	return kb
}

func show(v float64, unit string) string {
	format := "%.0f"
	switch {
	case unit == "ms", unit == "" && v != float64(int64(v)):
		format = "%.2f"
	case unit == "MB", unit == "µs":
		format = "%.1f"
	}
	s := fmt.Sprintf(format, v)
	if unit != "" {
		s += " " + unit
	}
	return s
}

// value is how a row's value is written: a ratio with its ends.
func (r row) value() string {
	if r.Reference == "" {
		return r.Got
	}
	return fmt.Sprintf("%.2f (%.2f to %.2f)", r.Value, r.Low, r.High)
}

func (r row) required() string {
	sign := "≥"
	if r.AtMost {
		sign = "≤"
	}
	if r.Bound == 0 {
		return "none"
	}
	s := fmt.Sprintf("%s %.4g", sign, r.Bound)
	if r.Reference != "" || r.Unit == "" && r.Group == "coldstart" {
		s = fmt.Sprintf("%s %.2f", sign, r.Bound)
	}
	if r.Unit != "" {
		s += " " + r.Unit
	}
	return s
}

func (r row) verdict() string {
	switch {
	case r.Held && r.Noisy:
		return "held, noisy"
	case r.Held:
		return "held"
	case r.Noisy:
		return "missed, noisy"
	}
	return "missed"
}

func printRows(w io.Writer, r *report) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	noisy := false
	for _, row := range r.Rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", row.verdict(), row.value(), row.required(), row.Got, row.Reference, row.What)
		noisy = noisy || row.Noisy
	}
	_ = t.Flush() // to a terminal or a log
	if noisy {
		fmt.Fprintln(w, "noisy: the reference scattered or others used the machine; measure again on a quiet one")
	}
}
