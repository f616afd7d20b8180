package proctree

import (
	"fmt"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Gentle reports whether there is a way to ask processes to end: a console signal
// would reach our own console.
const Gentle = false

// Tree is the job object that the child and its descendants belong to. Closing
// its last handle kills them, so they do not outlive us.
type Tree struct{ job windows.Handle }

// Prepare keeps our console's signals away from the child, or without a terminal the
// console itself.
func Prepare(cmd *exec.Cmd, noTerminal bool) {
	flags := uint32(windows.CREATE_NEW_PROCESS_GROUP)
	if noTerminal {
		flags |= windows.CREATE_NO_WINDOW
	}
	cmd.SysProcAttr = &windows.SysProcAttr{CreationFlags: flags}
}

// NewJob returns a job object whose processes end with its last handle.
func NewJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, fmt.Errorf("create job object: %w", err)
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))); err != nil {
		_ = windows.CloseHandle(job)
		return 0, fmt.Errorf("limit job object: %w", err)
	}
	return job, nil
}

// Adopt puts the child into a job of its own. What it starts before that stays
// outside: nothing that Go starts can be suspended until it is there, and the
// moment is shorter than a process takes to begin. The job of a Guard has it
// all the same.
func Adopt(c Child, _ string) (Tree, error) {
	job, err := NewJob()
	if err != nil {
		return Tree{}, err
	}
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(c.PID))
	if err == nil {
		err = windows.AssignProcessToJobObject(job, h)
		_ = windows.CloseHandle(h)
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return Tree{}, fmt.Errorf("assign process to job object: %w", err)
	}
	return Tree{job}, nil
}

// Signal ends every process of the job; there is nothing gentler, see Gentle.
func (t Tree) Signal(syscall.Signal) { _ = windows.TerminateJobObject(t.job, 1) }

// Look returns nobody: a job that is terminated has no processes.
func (t Tree) Look() ([]Process, bool) { return nil, true }

// Release closes the job, which ends what is left in it.
func (t Tree) Release() { _ = windows.CloseHandle(t.job) }

// Process is a process that has left its tree; none can leave a job.
type Process struct{ Group int }

// Lives returns false.
func (Process) Lives() bool { return false }

// Signal does nothing.
func (Process) Signal(syscall.Signal) {}
