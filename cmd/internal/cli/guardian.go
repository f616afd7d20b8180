package cli

import (
	"os"
	"path/filepath"
	goruntime "runtime"

	"github.com/mcpctl/mcpctl/runtime/transport"
)

const (
	// guardianWord is what Main looks for.
	guardianWord = "guardian"
	// guardianName is what a guardian is called in lists of processes: not
	// mcpctl, or killall and pkill would take it for what it guards.
	guardianName = "mcp-guardian"
)

// isGuardian reports whether this process was started by a guard: by this word and
// with its variable. It is not in the command tree: it is not for people, no
// server's name is taken for it, and what is not built takes no memory.
func isGuardian(words []string) bool {
	return len(words) == 1 && words[0] == guardianWord && os.Getenv(transport.GuardianVariable) != ""
}

// guard returns what ends the servers of a command that lasts where mcpctl is
// killed; nil, with a warning, where mcpctl cannot be run again. One-shot
// commands do without: they last for seconds, and starting a process costs
// time. The caller closes it when all servers have been closed.
func (a *app) guard() *transport.Guard {
	if a.getenv(transport.GuardianVariable) != "" {
		return nil // never a guardian of a guardian
	}
	path, err := self()
	if err != nil {
		a.log.Warn("mcpctl does not find itself: servers outlive it where it is killed", "err", err)
		return nil
	}
	return transport.NewGuard(transport.GuardOptions{Path: path, Args: []string{guardianName, guardianWord}, Logger: a.log})
}

// self is the path of this executable. On Linux it leads there also when the
// file has been deleted or replaced.
func self() (string, error) {
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
