package main_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mcpctl/mcpctl/cmd/internal/cli"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/faults/hostile"
	"github.com/mcpctl/mcpctl/test/kit"
	"github.com/mcpctl/mcpctl/test/wire"
)

// TestMain makes this binary act as mcpctl and as fake-mcp, the scripted
// server, when it is started by one of these names; both are in $PATH of every
// test here.
func TestMain(m *testing.M) {
	mcpctl := func() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
	testscript.Main(wire.Heard{M: m}, map[string]func(){
		"mcpctl": mcpctl,
		// What mcpctl serve starts to outlive itself; it calls itself so.
		"mcp-guardian": mcpctl,
		"fake-mcp":     func() { os.Exit(runtimetest.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
		"hostile-mcp":  func() { os.Exit(hostile.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
		"fake-browser": fakeBrowser,
		"stub-runner":  stubRunner,
		// A server that should never be started.
		"touch-file": func() { os.Exit(touchFile(os.Args[1])) },
		"kit":        func() { os.Exit(kit.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
		// For TestAllocServe.
		"mcpctl-counted": counted,
		"load-echo":      loadEcho,
	})
}

// TestScripts runs testdata/script. In a script, servers.json is the
// configuration; see commands_test.go for the commands beyond testscript's own.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		Setup:               hermetic,
		Cmds:                scriptCommands(),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// hermetic points everything mcpctl keeps into the script's work directory.
// testscript passes nothing of the environment on but PATH, so no MCPCTL_
// variable of the developer comes through.
func hermetic(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	for name, dir := range map[string]string{
		"HOME": "home", "USERPROFILE": "home",
		"XDG_CONFIG_HOME": "home/.config", "XDG_STATE_HOME": "home/.state", "XDG_CACHE_HOME": "home/.cache",
		"APPDATA": "home/appdata", "LOCALAPPDATA": "home/localappdata",
		"MCPCTL_CONFIG": "servers.json",
	} {
		env.Setenv(name, filepath.Join(env.WorkDir, filepath.FromSlash(dir)))
	}
	// A registry that is asked by mistake refuses at once.
	env.Setenv("MCPCTL_REGISTRY", "http://127.0.0.1:1")
	// npm has no registry to ask, either.
	env.Setenv("NPM_CONFIG_OFFLINE", "true")
	// On a busy machine a list would go without a server that is still starting.
	env.Setenv("MCPCTL_LIST_GRACE", "never")
	// Built with the race detector, each process would sleep a second at its
	// end.
	env.Setenv("GORACE", "atexit_sleep_ms=0")
	return nil
}
