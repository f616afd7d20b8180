// Package doctor checks whether servers can be started, reached and used, and names the
// command that mends what is wrong. A check neither calls a tool nor logs in.
package doctor

import (
	"slices"
	"time"

	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/runtime/auth"
)

// Check is what one check found.
type Check struct {
	ID string `json:"id"`
	// OK is false for a fault. A warning is OK and has a Fix.
	OK      bool   `json:"ok"`
	Message string `json:"message"`
	// Fix is the command that mends it, "" for nothing to mend.
	Fix string `json:"fix"`
	// Kind is that of the fault as an error, such as "connect"; "" for none.
	Kind string `json:"-"`
}

// MarshalJSON adds the level, one of error, warning and ok.
func (c Check) MarshalJSON() ([]byte, error) {
	type members Check
	return plain.JSON(struct {
		members
		Level string `json:"level"`
	}{members(c), c.level()})
}

// level is how a check is shown.
func (c Check) level() string {
	switch {
	case !c.OK:
		return levelError
	case c.Fix != "":
		return levelWarning
	}
	return levelOK
}

const (
	levelError   = "error"
	levelWarning = "warning"
	levelOK      = "ok"
)

// Report is what was found of one server, or of one file.
type Report struct {
	Name   string  `json:"name"`
	OK     bool    `json:"ok"`
	Checks []Check `json:"checks"`
	// Unnamed is that the entry has a secret and does not say who gets it; nil where not.
	Unnamed *auth.UnnamedError `json:"-"`

	took time.Duration
}

// level returns the worst of the checks.
func (r *Report) level() string {
	level := levelOK
	for _, c := range r.Checks {
		switch {
		case !c.OK:
			return levelError
		case c.level() == levelWarning:
			level = levelWarning
		}
	}
	return level
}

// Pass adds a check of something that is as it should be.
func (r *Report) Pass(id, message string) {
	r.Checks = append(r.Checks, Check{ID: id, OK: true, Message: message})
}

// Warn adds a check of something that works, with what would be better.
func (r *Report) Warn(id, message, fix string) {
	r.Checks = append(r.Checks, Check{ID: id, OK: true, Message: message, Fix: fix})
}

// Fail adds a fault of a kind, with what fixes it. The report is no longer OK.
func (r *Report) Fail(id, kind, message, fix string) {
	r.OK = false
	r.Checks = append(r.Checks, Check{ID: id, Message: message, Fix: fix, Kind: kind})
}

// Result is what doctor prints as JSON.
type Result struct {
	Servers []*Report `json:"servers"`
	// Files are servers.json and the file of the tokens.
	Files []*Report `json:"files"`
}

// kindsByRank are the kinds of faults, the worst first: what breaks all servers, then
// what breaks one at an ever later stage.
func kindsByRank() []string {
	return []string{"config", "connect", "timeout", "protocol", "auth"}
}

// Worst returns the kind of the worst fault, "" for none.
func (r *Result) Worst() string {
	found := map[string]bool{}
	for _, report := range slices.Concat(r.Files, r.Servers) {
		for _, c := range report.Checks {
			found[c.Kind] = true
		}
	}
	for _, kind := range kindsByRank() {
		if found[kind] {
			return kind
		}
	}
	delete(found, "")
	for kind := range found {
		return kind
	}
	return ""
}

// counts returns how many servers are well, have warnings, and have faults.
func (r *Result) counts() (ok, warned, failed int) {
	for _, s := range r.Servers {
		switch s.level() {
		case levelError:
			failed++
		case levelWarning:
			warned++
		default:
			ok++
		}
	}
	return ok, warned, failed
}
