package proctree

import (
	"os"
	"strconv"
)

// StartOf returns when a process was started, in ticks since boot; 0: not known.
func StartOf(pid int) uint64 {
	s, _ := ReadStat(pid, make([]byte, 1024))
	return s.Started
}

// Find returns a living process.
func Find(pid int) (Process, bool) {
	s, ok := ReadStat(pid, make([]byte, 1024))
	return Process{s.PID, s.Group, s.Started}, ok && s.Living()
}

// Look returns the living processes whose group is in, and with carries those
// outside whose environment has a mark that it takes. Processes older than
// since cannot be meant. False: /proc cannot be read.
func Look(in func(group int) bool, carries func(value string) bool, since uint64) (found []Process, sees bool) {
	all := PIDs()
	buf := make([]byte, 8<<10)
	self := os.Getpid()
	for _, pid := range all {
		s, ok := ReadStat(pid, buf[:1024])
		if !ok || !s.Living() || s.Started < since || pid == self {
			continue
		}
		if in(s.Group) {
			found = append(found, Process{s.PID, s.Group, s.Started})
			continue
		}
		if carries == nil {
			continue
		}
		var environ []byte
		environ, buf = readEnviron(pid, buf)
		if value, ok := MarkOf(environ); ok && carries(value) {
			found = append(found, Process{s.PID, s.Group, s.Started})
		}
	}
	return found, len(all) > 0
}

// Environ returns the environment a process was started with.
func Environ(pid int) []byte {
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
