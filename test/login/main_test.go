//go:build integration || keycloak

package login_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
	"github.com/mcpctl/mcpctl/test/wire"
)

// binary is the mcpctl under test, built by TestMain.
var binary string

// TestMain makes this test binary act as the browser when it is started as such, else it
// runs the tests.
func TestMain(m *testing.M) {
	if how := os.Getenv(answerEnv); how != "" {
		os.Exit(browserMain(os.Args[len(os.Args)-1], how))
	}
	code := wire.Main(m, &binary, raceFlag)
	stopIssuers()
	os.Exit(code)
}

// TestSources has the suite run again when mcpctl is another.
func TestSources(t *testing.T) { wire.Sources(t) }

// user is somebody with a servers.json and a folder of tokens.
type user struct {
	config, home string
	env          []string
}

func newUser(t *testing.T, servers wire.Servers) *user {
	t.Helper()
	u := &user{config: filepath.Join(t.TempDir(), "servers.json"), home: t.TempDir()}
	require.NoError(t, os.WriteFile(u.config, servers.JSON(), 0o600))
	return u
}

// notes is a servers.json with one server, notes. auth is its entry's.
func notes(server string, auth map[string]any) wire.Servers {
	all := map[string]any{"callbackPort": 0} // others use the usual ports at the same time
	maps.Copy(all, auth)
	return wire.Servers{"notes": {"url": server, "auth": all}}
}

// nobody is no browser. The other answers are those of browserMain.
const nobody = ""

// command prepares a run of mcpctl, with a person that answers in the browser.
func (u *user) command(ctx context.Context, t *testing.T, answer string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env, cmd.WaitDelay = append(wire.Environment(u.config, u.home), u.env...), 10*time.Second
	if answer == nobody {
		cmd.Env = append(cmd.Env, "BROWSER=")
		return cmd
	}
	self, err := os.Executable()
	require.NoError(t, err)
	cmd.Env = append(cmd.Env, "BROWSER="+self, answerEnv+"="+answer, browserLogEnv+"="+u.browserLog())
	return cmd
}

func (u *user) browserLog() string { return filepath.Join(u.home, "browser.log") }

// outcome is what a finished run of mcpctl leaves.
type outcome struct {
	stdout, stderr string
	code           int
}

func (u *user) run(t *testing.T, answer string, args ...string) outcome {
	t.Helper()
	ctx := wait.Context(t)
	cmd := u.command(ctx, t, answer, args...)
	_ = os.Remove(u.browserLog()) // of the run before
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	o := outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatalf("mcpctl %s: %v", strings.Join(args, " "), err)
	}
	if ctx.Err() != nil || strings.Contains(o.stderr, "DATA RACE") || strings.Contains(o.stderr, "panic:") {
		t.Fatalf("mcpctl %s: %v\n%s\nbrowser: %s", strings.Join(args, " "), ctx.Err(), o.stderr, u.browserSaid())
	}
	if strings.Contains(o.stderr, "browser that has been opened") { // it may end later
		wait.Until(t, "the browser ends", func() bool {
			_, err := os.Stat(u.browserLog())
			return err == nil
		})
	}
	return o
}

func (u *user) browserSaid() string {
	raw, err := os.ReadFile(u.browserLog())
	if err != nil {
		return fmt.Sprint(err)
	}
	return string(raw)
}

// ok runs mcpctl, which has to succeed, and returns its output.
func (u *user) ok(t *testing.T, answer string, args ...string) string {
	t.Helper()
	o := u.run(t, answer, args...)
	if o.code != 0 {
		t.Fatalf("mcpctl %s: exit %d\n%s%s\nbrowser: %s", strings.Join(args, " "), o.code, o.stdout, o.stderr, u.browserSaid())
	}
	return o.stdout
}

// calls checks that a call gets through, and is that of the person who has logged in.
func (u *user) calls(t *testing.T, answer string) {
	t.Helper()
	if got := u.ok(t, answer, "call", "notes", "whoami"); !strings.Contains(got, "you are "+person) {
		t.Errorf("got %q, want %s", got, person)
	}
}
