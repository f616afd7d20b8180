// Command servers tries mcpctl on published servers that no other test knows: each is
// added, listed, called, generated for, and served together with all others. The
// servers are in manifest.json, each with its version. It writes the table of
// test/reports/servers.md, and fails where something does not hold that the manifest does not
// excuse as the server's own fault.
//
//	make servers
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/test/wire"
)

func main() {
	dir := flag.String("dir", ".bin/servers", "install servers of PyPI in this `directory`")
	page := flag.String("page", "test/reports/servers.md", "write the table of this `page`")
	only := flag.String("only", "", "try the servers with these `NAMES`, separated by commas, and write no page")
	flag.Parse()
	if err := run(context.Background(), *dir, *page, *only); err != nil {
		fmt.Fprintln(os.Stderr, "servers:", err)
		os.Exit(1)
	}
}

// server is one of the manifest.
type server struct {
	Name    string            `json:"name"`
	From    string            `json:"from"` // npm or pypi
	Package string            `json:"package"`
	Version string            `json:"version"`
	Command string            `json:"command"` // of a PyPI package, where it is not the package's name
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
	// Tool is called with Arguments. Exit is the exit code of that, 0 where it works.
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Exit      int             `json:"exit"`
	// Stops is the step that fails because of the server, "" for none. Nothing is tried
	// after it.
	Stops string `json:"stops"`
	// Fault is what is the server's own: why its call fails, or what is odd about it.
	Fault string `json:"fault"`

	tools int
	steps []step
}

// step is one thing tried, and why it failed.
type step struct {
	name string
	err  error
}

// stepNames are the columns of the table.
func stepNames() []string { return []string{"add", "list", "call", "generate", "build", "serve"} }

func run(ctx context.Context, dir, page, only string) error {
	raw, err := os.ReadFile("test/servers/manifest.json")
	if err != nil {
		return err
	}
	var servers []*server
	if err := json.Unmarshal(raw, &servers); err != nil {
		return fmt.Errorf("manifest.json: %w", err)
	}
	if only != "" {
		names := strings.Split(only, ",")
		servers = slices.DeleteFunc(servers, func(s *server) bool { return !slices.Contains(names, s.Name) })
	}
	t, err := newTrial(ctx, dir)
	if err != nil {
		return err
	}
	defer os.RemoveAll(t.home)
	for _, s := range servers {
		t.try(ctx, s)
	}
	t.serve(ctx, servers)
	failed := 0
	for _, s := range servers {
		for _, st := range s.steps {
			if s.failed(st) {
				failed++
				fmt.Printf("%s: %s: %v\n", s.Name, st.name, st.err)
			}
		}
	}
	if only == "" {
		if err := writePage(page, servers); err != nil {
			return err
		}
	}
	fmt.Printf("%d servers, %d steps failed\n", len(servers), failed)
	if failed > 0 {
		return errors.New("not all of it holds")
	}
	return nil
}

// trial is mcpctl with a home of its own, and a module for generated packages.
type trial struct {
	program, home, module, dir string
	env                        []string
}

func newTrial(ctx context.Context, dir string) (*trial, error) {
	home, err := os.MkdirTemp("", "servers")
	if err != nil {
		return nil, err
	}
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	t := &trial{home: home, module: filepath.Join(home, "module"), dir: dir}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "MCPCTL_") {
			t.env = append(t.env, v)
		}
	}
	// HOME stays: npm finds its settings and its cache there.
	t.env = append(t.env, "MCPCTL_HOME="+home)
	if t.program, err = wire.Build(ctx, filepath.Join(home, "mcpctl"), "github.com/mcpctl/mcpctl/cmd/mcpctl"); err != nil {
		return nil, err
	}
	if err := os.Mkdir(t.module, 0o700); err != nil {
		return nil, err
	}
	text := "module servers\n\ngo 1.26\n\nrequire github.com/mcpctl/mcpctl v0.0.0\n\nreplace github.com/mcpctl/mcpctl => " + root + "\n"
	if err := os.WriteFile(filepath.Join(t.module, "go.mod"), []byte(text), 0o600); err != nil {
		return nil, err
	}
	sums, err := os.ReadFile("go.sum")
	if err != nil {
		return nil, err
	}
	return t, os.WriteFile(filepath.Join(t.module, "go.sum"), sums, 0o600)
}

// bound is how long one step may take: the first start of a server installs it.
const bound = 4 * time.Minute

// command runs a program in the module's folder. The error of a failure has the end of
// what it has written.
func (t *trial) command(ctx context.Context, words ...string) (stdout []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = t.env, t.module, 5*time.Second
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdout, err = cmd.Output()
	if err != nil {
		text := strings.TrimSpace(stderr.String())
		if text == "" {
			text = string(stdout)
		}
		err = fmt.Errorf("%w: %s", err, text[max(0, len(text)-600):])
	}
	return stdout, err
}

// step tries one thing, unless the one before it has failed.
func (s *server) step(name string, try func() error) {
	if n := len(s.steps); n > 0 && s.steps[n-1].err != nil {
		return
	}
	fmt.Printf("%s: %s\n", s.Name, name)
	err := try()
	if name == s.Stops && err == nil {
		err, s.Stops = errors.New("it works, though the manifest says that it stops here"), ""
	}
	s.steps = append(s.steps, step{name, err})
}

