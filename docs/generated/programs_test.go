//go:build integration

// Package generated_test runs the programs of this folder, and the generator,
// against the real servers.
package generated_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
	"github.com/mcpctl/mcpctl/scaffold/gogen"
	"github.com/mcpctl/mcpctl/test/npmtest"
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
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
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

// TestLive generates from the servers themselves and wants the committed
// samples.
func TestLive(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"everything", "filesystem", "memory"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			words, env := server(t, name, t.TempDir())
			c, err := dial.Dial(t.Context(), config.Entry{Name: name, Command: words[0], Args: words[1:], Env: env}, dial.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			tools, err := c.ListTools(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			out, err := gogen.Generate(gogen.Input{Server: name, Implementation: c.Info().Implementation, Tools: tools})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range out.Files {
				path := filepath.Join("..", "..", "generated", name, f.Name)
				want, err := os.ReadFile(path)
				if err != nil || !bytes.Equal(want, f.Data) {
					t.Errorf("%s is not what the server gives now (%v)", path, err)
				}
			}
		})
	}
}
