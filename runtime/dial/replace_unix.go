//go:build unix

package dial

import (
	"os"
	"os/exec"
	"syscall"
)

// replace makes this process the command.
func replace(cmd *exec.Cmd) error {
	if cmd.Dir != "" {
		if err := os.Chdir(cmd.Dir); err != nil {
			return err
		}
	}
	return syscall.Exec(cmd.Path, cmd.Args, cmd.Env)
}
