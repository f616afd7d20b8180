//go:build unix

package proc

import (
	"strconv"
	"syscall"
)

// si_code of a child that has ended.
const (
	codeExited = 1
	codeKilled = 2
	codeDumped = 3
)

// statusText words an end as os.ProcessState does.
func statusText(code, status int) string {
	if code == codeExited {
		return "exit status " + strconv.Itoa(status)
	}
	text := "signal: " + syscall.Signal(status).String()
	if code == codeDumped {
		text += " (core dumped)"
	}
	return text
}

// waitText is statusText of what waiting for a child returns.
func waitText(s syscall.WaitStatus) string {
	switch {
	case s.Exited():
		return statusText(codeExited, s.ExitStatus())
	case s.CoreDump():
		return statusText(codeDumped, int(s.Signal()))
	}
	return statusText(codeKilled, int(s.Signal()))
}
