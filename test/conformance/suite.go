package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// suite runs the official suite, @modelcontextprotocol/conformance.
type suite struct {
	node, script string
	// dir takes the results, a directory a run.
	dir  string
	runs atomic.Int32
}

const (
	// The bounds are for what hangs: on a busy machine Node alone takes seconds to start.
	suiteTimeout    = 10 * time.Minute // one revision
	scenarioTimeout = time.Minute
	oldestNode      = 22 // older ones lack fs.globSync
)

// openSuite finds the suite and a Node for it in npm's directory.
func openSuite(ctx context.Context, npm, dir string) (*suite, error) {
	npm, err := filepath.Abs(npm)
	if err != nil {
		return nil, err
	}
	s := &suite{script: filepath.Join(npm, "@modelcontextprotocol", "conformance", "dist", "index.js"), dir: dir}
	if _, err := os.Stat(s.script); err != nil {
		return nil, fmt.Errorf("the suite is not installed (make conformance does it): %w", err)
	}
	for _, pattern := range []string{"node-*/bin/node", "node-*/bin/node.exe"} {
		if found, _ := filepath.Glob(filepath.Join(npm, pattern)); len(found) > 0 {
			s.node = found[0]
			return s, nil
		}
	}
	// No package for this system: its own Node may do.
	out, err := exec.CommandContext(ctx, "node", "-p", "process.versions.node.split('.')[0]").Output()
	if major, _ := strconv.Atoi(strings.TrimSpace(string(out))); err != nil || major < oldestNode {
		return nil, fmt.Errorf("the suite needs Node %d or newer", oldestNode)
	}
	s.node = "node"
	return s, nil
}

// run starts the suite and returns what it printed. Its exit status says no more
// than the results do.
func (s *suite) run(ctx context.Context, limit time.Duration, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := group(exec.CommandContext(ctx, s.node, append([]string{s.script}, args...)...))
	cmd.Dir = s.dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if cmd.Process != nil {
		killGroup(cmd)
	}
	if ctx.Err() != nil {
		return out.String(), fmt.Errorf("conformance %s: %w", strings.Join(args, " "), ctx.Err())
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return "", err
	}
	return out.String(), nil
}

// results makes a directory for a run.
func (s *suite) results() string {
	return filepath.Join(s.dir, "results-"+strconv.Itoa(int(s.runs.Add(1))))
}

var listed = regexp.MustCompile(`(?m)^  - (\S+) \[([^\]]*)\]`)

// names are the suite's scenarios of one side, "server" or "client", at a
// revision; "extension" returns those that are of none.
func (s *suite) names(ctx context.Context, side, version string) ([]string, error) {
	out, err := s.run(ctx, suiteTimeout, "list", "--"+side)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, m := range listed.FindAllStringSubmatch(out, -1) {
		for v := range strings.SplitSeq(m[2], ",") {
			if strings.TrimSpace(v) == version {
				names = append(names, m[1])
			}
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("the suite has no %s scenario of %s", side, version)
	}
	return names, nil
}

// server runs all scenarios of a revision against a URL.
func (s *suite) server(ctx context.Context, url, version string) ([]scenario, error) {
	names, err := s.names(ctx, "server", version)
	if err != nil {
		return nil, err
	}
	dir := s.results()
	if _, err := s.run(ctx, suiteTimeout, "server", "--url", url, "--suite", "all", "--spec-version", version,
		"--timeout", millis(scenarioTimeout), "-o", dir); err != nil {
		return nil, err
	}
	return s.evaluate(dir, names, nil)
}

// extensions runs scenarios that belong to no revision.
func (s *suite) extensions(ctx context.Context, url string, names []string) ([]scenario, error) {
	dir := s.results()
	for _, n := range names {
		if _, err := s.run(ctx, 2*scenarioTimeout, "server", "--url", url, "--scenario", n, "--timeout", millis(scenarioTimeout), "-o", dir); err != nil {
			return nil, err
		}
	}
	return s.evaluate(dir, names, nil)
}

// bad is what the suite prints about a client whose exit it did not expect,
// and leaves out of the checks.
var bad = regexp.MustCompile(`CLIENT TIMED OUT|CLIENT EXITED WITH ERROR \(code \d+\)`)

// client runs scenarios with a command as the client, one at a time: the suite
// looks at exit codes only then, and one scenario is about timing.
func (s *suite) client(ctx context.Context, command, version string, names []string) ([]scenario, error) {
	dir := s.results()
	more := map[string]check{}
	for _, n := range names {
		args := []string{"client", "--command", command, "--scenario", n, "--timeout", millis(scenarioTimeout), "-o", dir}
		if version != extension { // those of none run without
			args = append(args, "--spec-version", version)
		}
		out, err := s.run(ctx, 2*scenarioTimeout, args...)
		if err != nil {
			return nil, err
		}
		if why := bad.FindString(out); why != "" {
			more[n] = check{ID: "exit", Status: "FAILURE", Message: why}
		}
	}
	return s.evaluate(dir, names, more)
}

// evaluate counts the results below dir. more are checks of our own.
func (s *suite) evaluate(dir string, names []string, more map[string]check) ([]scenario, error) {
	found, err := results(dir, names)
	if err != nil {
		return nil, err
	}
	var out []scenario
	for _, n := range names {
		checks := found[n]
		if c, ok := more[n]; ok {
			checks = append(checks, c)
		}
		out = append(out, count(n, checks))
	}
	return out, nil
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
