package proc

import (
	"fmt"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// gentle tells whether there is a way to ask processes to end: a console signal
// would reach our own console.
const gentle = false

// tree is the job object that the child and its descendants belong to. Closing
// its last handle kills them, so they do not outlive us.
type tree struct{ job windows.Handle }

func prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &windows.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// newJob makes a job object whose processes end with its last handle.
func newJob() (windows.Handle, error) {
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

// adopt puts the child into a job of its own. What it starts before that stays
// outside: nothing that Go starts can be suspended until it is there, and the
// moment is shorter than a process takes to begin. The job of a Guard has it
// all the same.
func adopt(cmd *exec.Cmd, _ string) (tree, error) {
	job, err := newJob()
	if err != nil {
		return tree{}, err
	}
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(cmd.Process.Pid))
	if err == nil {
		err = windows.AssignProcessToJobObject(job, h)
		_ = windows.CloseHandle(h)
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return tree{}, fmt.Errorf("assign process to job object: %w", err)
	}
	return tree{job}, nil
}

// signal ends every process of the job; there is nothing gentler, see gentle.
func (t tree) signal(syscall.Signal) { _ = windows.TerminateJobObject(t.job, 1) }

// look finds nobody: a job that is terminated has no processes.
func (t tree) look() ([]process, bool) { return nil, true }

func (t tree) release() { _ = windows.CloseHandle(t.job) }

// process is a process that has left its tree; none can leave a job.
type process struct{ group int }

func (process) lives() bool           { return false }
func (process) signal(syscall.Signal) {}
