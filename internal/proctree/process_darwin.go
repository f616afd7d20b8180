package proctree

import (
	"os"

	"golang.org/x/sys/unix"
)

// zombie is SZOMB of sys/proc.h.
const zombie = 5

// StartOf returns when a process was started, in microseconds; 0: not known.
func StartOf(pid int) uint64 {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0
	}
	return processOf(k).Started
}

// Find returns a living process.
func Find(pid int) (Process, bool) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || k.Proc.P_stat == zombie {
		return Process{}, false
	}
	return processOf(k), true
}

func processOf(k *unix.KinfoProc) Process {
	at := k.Proc.P_starttime
	return Process{int(k.Proc.P_pid), int(k.Eproc.Pgid), uint64(at.Sec)*1e6 + uint64(at.Usec)}
}

// Look returns the living processes of this user whose group is in, and with
// carries those outside whose environment has a mark that it takes; programs
// that the system protects do not show theirs. Processes older than since
// cannot be meant. False: the system does not tell.
func Look(in func(group int) bool, carries func(value string) bool, since uint64) (found []Process, sees bool) {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.uid", os.Getuid())
	if err != nil {
		return nil, false
	}
	self := os.Getpid()
	for i := range all {
		k := processOf(&all[i])
		if all[i].Proc.P_stat == zombie || k.Started < since || k.PID == self {
			continue
		}
		if in(k.Group) {
			found = append(found, k)
			continue
		}
		if carries == nil {
			continue
		}
		if value, ok := MarkOf(Environ(k.PID)); ok && carries(value) {
			found = append(found, k)
		}
	}
	return found, true
}

// deserted returns false: one call of the system tells of all processes.
func (Tree) deserted(func(int) bool, func(string) bool) bool { return false }

// Environ returns the arguments and the environment a process was started with.
func Environ(pid int) []byte {
	args, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil {
		return nil
	}
	return args
}
