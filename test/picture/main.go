// Program picture draws docs/terminal.svg, the picture in README.md, from a real
// run: it types commands on a terminal of tmux, in a home of its own, and draws
// what the terminal shows.
//
// Run it in the root of the module: go run ./test/picture -mcpctl PROGRAM.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	columns = 100
	rows    = 60
	// ended marks the end of the last command, which the picture leaves out.
	ended = "end of the picture"
)

// shown are the commands that the picture shows. Nothing they print depends on
// the day or the machine.
func shown() []string {
	return []string{
		"mcpctl search github issues",
		"mcpctl add workshop -- mcpctl demo-server",
		"mcpctl tools workshop",
		"mcpctl workshop search_items category=food",
		"mcpctl workshop search_items category=timber inStock=true",
		"mcpctl generate workshop",
	}
}

func main() {
	program := flag.String("mcpctl", "mcpctl", "the `program` that is shown")
	out := flag.String("out", "docs/terminal.svg", "the `file` to write")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *program, *out); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, program, out string) error {
	screen, err := record(ctx, program, shown())
	if err != nil {
		return err
	}
	if err := os.WriteFile(out, []byte(draw(screen, columns)), 0o600); err != nil {
		return fmt.Errorf("write the picture: %w", err)
	}
	return nil
}

// record runs commands on a terminal and returns what it shows, with escape sequences.
func record(ctx context.Context, program string, commands []string) (screen string, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	home, err := os.MkdirTemp("", "pic")
	if err != nil {
		return "", fmt.Errorf("make a home: %w", err)
	}
	defer os.RemoveAll(home)
	if program, err = exec.LookPath(program); err == nil {
		program, err = filepath.Abs(program)
	}
	if err == nil {
		err = os.Symlink(program, filepath.Join(home, "mcpctl"))
	}
	if err != nil {
		return "", fmt.Errorf("find mcpctl: %w", err)
	}
	script := filepath.Join(home, "script")
	if err := os.WriteFile(script, []byte(typed(commands)), 0o600); err != nil {
		return "", fmt.Errorf("write the script: %w", err)
	}
	tmux := func(ctx context.Context, words ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "tmux", append([]string{"-S", filepath.Join(home, "tmux"), "-u", "-f", os.DevNull}, words...)...)
		cmd.Env = []string{
			"PATH=" + home + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + home, "MCPCTL_HOME=" + home,
			"LANG=C.UTF-8", "LC_ALL=C.UTF-8", "SHELL=/bin/sh", "GOFLAGS=-mod=mod",
		}
		cmd.Dir = home
		b, err := cmd.CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("tmux %s: %w: %s", words[0], err, b)
		}
		return string(b), nil
	}
	_, err = tmux(ctx, "new-session", "-d", "-x", strconv.Itoa(columns), "-y", strconv.Itoa(rows), "exec sh "+script)
	if err != nil {
		return "", err
	}
	defer func() { _, _ = tmux(context.WithoutCancel(ctx), "kill-server") }()
	for {
		screen, err = tmux(ctx, "capture-pane", "-p", "-e")
		if err != nil {
			return "", err
		}
		if before, _, ok := strings.Cut(screen, ended); ok {
			return before, nil
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("the commands have not ended: %w\n%s", ctx.Err(), screen)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// typed returns a shell script that shows each command before it runs it. The registry
// is the demo's; it ends with the script.
func typed(commands []string) string {
	var b strings.Builder
	// The shell may run grep before the demo has created its file.
	b.WriteString("stty -echo\n: >registry\nmcpctl demo registry -o text >registry &\nregistry=$!\n" +
		"until grep -q ^export registry; do sleep 0.05; done\neval \"$(grep ^export registry)\"\n" +
		"printf 'module example.com/tools\\n' >go.mod\n")
	for _, c := range commands {
		fmt.Fprintf(&b, "printf '\\033[1m$ %s\\033[0m\\n'\n%s\necho\n", c, c)
	}
	return b.String() + "kill $registry\nwait\nprintf '" + ended + "'\nexec sleep 60\n"
}
