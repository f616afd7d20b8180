//go:build unix

package hostile

import (
	"os"
	"os/exec"
	"syscall"
)

// spawn starts the children that a fault wants: they have our pipes, and live
// for two minutes where nobody ends them.
func (s *server) spawn() {
	var args []string
	attr := &syscall.SysProcAttr{}
	switch {
	case s.has("grandchild"):
	case s.has("grandchild-left"):
		defer s.exit(7)
	case s.has("grandchild-stubborn"):
		args = []string{"-deaf"}
	case s.has("grandchild-session"):
		args, attr.Setsid = []string{"-deaf"}, true
	default:
		return
	}
	exe, err := os.Executable()
	if err != nil {
		return
	}
	cmd := exec.Command(exe, append(args, "-sleep", "2m")...)
	cmd.Env = append(os.Environ(), Env+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.NewFile(1, "out"), os.Stderr
	cmd.SysProcAttr = attr
	_ = cmd.Start() // counted by whoever looks for what is left
}
