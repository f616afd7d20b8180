package proc

import (
	"os"
	"strconv"
)

// startOf tells when a process was started, in ticks since boot; 0: not known.
func startOf(pid int) uint64 {
	s, _ := readStat(pid, make([]byte, 1024))
	return s.started
}

// find gives a living process.
func find(pid int) (process, bool) {
	s, ok := readStat(pid, make([]byte, 1024))
	return process{s.pid, s.group, s.started}, ok && s.living()
}

// look gives the living processes whose group is in, and with carries those
// outside whose environment has a Mark that it takes. Processes older than
// since cannot be meant. False: /proc cannot be read.
func look(in func(group int) bool, carries func(value string) bool, since uint64) (found []process, sees bool) {
	all := pids()
	buf := make([]byte, 8<<10)
	self := os.Getpid()
	for _, pid := range all {
		s, ok := readStat(pid, buf[:1024])
		if !ok || !s.living() || s.started < since || pid == self {
			continue
		}
		if in(s.group) {
			found = append(found, process{s.pid, s.group, s.started})
			continue
		}
		if carries == nil {
			continue
		}
		var environ []byte
		environ, buf = readEnviron(pid, buf)
		if value, ok := markOf(environ); ok && carries(value) {
			found = append(found, process{s.pid, s.group, s.started})
		}
	}
	return found, len(all) > 0
}

// environOf gives the environment a process was started with.
func environOf(pid int) []byte {
	environ, _ := readEnviron(pid, make([]byte, 8<<10))
	return environ
}

// environMost bounds what is read of one environment; the kernel allows 6 MiB
// for all arguments and variables.
const environMost = 6 << 20

// readEnviron reads the environment a process was started with, into buf or a
// larger one; nothing where it is another user's, or has none.
func readEnviron(pid int, buf []byte) (environ, larger []byte) {
	name := "/proc/" + strconv.Itoa(pid) + "/environ"
	n := readFile(name, buf)
	for n == len(buf) && n < environMost {
		buf = make([]byte, 4*len(buf))
		n = readFile(name, buf)
	}
	return buf[:n], buf
}
