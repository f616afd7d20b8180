package wire

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcpctl/mcpctl/runtime/config"
)

// Policies reports whether suites run with policies on, which allow all, and with servers
// compared with a lock. MCPCTL_TEST_POLICY=1 turns it on.
func Policies() bool { return os.Getenv("MCPCTL_TEST_POLICY") != "" }

// allowed is the section access where policies are on: everything is allowed, by a rule, and
// every call of a tool is decided by its arguments.
func allowed() string {
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

// Decide writes, where policies are on, such policies beside a servers.json, and a lock
// that has nothing of its servers: each is compared with it, and all that they offer is new.
func Decide(path string) error {
	if !Policies() {
		return nil
	}
	file, err := config.Load(path)
	if err != nil {
		return err
	}
	servers := map[string]any{}
	for _, e := range file.Entries() {
		servers[e.Name] = struct{}{}
	}
	lock, err := json.Marshal(map[string]any{"lockVersion": 1, "servers": servers})
	return errors.Join(err,
		os.WriteFile(filepath.Join(filepath.Dir(path), "config.yaml"), []byte(allowed()), 0o600),
		os.WriteFile(strings.TrimSuffix(path, ".json")+".lock.json", lock, 0o600),
	)
}
