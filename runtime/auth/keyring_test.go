package auth_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/zalando/go-keyring"

	"github.com/mcpctl/mcpctl/internal/authconfig"
	"github.com/mcpctl/mcpctl/internal/tokenstore"
	"github.com/mcpctl/mcpctl/runtime/auth"
	_ "github.com/mcpctl/mcpctl/runtime/auth/keyring"
	"github.com/mcpctl/mcpctl/test/require"
)

// entries are what the keyring has of ours, of the first parts.
func entries(t *testing.T) (names []string) {
	t.Helper()
	all := []string{"tokens"}
	for n := range 12 {
		all = append(all, fmt.Sprintf("tokens.a.%d", n), fmt.Sprintf("tokens.b.%d", n))
	}
	for _, name := range all {
		text, err := keyring.Get("mcpctl", name)
		if errors.Is(err, keyring.ErrNotFound) {
			continue
		}
		require.NoError(t, err)
		if len(text) > 2100 {
			t.Errorf("the entry %s has %d bytes", name, len(text))
		}
		names = append(names, name)
	}
	return names
}

// bus has the package believe that there is a D-Bus session.
func bus(t *testing.T) {
	t.Helper()
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere")
}

// TestKeyring: tokens of any length are kept in entries of a bounded length, replaced
// and forgotten there, and not in a file.
func TestKeyring(t *testing.T) {
	bus(t)
	keyring.MockInit()
	keyringWorks(t)
}

func keyringWorks(t *testing.T) {
	t.Helper()
	w := newWorld(t, nil)
	path := tokenFile(t)
	person := &browser{t: t}
	next := func(want string, pages, refreshed int64) {
		t.Helper()
		a := auth.New(auth.Options{Server: parse(t, w.URL+"/mcp"), Config: authconfig.Config{CallbackPort: -1}, Store: &tokenstore.Store{Path: path, Keyring: true}, Prompter: person})
		if got := call(t.Context(), a, w.URL+"/mcp"); got != want || person.pages.Load() != pages || w.refreshed.Load() != refreshed {
			t.Errorf("got %q, %d logins, %d refreshes, want %q, %d, %d", got, person.pages.Load(), w.refreshed.Load(), want, pages, refreshed)
		}
	}
	next("called", 1, 0)
	next("called", 1, 0)
	w.mu.Lock()
	w.padding = strings.Repeat("x", 9000)
	w.mu.Unlock()
	w.expire()
	next("called", 1, 1)
	next("called", 1, 1)
	if got := entries(t); len(got) < 5 {
		t.Errorf("a long token is in %v", got)
	}
	w.mu.Lock()
	w.padding = ""
	w.mu.Unlock()
	w.expire()
	next("called", 1, 2)
	if got := entries(t); len(got) > 2 {
		t.Errorf("a short token is in %v", got)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("there is a token file")
	}
	s := &tokenstore.Store{Path: path, Keyring: true}
	gone, err := s.Remove(t.Context(), w.URL+"/mcp")
	if err != nil || len(gone) != 1 {
		t.Errorf("%v %v", gone, err)
	}
	next("called", 2, 2)
}

// TestKeyringParts: entries that a killed write has left do no harm and are removed, and
// entries that do not belong together are an error with no text of theirs.
func TestKeyringParts(t *testing.T) {
	bus(t)
	keyring.MockInit()
	for n := 1; n < 7; n++ {
		require.NoError(t, keyring.Set("mcpctl", fmt.Sprintf("tokens.a.%d", n), "hush"))
	}
	keyringWorks(t)
	if got := entries(t); len(got) > 2 {
		t.Errorf("there are %v", got)
	}
	for _, text := range []string{"hush", "a 0 hush\n{}", "b 2 hush\n", "a -1 x\n", ""} {
		require.NoError(t, keyring.Set("mcpctl", "tokens", text))
		s := &tokenstore.Store{Path: tokenFile(t), Keyring: true}
		if _, err := s.Tokens(""); err == nil || strings.Contains(err.Error(), "hush") || !strings.Contains(err.Error(), "remove the entries of mcpctl") {
			t.Errorf("%q: %v", text, err)
		}
		if _, err := s.Remove(t.Context(), "x"); err == nil {
			t.Errorf("%q was overwritten", text)
		}
	}
}

// TestNoKeyring: without a keyring the call is served, and nothing is in a file.
func TestNoKeyring(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	path := tokenFile(t)
	for name, set := range map[string]func(){
		"no session": func() { t.Setenv("DBUS_SESSION_BUS_ADDRESS", "autolaunch:") },
		"no bus":     func() { bus(t); keyring.MockInitWithError(fmt.Errorf("dial: %w", syscall.ENOENT)) },
		"refused":    func() { bus(t); keyring.MockInitWithError(errors.New("no such service")) },
	} {
		keyring.MockInit()
		set()
		w := newWorld(t, nil)
		said := &lines{}
		a := auth.New(auth.Options{
			Server: parse(t, w.URL+"/mcp"), Config: authconfig.Config{CallbackPort: -1}, Store: &tokenstore.Store{Path: path, Keyring: true}, Prompter: &browser{t: t}, Logger: said.logger(),
		})
		if got := call(t.Context(), a, w.URL+"/mcp"); got != "called" {
			t.Errorf("%s: got %q", name, got)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: there is a token file", name)
		}
		if len(said.all) != 1 || !strings.Contains(said.all[0], "none is kept") || !strings.Contains(said.all[0], "set auth.store to file") {
			t.Errorf("%s: it says %q", name, said.all)
		}
	}
}

// TestRealKeyring is TestKeyring with gnome-keyring, in a D-Bus session of its own.
func TestRealKeyring(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"dbus-run-session", "gnome-keyring-daemon"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("there is no %s (Debian: gnome-keyring and dbus-daemon)", program)
		}
	}
	exe, err := os.Executable()
	require.NoError(t, err)
	home := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "dbus-run-session", "--", "sh", "-c",
		`printf secret | gnome-keyring-daemon --unlock --components=secrets >/dev/null && exec "$0" -test.v -test.run '^TestInSession$'`, exe)
	cmd.Env = append(os.Environ(), sessionEnv+"=yes", "HOME="+home, "XDG_DATA_HOME="+home, "XDG_RUNTIME_DIR="+home, "XDG_CACHE_HOME="+home, "XDG_CONFIG_HOME="+home)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestInSession") {
		t.Errorf("%v\n%s", err, out)
	}
}

// sessionEnv says that this process is in the D-Bus session of TestRealKeyring.
const sessionEnv = "AUTH_TEST_SESSION"

// TestInSession is the part of TestRealKeyring in that session.
func TestInSession(t *testing.T) {
	if os.Getenv(sessionEnv) == "" {
		t.Skip("TestRealKeyring starts it")
	}
	keyringWorks(t)
}
