//go:build unix

package main_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/require"
)

// policies writes a file beside servers.json.
func (s *served) alongside(name, text string) {
	s.t.Helper()
	path := filepath.Join(filepath.Dir(s.config), filepath.FromSlash(name))
	require.NoError(s.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(s.t, os.WriteFile(path, []byte(text), 0o600))
}

func (s *served) lists(tool string) bool {
	return strings.Contains(s.call("tools/list", `{}`), `"`+tool+`"`)
}

// policyStatus returns what mcpctl status says of the policies of the only serve.
func (s *served) policyStatus() (p struct {
	Digest   string
	Policies int
	Problem  string
},
) {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), "mcpctl", "--config", s.config, "status", "--json")
	cmd.Env = s.cmd.Env
	out, err := cmd.Output()
	require.NoError(s.t, err)
	var all struct {
		Serves []struct {
			Policy json.RawMessage
		}
	}
	require.NoError(s.t, json.Unmarshal(out, &all))
	if len(all.Serves) != 1 {
		s.t.Fatalf("got %s", out)
	}
	if all.Serves[0].Policy != nil {
		require.NoError(s.t, json.Unmarshal(all.Serves[0].Policy, &p))
	}
	return p
}

// TestServePolicies: each change of the files of policies counts at once, whose list
// changes hears of it, and what is broken leaves what was there before.
func TestServePolicies(t *testing.T) {
	t.Parallel()
	s := serveStdio(t, entries("a b"))
	if !s.lists("a__echo") || !s.lists("b__echo") || s.policyStatus().Digest != "" {
		t.Fatal("something is hidden without policies")
	}
	heard := func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.notes["notifications/tools/list_changed"]
	}

	s.alongside("config.yaml", "access: {rules: [{deny: '*', to: a}]}\n")
	s.until("a is hidden", func() bool { return !s.lists("a__echo") })
	if !s.lists("b__echo") {
		t.Error("b is hidden, too")
	}
	if got := s.text("a__echo", `{"message":"hi"}`); !strings.Contains(got, "unknown tool: a__echo") {
		t.Errorf("got %s", got)
	}
	s.until("the client hears of it", func() bool { return heard() > 0 })
	first := s.policyStatus()
	if first.Digest == "" || first.Policies != 2 || first.Problem != "" {
		t.Errorf("status: %+v", first)
	}

	s.alongside("config.yaml", "access: {rules: [{deny: '*', too: b}]}\n")
	const place = `config.yaml:1:30: `
	s.until("the fault is said", func() bool {
		return strings.Contains(s.said(), "the policies cannot be used: what they said before stays")
	})
	if said := s.said(); !strings.Contains(said, place) || strings.Count(said, "the policies cannot be used") != 1 {
		t.Errorf("no line with the place, or several: %s", said)
	}
	if s.lists("a__echo") || !s.lists("b__echo") {
		t.Error("what counted before does not count")
	}
	if got := s.policyStatus(); got.Digest != first.Digest || !strings.Contains(got.Problem, place) {
		t.Errorf("status: %+v", got)
	}

	// One that is empty may be half written, and allows nothing more.
	s.alongside("config.yaml", "")
	s.until("it is said to be empty", func() bool { return strings.Contains(s.said(), "the file is empty") })
	if s.lists("a__echo") || !s.lists("b__echo") {
		t.Error("what counted before does not count")
	}

	// A file in another folder counts as soon as it is written, and whenever it changes.
	s.alongside("policy/one.cedar", `@id("one") forbid (principal, action, resource in Server::"b");`)
	s.alongside("config.yaml", "access: {policies: [policy/*.cedar]}\n")
	s.until("b is hidden, and a is not", func() bool { return s.lists("a__echo") && !s.lists("b__echo") })
	s.alongside("policy/one.cedar", `@id("one") forbid (principal, action, resource in Server::"c");`)
	s.until("b is there", func() bool { return s.lists("b__echo") })
	s.alongside("policy/one.cedar", "\n\npermit (")
	s.until("the fault of the other file is said", func() bool { return strings.Contains(s.said(), filepath.Join("policy", "one.cedar")+":3:") })
	s.alongside("policy/one.cedar", `@id("one") forbid (principal, action, resource in Server::"a");`)
	s.until("a is hidden again", func() bool { return !s.lists("a__echo") })
	s.until("it is said a second time that they can be used again", func() bool {
		return strings.Count(s.said(), "the policies can be used again") == 2
	})

	require.NoError(t, os.Remove(filepath.Join(filepath.Dir(s.config), "config.yaml")))
	s.until("a is there without policies", func() bool { return s.lists("a__echo") })
	if said := s.said(); strings.Contains(said, "settings have changed") {
		t.Errorf("a change of policies alone needs no restart: %s", said)
	}
}

// TestServePoliciesAtStart: policies that cannot be read keep serve from starting.
func TestServePoliciesAtStart(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{
		"unknown":  "access: {rules: [{deny: '*', too: a}]}\n",
		"no file":  "access: {policies: [none.cedar]}\n",
		"no Cedar": "access: {policies: [bad.cedar]}\n",
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "servers.json"), []byte(entries("a")), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(file), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "bad.cedar"), []byte("permit ("), 0o600))
		cmd := exec.CommandContext(t.Context(), "mcpctl", "--config", filepath.Join(dir, "servers.json"), "serve", "--http", "127.0.0.1:0")
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GORACE=atexit_sleep_ms=0"}
		out, err := cmd.CombinedOutput()
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 5 || !strings.Contains(string(out), ":1:") {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
}
