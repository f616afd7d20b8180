package demo

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// clientSource is a program that calls the workshop through the generated
// client.
//
//go:embed tour_client.txt
var clientSource []byte

const (
	modulePath = "github.com/mcpctl/mcpctl"
	// tourModule is the module that the client is compiled in.
	tourModule = "example.com/tour"
)

// module makes the folder a module that takes mcpctl from this checkout, where
// the project's sources and Go are there, and returns what compiles a program in
// it, or says why not.
func (t *tour) module() (compile func(context.Context) error, err error) {
	checkout := findCheckout(t.o.From)
	if why := missing(checkout); why != "" {
		return func(context.Context) error {
			t.line("")
			t.line("(Compiling the client is left out: %s.)", why)
			return nil
		}, nil
	}
	if err := writeModule(t.dir, checkout); err != nil {
		return nil, fmt.Errorf("demo: write a module for the client: %w", err)
	}
	return t.compile, nil
}

// compile builds a program with the generated client and runs it.
func (t *tour) compile(ctx context.Context) error {
	t.paragraph("A program that uses it, main.go of a module that takes mcpctl from this checkout:")
	t.line("")
	if _, err := t.Write(indent(clientSource)); err != nil {
		return err
	}
	if err := t.runner.run(ctx, command{words: []string{"go", "build", "-o", program("client"), "."}, limit: buildLimit}); err != nil {
		return err
	}
	return t.runner.run(ctx, command{words: []string{"./client"}})
}

// missing says what compiling lacks, "" for nothing.
func missing(checkout string) string {
	if checkout == "" {
		return "that takes a checkout of mcpctl as the current directory, and Go"
	}
	if _, err := exec.LookPath("go"); err != nil {
		return "there is no go command on the PATH"
	}
	return ""
}

func indent(text []byte) []byte {
	var b bytes.Buffer
	for line := range bytes.Lines(text) {
		if len(bytes.TrimSpace(line)) > 0 {
			b.WriteString("    ")
		}
		b.Write(line)
	}
	return b.Bytes()
}

// findCheckout returns the directory with mcpctl's go.mod, dir or one above it;
// "" where there is none.
func findCheckout(dir string) string {
	for {
		raw, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && moduleLine().Match(raw) {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

func moduleLine() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^module[ \t]+"?` + regexp.QuoteMeta(modulePath) + `"?[ \t]*(//.*)?\r?$`)
}

// writeModule makes dir a module that takes mcpctl from the checkout. Its
// go.mod is the checkout's under another name: what mcpctl needs is needed
// here, at the same versions, so nothing has to be looked up or fetched.
func writeModule(dir, checkout string) error {
	mod, err := os.ReadFile(filepath.Join(checkout, "go.mod"))
	if err != nil {
		return err
	}
	mod = moduleLine().ReplaceAllLiteral(mod, []byte("module "+tourModule))
	mod = fmt.Appendf(mod, "\nrequire %s v0.0.0\n\nreplace %s => %s\n", modulePath, modulePath, modPath(checkout))
	sum, err := os.ReadFile(filepath.Join(checkout, "go.sum"))
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{"go.mod": mod, "go.sum": sum, "main.go": clientSource} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// modPath is a path as go.mod takes it, quoted where it has to be.
func modPath(path string) string {
	path = filepath.ToSlash(path)
	if strings.ContainsAny(path, " \t()[]{},\"'`") || strings.Contains(path, "//") {
		return fmt.Sprintf("%q", path)
	}
	return path
}
