package proc

import (
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// measure asks each process of the trees. There are no process groups: what
// counts is who has started whom, as far as the starter still lives.
func measure(asked []int) map[int]Figures {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return nil
	}
	defer func() { _ = windows.CloseHandle(snapshot) }()
	memory := windows.NewLazySystemDLL("kernel32.dll").NewProc("K32GetProcessMemoryInfo")
	var all []sample
	entry := windows.ProcessEntry32{Size: uint32(unsafe.Sizeof(windows.ProcessEntry32{}))}
	for err = windows.Process32First(snapshot, &entry); err == nil; err = windows.Process32Next(snapshot, &entry) {
		p := sample{pid: int(entry.ProcessID), parent: int(entry.ParentProcessID), rss: -1, cpu: -1}
		p.ask(memory)
		all = append(all, p)
	}
	return sum(all, asked)
}

// memoryCounters are PROCESS_MEMORY_COUNTERS of psapi.h.
type memoryCounters struct {
	size, faults                                                   uint32
	peakWorkingSet, workingSet                                     uintptr
	peakPaged, paged, peakNonPaged, nonPaged, pagefile, peakOfFile uintptr
}

// ask fills in when the process was started, what it has computed and its
// working set, where we may know.
func (p *sample) ask(memory *windows.LazyProc) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(p.pid))
	if err != nil {
		return
	}
	defer func() { _ = windows.CloseHandle(h) }()
	var created, ended, kernel, user windows.Filetime
	if windows.GetProcessTimes(h, &created, &ended, &kernel, &user) == nil {
		p.started = time.Unix(0, created.Nanoseconds())
		// Filetime.Nanoseconds counts from 1970: these two are spans.
		span := func(f windows.Filetime) time.Duration {
			return time.Duration(int64(f.HighDateTime)<<32|int64(f.LowDateTime)) * 100
		}
		p.cpu = span(kernel) + span(user)
	}
	if memory.Find() != nil {
		return
	}
	m := memoryCounters{size: uint32(unsafe.Sizeof(memoryCounters{}))}
	if ok, _, _ := memory.Call(uintptr(h), uintptr(unsafe.Pointer(&m)), uintptr(m.size)); ok != 0 {
		p.rss = int64(m.workingSet)
	}
}
