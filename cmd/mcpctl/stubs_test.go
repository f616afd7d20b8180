package main_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

// stubRunners makes programs of some names, which stand in for the runners of packages and
// come first on the PATH. Each writes what it was started with to a file beside it, such as
// bin/npx.ran, and is the fake server then.
func stubRunners(ts *testscript.TestScript, neg bool, names []string) {
	if neg || len(names) == 0 {
		ts.Fatalf("usage: stubrunners NAME...")
	}
	dir := ts.MkAbs("bin")
	ts.Check(os.MkdirAll(dir, 0o700))
	for _, name := range names {
		script := "#!/bin/sh\nexec stub-runner \"$0\" \"$@\"\n"
		ts.Check(require.WriteProgram(filepath.Join(dir, name), []byte(script), 0o700))
	}
	ts.Setenv("PATH", dir+string(os.PathListSeparator)+ts.Getenv("PATH"))
}

// stubRunner is the program behind a stub: its path and then its arguments. The record has
// an argument a line and a variable a line, each as JSON.
func stubRunner() {
	path, args := os.Args[1], os.Args[2:]
	work := filepath.Dir(filepath.Dir(path))
	var lines []string
	add := func(text string) {
		raw, err := json.Marshal(strings.ReplaceAll(text, work, "WORK"))
		if err != nil {
			panic(err)
		}
		lines = append(lines, string(raw))
	}
	for _, arg := range args {
		add(arg)
	}
	lines = append(lines, "")
	env := os.Environ()
	slices.Sort(env)
	for _, e := range env {
		switch name, _, _ := strings.Cut(e, "="); name {
		case "MCPCTL_GUARD":
			add(name) // differs from run to run
		case "PATH", "PWD", "OLDPWD", "SHLVL", "_", "GORACE", "GOCOVERDIR": // the shell's and the tests' own
		default:
			add(e)
		}
	}
	if err := os.WriteFile(path+".ran", []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	s := runtimetest.New()
	if slices.Contains(args, "@acme/thing-mcp@1.3.0") { // a later version has other tools
		s.Tools = append(s.Tools[1:], runtimetest.Tool{Definition: json.RawMessage(`{"name":"move","inputSchema":{"type":"object"}}`)})
	}
	if err := s.Serve(context.Background(), os.Stdin, os.Stdout); err != nil {
		os.Exit(1)
	}
}

// touchFile creates a file.
func touchFile(path string) int {
	if os.WriteFile(path, nil, 0o600) != nil {
		return 1
	}
	return 0
}
