// Package hostfiles moves servers between servers.json and the files of other hosts.
package hostfiles

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/hosts"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// Command is what the commands need of the program that they run in.
type Command struct {
	UI     *ui.UI
	Asker  func() ui.Asker
	Getenv func(string) string
	// ConfigPath is where servers.json is, which Load reads.
	ConfigPath string
	Load       func() (*config.File, error)
	// StateDir is where the ledger is.
	StateDir string
	// Place is where hosts' files are looked for.
	Place hosts.Place
}

// Here returns the machine and the directory that the program runs in.
func Here(getenv func(string) string) hosts.Place {
	p := hosts.Place{GOOS: goruntime.GOOS, Getenv: getenv}
	p.Home, _ = os.UserHomeDir()
	p.Dir, _ = os.Getwd()
	return p
}

// Self returns how hosts start this program: by its name if that is found, and with the
// configuration in use if a host would not find it by itself.
func Self(getenv func(string) string, configPath string) hosts.Self {
	self := hosts.Self{Command: "mcpctl"}
	own, err := os.Executable()
	if found, missing := exec.LookPath(self.Command); err == nil && (missing != nil || !sameFile(found, own)) {
		self.Command = own
	}
	usual, err := config.Path(func(name string) string {
		if strings.HasPrefix(name, "MCPCTL_") {
			return "" // a host has its own environment
		}
		return getenv(name)
	})
	if path, bad := filepath.Abs(configPath); bad == nil && !config.IsInline(path) && (err != nil || path != usual) {
		self.Args = []string{"--config", path}
	}
	return self
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// host returns the host of a name. The error names those there are.
func host(name string) (*hosts.Host, error) {
	if h := hosts.Find(name); h != nil {
		return h, nil
	}
	names := slices.Concat(hosts.Names(), hosts.GatewayNames())
	return nil, ui.Usage("unknown host %q", name).WithHint("%s", plain.NearestHint(name, names, "one of "+strings.Join(names, ", ")))
}

// short returns a path with ~ for the home directory.
func (p *Command) short(path string) string { return Short(path, p.Place) }

// Short returns a path with ~ for the home directory of a place.
func Short(path string, at hosts.Place) string {
	if rest, ok := strings.CutPrefix(path, at.Home+string(filepath.Separator)); ok && at.Home != "" {
		return filepath.Join("~", rest)
	}
	return path
}

// identity is what an entry runs or reaches, which two entries of one server have in
// common: the program and its arguments, or the address.
func identity(e config.Entry) string {
	var of any = e.URL
	if e.URL == "" {
		command := e.Command[strings.LastIndexAny(e.Command, `/\`)+1:]
		of = append([]string{strings.TrimSuffix(command, ".exe")}, slices.DeleteFunc(slices.Clone(e.Args), func(a string) bool {
			return a == "-y" || a == "--yes" // of npx, which asks without it
		})...)
	}
	raw, _ := json.Marshal(of)
	return string(raw)
}

// parse returns an entry that is in no file.
func parse(name string, raw json.RawMessage) (config.Entry, error) {
	text := append(append([]byte(`{"mcpServers":{"x":`), raw...), "}}"...)
	f, err := config.Parse("", text)
	if err != nil {
		return config.Entry{}, err
	}
	e, _ := f.Entry("x")
	e.Name = name
	if e.Fault != nil {
		return e, errors.New(e.Fault.Message)
	}
	return e, nil
}
