//go:build integration

package login_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

// TestKeyring: a login whose token is in gnome-keyring serves commands and serve, is
// refreshed there, and leaves no file.
func TestKeyring(t *testing.T) {
	t.Parallel()
	session := newSession(t)
	p := newPair(t, settings{Lifetime: brief})
	u := newUser(t, notes(p.Server, nil))
	u.env = []string{"DBUS_SESSION_BUS_ADDRESS=" + session}
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(u.config), "config.yaml"), []byte("auth:\n  store: keyring\n"), 0o600))
	u.calls(t, approve)
	outlive()
	u.calls(t, nobody)
	d := wire.Serve(t, wire.Setup{Program: binary, Config: u.config, Home: u.home, Env: append(u.env, "BROWSER=")})
	outlive()
	pages := make(chan string, 1)
	if got := callOfStateless(t, d.URL, pages); !strings.Contains(got, "you are "+person) {
		t.Errorf("through serve: got %s", got)
	}
	if got := u.ok(t, nobody, "auth", "status", "-o", "text"); !strings.Contains(got, "kept in the keyring") {
		t.Errorf("got %s", got)
	}
	if _, err := os.Stat(filepath.Join(u.home, "auth.json")); err == nil {
		t.Error("there is a token file as well")
	}
	u.ok(t, nobody, "auth", "logout", "notes")
	if o := u.run(t, nobody, "auth", "token", "notes"); o.code != 4 {
		t.Errorf("after the logout: exit %d %s", o.code, o.stdout)
	}
	if s := p.seen(t); s.Grants["authorization_code"] != 1 || s.Grants["refresh_token"] < 2 {
		t.Errorf("the authorization server has seen %+v", s)
	}
}

// newSession starts a D-Bus session with an unlocked keyring, which ends with the test,
// and returns its address.
func newSession(t *testing.T) string {
	t.Helper()
	for _, program := range []string{"dbus-run-session", "gnome-keyring-daemon"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("there is no %s (Debian: gnome-keyring and dbus-daemon)", program)
		}
	}
	home := t.TempDir()
	cmd := exec.Command("dbus-run-session", "--", "sh", "-c",
		`printf secret | gnome-keyring-daemon --unlock --components=secrets >/dev/null && echo "session $DBUS_SESSION_BUS_ADDRESS" && exec cat`)
	for _, name := range []string{"HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"} {
		cmd.Env = append(cmd.Env, name+"="+home)
	}
	cmd.Env = append(cmd.Env, "PATH="+os.Getenv("PATH"))
	stdin, alive, err := os.Pipe()
	require.NoError(t, err)
	cmd.Stdin = stdin
	session, err := wire.Launch(cmd, "session ")
	_ = stdin.Close()
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = alive.Close()
		select {
		case <-session.Exited:
		case <-time.After(wire.Limit):
			session.Stop(time.Second)
		}
	})
	return session.URL
}
