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
)

// allocationGroup takes the allocations of a call from the test that holds
// them.
func (b *bench) allocationGroup(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "go", "test", "-count", "1", "-v", "-run", "^TestAllocServe$", "./cmd/mcpctl")
	cmd.Dir = b.o.root
	out, err := cmd.CombinedOutput()
	figures := allocationLine.FindAllSubmatch(out, -1)
	if len(figures) == 0 {
		return fmt.Errorf("TestAllocServe tells no figures: %w\n%s", err, out)
	}
	b.report.Allocations = map[string]float64{}
	for _, f := range figures {
		n, err := strconv.ParseFloat(string(f[2]), 64)
		if err != nil {
			return err
		}
		b.report.Allocations[string(f[1])] = n
	}
	b.say("allocations a call: %v", b.report.Allocations)
	return nil
}

// allocationLine is what the test writes.
var allocationLine = regexp.MustCompile(`(?m)allocations a call, ([a-z-]+): ([0-9.]+)`)

// coldStartGroup runs test/coldstart, where the server that it calls is
// installed.
func (b *bench) coldStartGroup(ctx context.Context) error {
	server, err := filepath.Abs(filepath.Join(b.o.root, filepath.FromSlash("test/npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js")))
	if err != nil {
		return err
	}
	b.report.ColdStart = nil
	if _, err := os.Stat(server); errors.Is(err, os.ErrNotExist) {
		b.say("coldstart: not measured: make npm installs the server that it calls")
		return nil
	}
	cmd := exec.CommandContext(ctx, "go", "run", "./test/coldstart", "-mcpctl", b.mcpctl, "-server", server)
	cmd.Dir = b.o.root
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output() // it fails above its limit, and has told the figures
	c := coldStart{}
	for key, to := range map[string]*float64{`mcpctl +median`: &c.Mcpctl, `Go SDK +median`: &c.SDK, `ratio`: &c.Ratio} {
		m := regexp.MustCompile(`(?m)^` + key + ` +([0-9.]+)`).FindSubmatch(out)
		if m == nil {
			return fmt.Errorf("no figures: %w\n%s%s", err, out, errs.String())
		}
		if *to, err = strconv.ParseFloat(string(m[1]), 64); err != nil {
			return err
		}
	}
	b.report.ColdStart = &c
	b.say("coldstart: mcpctl %.0f ms, the bare SDK %.0f ms, ratio %.2f", c.Mcpctl, c.SDK, c.Ratio)
	return nil
}
