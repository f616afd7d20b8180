//go:build !unix

package main

import "os/exec"

func group(cmd *exec.Cmd) *exec.Cmd {
	cmd.WaitDelay = stopTimeout
	return cmd
}

func killGroup(*exec.Cmd) {}
