package wire

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/wait"
)

// MarkName is the variable that every process of a test's servers has in its
// environment, whoever its parents are.
const MarkName = "MCPCTL_FAULTS_MARK"

// MarkedProcess is a process with a mark.
type MarkedProcess struct {
	PID     int
	Command string
}

// Marked returns the processes that have a mark in their environment. It needs
// /proc.
func Marked(mark string) (out []MarkedProcess) {
	dirs, _ := os.ReadDir("/proc")
	for _, dir := range dirs {
		pid, err := strconv.Atoi(dir.Name())
		if err != nil {
			continue
		}
		environ, err := os.ReadFile(filepath.Join("/proc", dir.Name(), "environ"))
		if err != nil || !bytes.Contains(environ, []byte(MarkName+"="+mark)) {
			continue // it may have ended, and the dead have none
		}
		line, _ := os.ReadFile(filepath.Join("/proc", dir.Name(), "cmdline"))
		out = append(out, MarkedProcess{pid, strings.ReplaceAll(string(line), "\x00", " ")})
	}
	return out
}

// NothingLeft waits until no process has a mark, for wait.Gone after since. Those that
// are left are an error of the test, and killed.
func NothingLeft(t testing.TB, mark string, since time.Time) {
	t.Helper()
	for {
		left := Marked(mark)
		if len(left) == 0 {
			return
		}
		if time.Since(since) > wait.Gone {
			t.Errorf("left %s after mcpctl ended: %v", time.Since(since).Round(time.Millisecond), left)
			for _, p := range left {
				if child, err := os.FindProcess(p.PID); err == nil {
					_ = child.Kill()
				}
			}
			return
		}
		time.Sleep(20 * time.Millisecond) // nothing reports the end of another's child
	}
}