// failed reports whether a step failed that the manifest does not excuse.
func (s *server) failed(st step) bool { return st.err != nil && st.name != s.Stops }

// try takes a server as far as it goes on its own.
func (t *trial) try(ctx context.Context, s *server) {
	mcpctl := func(words ...string) ([]byte, error) {
		return t.command(ctx, append([]string{t.program, "--no-input", "--connect-timeout", bound.String()}, words...)...)
	}
	s.step("add", func() error {
		words, err := t.words(ctx, s)
		if err != nil {
			return err
		}
		add := []string{"add", s.Name, "-q"}
		for name, value := range s.Env {
			add = append(add, "--env", name+"="+value)
		}
		_, err = mcpctl(append(append(add, "--"), words...)...)
		return err
	})
	s.step("list", func() error {
		out, err := mcpctl("tools", s.Name, "--json")
		if err != nil {
			return err
		}
		var list struct{ Tools []json.RawMessage }
		if err := json.Unmarshal(out, &list); err != nil {
			return err
		}
		if s.tools = len(list.Tools); s.tools == 0 {
			return errors.New("it lists no tools")
		}
		return nil
	})
	s.step("call", func() error { return s.called(mcpctl("call", s.Name, s.Tool, string(s.Arguments))) })
	s.step("generate", func() error {
		_, err := mcpctl("generate", s.Name, "--out", filepath.Join(t.module, s.Name))
		return err
	})
	s.step("build", func() error {
		_, err := t.command(ctx, "go", "vet", "-mod=mod", "./"+s.Name) // compiles it as well
		return err
	})
}

// called checks a call: it works, or fails as the manifest says.
func (s *server) called(out []byte, err error) error {
	code := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	}
	switch {
	case code != s.Exit:
		return fmt.Errorf("exit code %d, want %d: %w", code, s.Exit, err)
	case code == 0 && !json.Valid(out):
		return fmt.Errorf("the result is not JSON: %s", out)
	}
	return nil
}

// words returns the command line of a server, installed if that takes more than npx.
func (t *trial) words(ctx context.Context, s *server) ([]string, error) {
	if s.From == "npm" {
		return append([]string{"npx", "-y", s.Package + "@" + s.Version}, s.Args...), nil
	}
	dir, err := filepath.Abs(filepath.Join(t.dir, s.Name+"-"+s.Version))
	if err != nil {
		return nil, err
	}
	program := filepath.Join(dir, "bin", s.Package)
	if s.Command != "" {
		program = filepath.Join(dir, "bin", s.Command)
	}
	if _, err := os.Stat(program); err == nil {
		return append([]string{program}, s.Args...), nil
	}
	if _, err := t.command(ctx, "python3", "-m", "venv", dir); err != nil {
		return nil, err
	}
	_, err = t.command(ctx, filepath.Join(dir, "bin", "pip"), "install", "-q", s.Package+"=="+s.Version)
	return append([]string{program}, s.Args...), err
}

// serve puts all servers behind one endpoint and calls each there.
func (t *trial) serve(ctx context.Context, servers []*server) {
	cmd := exec.Command(t.program, "serve", "--http", "127.0.0.1:0") // ended by its id, below
	cmd.Env, cmd.WaitDelay = t.env, 5*time.Second
	p, err := wire.Launch(cmd, "listening on ")
	if err != nil {
		for _, s := range servers {
			s.step("serve", func() error { return err })
		}
		return
	}
	defer func() {
		_ = p.Cmd.Process.Signal(os.Interrupt)
		<-p.Exited
	}()
	for _, s := range servers {
		s.step("serve", func() error {
			return s.called(t.command(ctx, t.program, "--no-input", "--timeout", bound.String(), "--url", p.URL,
				"call", s.Name+"__"+s.Tool, string(s.Arguments), "--no-validate"))
		})
	}
}

// writePage writes the table between the marks of the page.
func writePage(path string, servers []*server) error {
	const from, to = "<!-- table -->\n", "<!-- end -->"
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	head, rest, found := strings.Cut(string(raw), from)
	_, tail, ended := strings.Cut(rest, to)
	if !found || !ended {
		return fmt.Errorf("%s has no marks for the table", path)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s.\n\n| server | version | tools | %s | its own fault |\n|---|---|---|%s---|\n",
		time.Now().UTC().Format(time.DateOnly), strings.Join(stepNames(), " | "), strings.Repeat("---|", len(stepNames())))
	for _, s := range servers {
		row := []string{"`" + s.Package + "` (" + s.From + ")", s.Version, strconv.Itoa(s.tools)}
		for _, name := range stepNames() {
			row = append(row, s.mark(name))
		}
		fmt.Fprintf(&b, "| %s | %s |\n", strings.Join(row, " | "), s.Fault)
	}
	return os.WriteFile(path, []byte(head+from+b.String()+to+tail), 0o600)
}

// mark is a step in the table.
func (s *server) mark(name string) string {
	i := slices.IndexFunc(s.steps, func(st step) bool { return st.name == name })
	switch {
	case i < 0:
		return "–"
	case s.failed(s.steps[i]):
		return "**fails**"
	case s.steps[i].err != nil:
		return "stops"
	case s.Exit != 0 && (name == "call" || name == "serve"):
		return "refuses"
	}
	return "works"
}
