package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/test/load/gen"
	"github.com/mcpctl/mcpctl/test/wire"
)

// bench is one run of the whole.
type bench struct {
	o      options
	out    io.Writer // progress
	report *report
	here   machine
	begin  time.Time

	dir          string // temporary, gone at the end
	mcpctl, load string // the programs
	configs      int
	plan
}

// plan is how long and how often is measured.
type plan struct {
	rounds      int
	each        time.Duration
	curveRounds int
	curveEach   time.Duration
	callers     []int
	starts      int
	tools       []int
	calls       int64
	// again is how long after the beginning groups may still be given more rounds,
	// so that a machine that is never quiet is done with in time, too.
	again    time.Duration
	patience int // seconds to wait for a quiet machine
}

func planFor(short bool) plan {
	if short {
		return plan{
			rounds: 2, each: 400 * time.Millisecond, curveRounds: 1, curveEach: 200 * time.Millisecond, callers: []int{1, 32, 512},
			starts: 3, tools: []int{100, 1000, 5000}, calls: 20_000, patience: 0,
		}
	}
	return plan{
		rounds: 5, each: 2 * time.Second, curveRounds: 3, curveEach: 700 * time.Millisecond, callers: []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 512},
		starts: 11, tools: []int{100, 300, 1000, 3000, 5000, 10_000, 30_000, 100_000}, calls: 1_000_000, again: 4 * time.Minute, patience: 5,
	}
}

func newBench(ctx context.Context, o options) (*bench, error) {
	b := &bench{o: o, out: os.Stderr, begin: time.Now(), plan: planFor(o.short)}
	b.report = &report{Short: o.short, Busy: map[string]float64{}, Loads: map[string]loads{}, Curves: map[string][][]gen.Result{}, Memory: map[string]int64{}, Allocations: map[string]float64{}}
	b.here = thisMachine(o.root)
	b.report.Machine = b.here
	from := ""
	switch {
	case o.resume:
		from = b.unfinished()
	case o.only != "" && !o.short:
		from = filepath.Join(o.root, filepath.FromSlash(figureFile))
	}
	if from != "" {
		r, err := load(from)
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil:
			return nil, err
		case o.resume && (r.Machine.Commit != b.here.Commit || r.Short != o.short):
			b.say("the unfinished run is of another commit: starting anew")
		default:
			b.report = r
		}
	}
	dir, err := os.MkdirTemp("", "mcpctl-bench-")
	if err != nil {
		return nil, err
	}
	b.dir = dir
	if err := b.build(ctx); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *bench) close() { _ = os.RemoveAll(b.dir) }

// unfinished is where a run's figures are kept until it is complete.
func (b *bench) unfinished() string {
	name := "bench.json"
	if b.o.short {
		name = "short.json"
	}
	return filepath.Join(b.o.root, b.o.work, name)
}

// say reports how far it is.
func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(b.out, "%4.0f s  %s\n", time.Since(b.begin).Seconds(), fmt.Sprintf(format, args...))
}

// build makes the programs as they are released.
func (b *bench) build(ctx context.Context) error {
	b.say("building")
	b.mcpctl, b.load = filepath.Join(b.dir, "mcpctl.exe"), filepath.Join(b.dir, "load.exe")
	for program, pkg := range map[string]string{b.mcpctl: "./cmd/mcpctl", b.load: "./test/load"} {
		cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", program, pkg)
		cmd.Dir, cmd.Stderr = b.o.root, b.out
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("build %s: %w", pkg, err)
		}
	}
	return nil
}

// home is an environment of its own for mcpctl: nothing of the user's is read
// or written.
func (b *bench) home(name string) ([]string, error) {
	dir := filepath.Join(b.dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return homeIn(dir), nil
}

// homeIn is an environment whose directories are all one that is there.
func homeIn(dir string) []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "MCPCTL_") && !strings.HasPrefix(v, "XDG_") {
			env = append(env, v)
		}
	}
	return append(env, "HOME="+dir, "USERPROFILE="+dir, "MCPCTL_HOME="+filepath.Join(dir, "state"),
		"XDG_CONFIG_HOME="+dir, "XDG_STATE_HOME="+dir, "XDG_CACHE_HOME="+dir, "XDG_RUNTIME_DIR="+dir, "MCPCTL_LIST_GRACE=never")
}

// config writes a servers.json and returns its name.
func (b *bench) config(servers map[string]any) (string, error) {
	text, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		return "", err
	}
	b.configs++
	file := filepath.Join(b.dir, fmt.Sprintf("servers-%d.json", b.configs))
	return file, os.WriteFile(file, text, 0o600)
}

// command is an entry of servers.json.
func command(words ...string) map[string]any {
	return map[string]any{"command": words[0], "args": words[1:]}
}

// start runs a program until it is stopped, and waits until it says where it
// listens, in a line that begins with ready.
func start(env []string, ready string, words ...string) (*wire.Process, error) {
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = env
	return wire.Launch(cmd, ready)
}
