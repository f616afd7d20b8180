package cli

import (
	"os"
	"path/filepath"
	goruntime "runtime"
	"sync"

	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/transport"
)

const (
	// guardianWord is the argument that makes Main a guardian.
	guardianWord = "guardian"
	// guardianName is a guardian's name in lists of processes: not mcpctl, or
	// killall and pkill would kill it together with the guarded process.
	guardianName = "mcp-guardian"
)

// isGuardian reports whether a guard started this process, with its word and its
// variable. It is not in the command tree, which users see and which takes memory.
func isGuardian(words []string) bool {
	return len(words) == 1 && words[0] == guardianWord && os.Getenv(transport.GuardianVariable) != ""
}

// guard returns a guard that ends the servers of a long-running command if mcpctl is
// killed; nil, with a warning, if mcpctl cannot start itself. The caller closes it after
// all servers.
func (a *app) guard() *transport.Guard {
	path, err := executable()
	if err != nil {
		a.log.Warn("mcpctl does not find itself: servers outlive it where it is killed", "err", err)
		return nil
	}
	return newGuard(&a.environment, path, false)
}

// newGuard returns a guard whose guardian is the program at path.
func newGuard(env *environment, path string, short bool) *transport.Guard {
	return transport.NewGuard(transport.GuardOptions{Path: path, Args: []string{guardianName, guardianWord}, Short: short, Logger: env.log})
}

// shortGuard is the guard of all servers of a one-shot command.
type shortGuard struct {
	once  sync.Once
	guard *transport.Guard
}

// of returns the guard, which the first call makes and run closes; nil if mcpctl does not
// find itself, and on Windows, where servers end with their last handle.
func (s *shortGuard) of(env *environment) *transport.Guard {
	s.once.Do(func() {
		path, err := os.Executable() // the shell that waits is another program
		if err == nil && goruntime.GOOS != "windows" {
			s.guard = newGuard(env, path, true)
		}
	})
	return s.guard
}

// close closes the guard, if there is one.
func (s *shortGuard) close() {
	s.once.Do(func() {})
	s.guard.Close()
}

// guardEarly starts the guardian of a one-shot command on a server, beside what is done
// before the server starts.
func (env *environment) guardEarly(server string) {
	if set := env.file.set; set != nil {
		if e, ok := set.File().Entry(server); ok && e.Transport() == config.TransportStdio {
			go env.short.of(env).Start() // Mark waits for it
		}
	}
}

// executable returns the path of this executable, on Linux one that works also after the
// file was deleted or replaced.
func executable() (string, error) {
	if link := "/proc/self/exe"; goruntime.GOOS == "linux" {
		if _, err := os.Stat(link); err == nil {
			return link, nil
		}
	}
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}
