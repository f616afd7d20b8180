//go:build integration

// Package generated_test runs the programs of this folder, and the generator,
// against the real servers.
package generated_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/npmtest"
	"github.com/mcpctl/mcpctl/test/wait"
)

// server is the command line of a real server and what it needs in its
// environment.
func server(t *testing.T, name, dir string) (words []string, env map[string]string) {
	t.Helper()
	switch name {
	case "everything":
		return npmtest.Server(t, name, "stdio"), nil
	case "filesystem":
		return npmtest.Server(t, name, dir), nil
	default:
		return npmtest.Server(t, name), map[string]string{"MEMORY_FILE_PATH": filepath.Join(dir, "graph.jsonl")}
	}
}

func TestPrograms(t *testing.T) {
	t.Parallel()
	wants := map[string][]string{
		"everything": {"The sum of 2 and 40 is 42.", "New York: ", "step 4", "Long running operation completed."},
		"filesystem": {"+hello from a generated client", "first line: hello from a generated client", "outside: true"},
		"memory":     {"Ada (person): writes programs", "Charles (person): ", "Ada corresponds with Charles"},
	}
	for name, want := range wants {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			words, env := server(t, name, dir)
			if name == "filesystem" {
				words = append([]string{dir}, words...)
			}
			ctx := wait.Context(t)
			cmd := exec.CommandContext(ctx, "go", append([]string{"run", "./" + name}, words...)...)
			cmd.Env = os.Environ()
			for k, v := range env {
				cmd.Env = append(cmd.Env, k+"="+v)
			}
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v\n%s%s", err, out, stderr.String())
			}
			for _, text := range want {
				if !strings.Contains(string(out), text) {
					t.Errorf("no %q in\n%s", text, out)
				}
			}
		})
	}
}

// TestLive asks the servers themselves, and wants the committed samples to be
// what comes of that: tools, prompts, resources and templates.
func TestLive(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	exe := filepath.Join(work, "mcpctl.exe")
	root := filepath.Join("..", "..")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", exe, "./cmd/mcpctl")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"everything", "filesystem", "memory"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			words, env := server(t, name, t.TempDir())
			entry := map[string]any{"command": words[0], "args": words[1:]}
			if env != nil {
				entry["env"] = env
			}
			servers, err := json.Marshal(map[string]any{"mcpServers": map[string]any{name: entry}})
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "servers.json")
			if err := os.WriteFile(path, servers, 0o600); err != nil {
				t.Fatal(err)
			}
			ctx := wait.Context(t)
			cmd := exec.CommandContext(ctx, exe, "--config", path, "generate", name, "--out", filepath.Join("generated", name), "--check")
			cmd.Dir = root
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
