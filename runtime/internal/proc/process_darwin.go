package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// zombie is SZOMB of sys/proc.h.
const zombie = 5

func startOf(pid int) uint64 {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0
	}
	return processOf(k).started
}

func find(pid int) (process, bool) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || k.Proc.P_stat == zombie {
		return process{}, false
	}
	return processOf(k), true
}

func processOf(k *unix.KinfoProc) process {
	at := k.Proc.P_starttime
	return process{int(k.Proc.P_pid), int(k.Eproc.Pgid), uint64(at.Sec)*1e6 + uint64(at.Usec)}
}

// look gives the living processes of this user whose group is in, and with
// carries those outside whose environment has a Mark that it takes; programs
// that the system protects do not show theirs. Processes older than since
// cannot be meant. False: the system does not tell.
func look(in func(group int) bool, carries func(value string) bool, since uint64) (found []process, sees bool) {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.uid", os.Getuid())
	if err != nil {
		return nil, false
	}
	self := os.Getpid()
	for i := range all {
		k := processOf(&all[i])
		if all[i].Proc.P_stat == zombie || k.started < since || k.pid == self {
			continue
		}
		if in(k.group) {
			found = append(found, k)
			continue
		}
		if carries == nil {
			continue
		}
		if value, ok := markOf(environOf(k.pid)); ok && carries(value) {
			found = append(found, k)
		}
	}
	return found, true
}

// environOf gives the arguments and the environment a process was started with.
func environOf(pid int) []byte {
	args, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil {
		return nil
	}
	return args
}
