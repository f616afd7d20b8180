// Command coldstart measures `mcpctl everything echo message=hi` against a
// bare program on the official Go SDK that connects, lists the tools and calls
// (package sdkclient). The two take turns, so that a busy moment hits both; the
// medians count. It fails when mcpctl takes more than -limit times as long. It also
// measures what a saved token costs a call of a remote server.
//
//	make coldstart
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/wire"
)

func main() {
	mcpctl := flag.String("mcpctl", "mcpctl", "the mcpctl to measure")
	server := flag.String("server", "", "dist/index.js of server-everything")
	rounds := flag.Int("rounds", 15, "timed rounds, at least 11")
	limit := flag.Float64("limit", 1.15, "largest ratio of the medians")
	most := flag.Duration("token", 2*time.Millisecond, "most that a saved token may cost")
	flag.Parse()
	err := run(*mcpctl, *server, *rounds, *limit)
	if err == nil {
		err = token(*mcpctl, *rounds, *most)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "coldstart:", err)
		os.Exit(1)
	}
}

// contender is one of the programs and the times it took.
type contender struct {
	name  string
	args  []string
	home  string // of its files
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
	own := &contender{name: "mcpctl", home: dir, args: []string{mcpctl, "--config", servers, "-o", "text", "everything", "echo", "message=hi"}}
	bare := &contender{name: "Go SDK", home: dir, args: []string{sdk, "node", server}}
	if err := race(rounds, own, bare); err != nil {
		return err
	}
	ratio := float64(own.median()) / float64(bare.median())
	fmt.Printf("ratio   %.3f, limit %.2f\n", ratio, limit)
	if ratio > limit {
		return fmt.Errorf("mcpctl takes %.2f times as long as the bare SDK, more than %.2f", ratio, limit)
	}
	return nil
}

// token measures a call of a server over HTTP with a saved token and without one.
func token(mcpctl string, rounds int, most time.Duration) error {
	srv := httptest.NewServer(runtimetest.New().Handler(runtimetest.HTTPOptions{}))
	defer srv.Close()
	dir, err := os.MkdirTemp("", "coldstart")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var both []*contender
	for _, name := range []string{"without", "with"} {
		c := &contender{name: name, home: filepath.Join(dir, name), args: []string{mcpctl, "--url", srv.URL + "/mcp", "call", "echo", "message=hi"}}
		both = append(both, c)
		state := filepath.Join(c.home, "mcpctl")
		if err := os.MkdirAll(state, 0o700); err != nil {
			return err
		}
		if name == "without" {
			continue
		}
		saved := `{"version":1,"tokens":[{"server":"` + srv.URL + `/mcp","accessToken":"` + strings.Repeat("x", 1000) + `","source":"oauth"}]}`
		if err := os.WriteFile(filepath.Join(state, "auth.json"), []byte(saved), 0o600); err != nil {
			return err
		}
	}
	if err := race(4*rounds, both...); err != nil { // each takes a tenth of the time
		return err
	}
	costs := both[1].median() - both[0].median()
	fmt.Printf("token   costs %s, limit %s\n", ms(costs), ms(most))
	if costs > most {
		return fmt.Errorf("a saved token costs %s, more than %s", ms(costs), ms(most))
	}
	return nil
}

// race has them take turns, and prints their times.
func race(rounds int, all ...*contender) error {
	const warm = 2 // page cache, Node's compile cache
	for i := range rounds + warm {
		order := slices.Clone(all)
		if i%2 == 1 {
			slices.Reverse(order)
		}
		for _, c := range order {
			if err := c.once(i >= warm); err != nil {
				return err
			}
		}
	}
	for _, c := range all {
		slices.Sort(c.times)
		fmt.Printf("%-7s median %s  min %s  max %s  (%d rounds)\n", c.name, ms(c.median()), ms(c.times[0]), ms(c.times[len(c.times)-1]), rounds)
	}
	return nil
}

// once runs the program, checks that it did its work and keeps its time.
func (c *contender) once(timed bool) error {
	cmd := exec.Command(c.args[0], c.args[1:]...)
	cmd.Env = append(os.Environ(), "HOME="+c.home, "XDG_CONFIG_HOME="+c.home, "XDG_STATE_HOME="+c.home, "MCPCTL_CONFIG=")
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
