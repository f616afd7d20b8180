package dial

import "os/exec"

// replace runs the command and waits for its end: Windows has no execve.
func replace(cmd *exec.Cmd) error { return cmd.Run() }
