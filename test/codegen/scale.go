package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/mcpctl/mcpctl/scaffold/gogen"
)

// Bounds of the largest server.
const (
	scaleTools  = 1000
	scaleTime   = 3 * time.Second
	scaleMemory = 250 << 20
)

// scaled is what one size took.
type scaled struct {
	Tools, Schemas int // number of tools; bytes of the tools/list result
	Source         int // bytes of Go that were written
	Files          int
	// Generate is the time of mcpctl generate from start to end, and Memory the
	// most it held; 0 where the system does not tell.
	Generate time.Duration
	Memory   int64
	// Compile is the time of go build for the package alone, what it imports
	// being compiled already.
	Compile time.Duration
	// The processor's time for both, which other work on the machine hardly
	// changes.
	GenerateCPU, CompileCPU time.Duration
}

// buildProduct compiles mcpctl into a directory.
func buildProduct(ctx context.Context, root, dir string) (string, error) {
	exe := filepath.Join(dir, "mcpctl.exe")
	_, err := output(ctx, root, "go", "build", "-o", exe, "./cmd/mcpctl")
	return exe, err
}

// measureScale generates with the product itself and compiles the outcome.
// The best of some rounds counts, because others use the machine, too. The
// compiler is run in the first round, or not at all.
func measureScale(ctx context.Context, root, product string, tools, rounds int, compile bool) (scaled, error) {
	b, err := newBench(root)
	if err != nil {
		return scaled{}, err
	}
	defer b.close()
	list := synthetic(tools)
	m := scaled{Tools: tools, Schemas: len(list)}
	if err := b.write("tools.json", list); err != nil {
		return m, err
	}
	home := filepath.Join(b.dir, "home")
	// What every generated package imports is compiled first.
	if compile {
		if err := b.warm(ctx); err != nil {
			return m, err
		}
	}
	for round := range rounds {
		name := fmt.Sprintf("scale%d", round)
		cmd := exec.CommandContext(ctx, product, "generate", name, "--from", "tools.json", "--out", filepath.Join(b.dir, name))
		cmd.Dir = b.dir
		cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_STATE_HOME="+home, "XDG_CACHE_HOME="+home)
		begin := time.Now()
		out, err := cmd.CombinedOutput()
		if err != nil {
			return m, fmt.Errorf("mcpctl generate, %d tools: %w\n%s", tools, err, head(string(out), 20))
		}
		m.Generate = better(m.Generate, time.Since(begin))
		m.GenerateCPU = better(m.GenerateCPU, processor(cmd.ProcessState))
		m.Memory = better(m.Memory, peakMemory(cmd.ProcessState))
		m.Files, m.Source = sizes(filepath.Join(b.dir, name))
		if !compile || round > 0 {
			continue
		}
		cmd = exec.CommandContext(ctx, "go", "build", "./"+name)
		cmd.Dir = b.dir
		begin = time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			return m, fmt.Errorf("compile %d tools: %w\n%s", tools, err, head(string(out), 20))
		}
		m.Compile, m.CompileCPU = time.Since(begin), processor(cmd.ProcessState)
	}
	return m, nil
}

// warm compiles what generated packages import.
func (b *bench) warm(ctx context.Context) error {
	if err := b.write("warm/warm.go", []byte("package warm\n\nimport _ \""+modulePath+"/runtime/schema\"\n")); err != nil {
		return err
	}
	if problem := b.complaints(ctx, "go", "build", "./warm"); problem != "" {
		return fmt.Errorf("compile what is imported: %s", problem)
	}
	return nil
}

func better[T time.Duration | int64](old, now T) T {
	if old == 0 || now < old {
		return now
	}
	return old
}

// sizes counts the Go files of a package and their bytes.
func sizes(dir string) (files, total int) {
	paths, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	for _, p := range paths {
		if info, err := os.Stat(p); err == nil {
			files++
			total += int(info.Size())
		}
	}
	return files, total
}

// shuffled is a server's list in another order, which must give the same
// files.
func shuffled(list *gogen.List) gogen.Input {
	in := gogen.Input{Server: "scale", Package: "scale", Tools: slices.Clone(list.Tools)}
	slices.Reverse(in.Tools)
	return in
}

// processor is the processor's time of a process and those it waited for.
func processor(p *os.ProcessState) time.Duration { return p.UserTime() + p.SystemTime() }
