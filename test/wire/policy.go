package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/mcpctl/mcpctl/runtime/config"
)

// Policies reports whether suites run with policies on, which allow all, and with servers
// compared with a lock. MCPCTL_TEST_POLICY=1 turns it on.
func Policies() bool { return os.Getenv("MCPCTL_TEST_POLICY") != "" }

// Always is what config.yaml has in all that suites run with, whatever the policies: who is let
// in to serve over HTTP, and the log.
func Always() string {
	if !Identity() {
		return records()
	}
	return "serve: {auth: [token: {}]}\n" + records()
}

// decided is the section access where policies are on: everything is allowed, by a rule, and
// every call of a tool is decided by its arguments.
func decided() string {
	if !Policies() {
		return ""
	}
	return `access:
  default: deny
  rules:
    - {allow: "*", to: "*"}
    - {deny: "*", to: "*", when: {args.nobodyHasThis: {eq: true}}}
`
}

// Decide writes what suites run with beside a servers.json, and, where policies are on, the
// lock of its servers, by name. Of a server that is not there nothing is locked: it is compared
// all the same, and all that it offers is new.
func Decide(path string, locked map[string]json.RawMessage) error {
	err := Allow(filepath.Dir(path))
	if Policies() {
		err = errors.Join(err, writeLock(path, locked))
	}
	return err
}

// Allow adds what suites run with to the config.yaml of a folder. The sections that it has
// stay as they are.
func Allow(dir string) error {
	name := filepath.Join(dir, "config.yaml")
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var more strings.Builder
	for _, section := range []string{records(), decided(), viewed()} {
		if key, _, _ := strings.Cut(section, ":"); section != "" && !strings.Contains("\n"+string(text), "\n"+key+":") {
			more.WriteString("\n" + section)
		}
	}
	if more.Len() == 0 {
		return nil
	}
	return os.WriteFile(name, append(text, more.String()...), 0o600)
}

// writeLock writes the lock beside a servers.json.
func writeLock(path string, locked map[string]json.RawMessage) error {
	file, err := config.Load(path)
	if err != nil {
		return err
	}
	servers := map[string]json.RawMessage{}
	for _, e := range file.Entries() {
		if servers[e.Name] = locked[e.Name]; servers[e.Name] == nil {
			servers[e.Name] = json.RawMessage("{}")
		}
	}
	lock, err := json.Marshal(map[string]any{"lockVersion": 1, "servers": servers})
	return errors.Join(err, os.WriteFile(lockPath(path), lock, 0o600))
}

// lockPath is where the lock of a servers.json is.
func lockPath(path string) string { return strings.TrimSuffix(path, ".json") + ".lock.json" }

// Lock returns what mcpctl lock, of program, writes of the server of an entry.
func Lock(program string, entry map[string]any) (json.RawMessage, error) {
	dir, err := os.MkdirTemp("", "mcpctl-lock-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "servers.json")
	if err := os.WriteFile(path, Servers{"one": entry}.JSON(), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.Command(program, "lock")
	cmd.Env = Environment(path, dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("mcpctl lock: %w\n%s", err, out)
	}
	raw, err := os.ReadFile(lockPath(path))
	if err != nil {
		return nil, err
	}
	var lock struct{ Servers map[string]json.RawMessage }
	err = json.Unmarshal(raw, &lock)
	return lock.Servers["one"], err
}
