// Command coldstart measures `mcpctl everything echo message=hi` against a
// bare program on the official Go SDK that connects, lists the tools and calls
// (package sdkclient). The two take turns, so that a busy moment hits both; the
// medians count. It fails when mcpctl takes more than -limit times as long.
//
//	make coldstart
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/test/wire"
)

func main() {
	mcpctl := flag.String("mcpctl", "mcpctl", "the mcpctl to measure")
	server := flag.String("server", "", "dist/index.js of server-everything")
	rounds := flag.Int("rounds", 15, "timed rounds, at least 11")
	limit := flag.Float64("limit", 1.15, "largest ratio of the medians")
	flag.Parse()
	if err := run(*mcpctl, *server, *rounds, *limit); err != nil {
		fmt.Fprintln(os.Stderr, "coldstart:", err)
		os.Exit(1)
	}
}

// contender is one of the programs and the times it took.
type contender struct {
	name  string
	args  []string
	times []time.Duration
}

func run(mcpctl, server string, rounds int, limit float64) error {
	if rounds < 11 {
		return errors.New("fewer than 11 rounds say nothing")
	}
	if _, err := os.Stat(server); err != nil {
		return fmt.Errorf("%w (run make npm)", err)
	}
	dir, err := os.MkdirTemp("", "coldstart")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	sdk, err := wire.Build(context.Background(), filepath.Join(dir, "sdkclient"), "github.com/mcpctl/mcpctl/test/coldstart/sdkclient", "-trimpath")
	if err != nil {
		return err
	}
	servers := filepath.Join(dir, "servers.json")
	if err := os.WriteFile(servers, wire.Servers{"everything": {"command": "node", "args": []string{server}}}.JSON(), 0o600); err != nil {
		return err
	}
	own := &contender{name: "mcpctl", args: []string{mcpctl, "--config", servers, "-o", "text", "everything", "echo", "message=hi"}}
	bare := &contender{name: "Go SDK", args: []string{sdk, "node", server}}
	const warm = 2 // page cache, Node's compile cache
	for i := range rounds + warm {
		order := []*contender{own, bare}
		if i%2 == 1 {
			slices.Reverse(order)
		}
		for _, c := range order {
			if err := c.once(dir, i >= warm); err != nil {
				return err
			}
		}
	}
	for _, c := range []*contender{own, bare} {
		slices.Sort(c.times)
		fmt.Printf("%-7s median %s  min %s  max %s  (%d rounds)\n", c.name, ms(c.median()), ms(c.times[0]), ms(c.times[len(c.times)-1]), rounds)
	}
	ratio := float64(own.median()) / float64(bare.median())
	fmt.Printf("ratio   %.3f, limit %.2f\n", ratio, limit)
	if ratio > limit {
		return fmt.Errorf("mcpctl takes %.2f times as long as the bare SDK, more than %.2f", ratio, limit)
	}
	return nil
}

// once runs the program, checks that it did its work and keeps its time.
func (c *contender) once(home string, timed bool) error {
	cmd := exec.Command(c.args[0], c.args[1:]...)
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_STATE_HOME="+home, "MCPCTL_CONFIG=")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	start := time.Now()
	err := cmd.Run()
	took := time.Since(start)
	if err != nil || !strings.Contains(out.String(), "hi") {
		return fmt.Errorf("%s did not do its work (%s)\n%s%s", c.name, cmd.ProcessState, out.String(), errs.String())
	}
	if timed {
		c.times = append(c.times, took)
	}
	return nil
}

func (c *contender) median() time.Duration { return c.times[len(c.times)/2] }

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond)) }
