package proc

import "time"

// Figures are what a process and everything that it has started use.
type Figures struct {
	// PID is the process that was asked about.
	PID int
	// Started is when it was started; zero where that is not known.
	Started time.Time
	// Processes is how many of the tree live, itself included.
	Processes int
	// RSS is the resident memory of all of them in bytes; what they share is
	// counted in each. -1: not known.
	RSS int64
	// CPU is the time they have spent computing, in user and in kernel mode,
	// with that of descendants that have ended and were waited for. -1: not
	// known.
	CPU time.Duration
}

// Measure returns the figures of the trees of some processes, which are leaders
// of process groups as Start makes them: the group, and the descendants of its
// members that have left it. Processes that do not live are left out. It looks
// at every process of the machine once, whichever number is asked about: a few
// milliseconds. The trees must not overlap.
//
// Linux reads /proc. On macOS and the BSDs ps(1) tells, and where it does not
// the outcome is empty. On Windows a snapshot of the processes tells who has
// started whom.
func Measure(pids ...int) map[int]Figures {
	if len(pids) == 0 {
		return nil
	}
	return measure(pids)
}

// sample is one process, as far as the figures need it.
type sample struct {
	pid, parent, group int
	started            time.Time
	rss                int64         // bytes, -1: not known
	cpu                time.Duration // -1: not known
}

// sum adds all up by tree.
func sum(all []sample, pids []int) map[int]Figures {
	byID := make(map[int]*sample, len(all))
	for i := range all {
		byID[all[i].pid] = &all[i]
	}
	out := make(map[int]Figures, len(pids))
	for _, pid := range pids {
		if p := byID[pid]; p != nil {
			out[pid] = Figures{PID: pid, Started: p.started}
		}
	}
	for i := range all {
		root, ok := all[i].tree(byID, out)
		if !ok {
			continue
		}
		f, p := out[root], &all[i]
		f.Processes++
		f.RSS, f.CPU = add(f.RSS, p.rss), add(f.CPU, p.cpu)
		out[root] = f
	}
	return out
}

// tree finds the process asked about whose tree p belongs to. The way up is
// bounded: ids may have been reused while they were read.
func (p *sample) tree(byID map[int]*sample, asked map[int]Figures) (int, bool) {
	for range 64 {
		if _, ok := asked[p.group]; ok && p.group != 0 {
			return p.group, true
		}
		if _, ok := asked[p.pid]; ok {
			return p.pid, true
		}
		up := byID[p.parent]
		if up == nil || up == p {
			return 0, false
		}
		p = up
	}
	return 0, false
}

func add[N ~int64](a, b N) N {
	if a < 0 || b < 0 {
		return -1
	}
	return a + b
}
