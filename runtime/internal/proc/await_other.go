//go:build !linux && !darwin

package proc

import "os/exec"

// await waits for the end of a child and returns how it has ended. On Windows the
// job is ours by its handle, not by a number.
func await(cmd *exec.Cmd) string {
	_ = cmd.Wait()
	return cmd.ProcessState.String()
}
