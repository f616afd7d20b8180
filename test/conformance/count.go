package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// check is one entry of the suite's checks.json.
type check struct {
	ID          string `json:"id"`
	Status      string `json:"status"`
	Message     string `json:"errorMessage"`
	Description string `json:"description"`
}

// scenario is what one scenario of the suite came to.
type scenario struct {
	Name     string
	Passed   int
	Failures []failure
	// Skipped says that the suite itself leaves the scenario out.
	Skipped bool
}

// failure is a check that did not pass, a warning among them.
type failure struct {
	Check, Why string
}

// Made is how many checks count.
func (s *scenario) Made() int { return s.Passed + len(s.Failures) }

// count judges one scenario more strictly than the suite does itself:
//
//   - a warning is a failure;
//   - the check that messages fit the schema counts only where it fails: it
//     also looks at the suite's own messages, and passes without a peer;
//   - a scenario in which nothing was checked, or which left no result, has
//     failed, unless the suite says that it skips all of it.
func count(name string, checks []check) scenario {
	s := scenario{Name: name}
	skipped := false
	for _, c := range checks {
		if strings.HasPrefix(c.ID, "wire-schema") && (c.Status != "FAILURE" || c.ID == "wire-schema-harness-error") {
			continue
		}
		switch c.Status {
		case "SUCCESS":
			s.Passed++
		case "FAILURE", "WARNING":
			why := c.Message
			if why == "" {
				why = c.Description
			}
			s.Failures = append(s.Failures, failure{Check: c.ID, Why: oneLine(why)})
		case "SKIPPED":
			skipped = true
		}
	}
	switch {
	case s.Made() > 0:
	case skipped:
		s.Skipped = true
	default:
		s.Failures = append(s.Failures, failure{Check: "none", Why: "no check was made"})
	}
	return s
}

const longestWhy = 160

func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > longestWhy {
		s = string(r[:longestWhy]) + "…"
	}
	return s
}

// stamp ends the name of a directory of results.
var stamp = regexp.MustCompile(`-\d{4}-\d\d-\d\dT.*$`)

// results reads what the suite has left below dir, by scenario, for the names
// that should have run. What is not there comes without checks. In server mode
// the suite puts "server-" before the names.
func results(dir string, names []string) (map[string][]check, error) {
	out := map[string][]check{}
	known := map[string]bool{}
	for _, n := range names {
		out[n], known[n] = nil, true
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // nothing has run at all
		}
		if err != nil || d.Name() != "checks.json" {
			return err
		}
		rel, err := filepath.Rel(dir, filepath.Dir(path))
		if err != nil {
			return err
		}
		name := stamp.ReplaceAllString(filepath.ToSlash(rel), "")
		if !known[name] {
			name = strings.TrimPrefix(name, "server-")
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var checks []check
		if err := json.Unmarshal(b, &checks); err != nil {
			checks = []check{{ID: "checks.json", Status: "FAILURE", Message: err.Error()}}
		}
		out[name] = append(out[name], checks...)
		return nil
	})
	return out, err
}
