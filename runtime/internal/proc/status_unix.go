//go:build linux || darwin

package proc

import (
	"strconv"
	"syscall"
)

// si_code of a child that has ended.
const (
	codeExited = 1
	codeDumped = 3
)

// statusText words an end as os.ProcessState does.
func statusText(code, status int32) string {
	if code == codeExited {
		return "exit status " + strconv.Itoa(int(status))
	}
	text := "signal: " + syscall.Signal(status).String()
	if code == codeDumped {
		text += " (core dumped)"
	}
	return text
}
