package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
)

// callTest compares calls of the committed clients with calls written by hand,
// fails where a bound is missed, and logs a line for each.
const callTest = "TestAllocGenerated"

// callCost is what one of them found out.
type callCost struct {
	Tool         string
	Allocs, Hand int
	Ratio        float64 // of the times
}

// Bounds of a call; callTest holds them, too.
const (
	callAllocs = 3
	callRatio  = 1.3
)

var callLine = regexp.MustCompile(`(\S+): (\d+) allocations, (\d+) by hand; ([0-9.]+) times as long`)

// measureCalls runs the test and reads its lines.
func measureCalls(ctx context.Context, root string) ([]callCost, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "./generated", "-run", "^"+callTest+"$", "-count=1", "-v")
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	costs := readCalls(out)
	if len(costs) == 0 {
		return nil, fmt.Errorf("%s: %w:\n%s", callTest, err, out)
	}
	return costs, nil
}

func readCalls(out []byte) []callCost {
	var costs []callCost
	for _, m := range callLine.FindAllSubmatch(out, -1) {
		c := callCost{Tool: string(m[1])}
		c.Allocs, _ = strconv.Atoi(string(m[2]))
		c.Hand, _ = strconv.Atoi(string(m[3]))
		c.Ratio, _ = strconv.ParseFloat(string(m[4]), 64)
		costs = append(costs, c)
	}
	return costs
}

func (r *report) callPage(p func(string, ...any)) {
	p("## A call\n")
	p("This table compares a call of a generated client, with checked arguments, with `json.Marshal`, `Client.CallTool` and")
	p("`json.Unmarshal` of plain structs. The client and the answer are the same (`%s`). The bounds are %d more", callTest, callAllocs)
	p("allocations and %.1f times the time.\n", callRatio)
	p("| tool | allocations | by hand | time, by hand = 1 |")
	p("|---|---|---|---|")
	for _, c := range r.Calls {
		p("| %s | %d | %d | %.2f |", c.Tool, c.Allocs, c.Hand, c.Ratio)
	}
	p("")
}
