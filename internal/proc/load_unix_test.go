//go:build unix

package proc_test

import (
	"fmt"
	goruntime "runtime"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/mcpctl/mcpctl/internal/proc"
)

// open lists the open descriptors, by asking for each: looking at a directory
// would open one.
func open() (fds []int) {
	for fd := range 4096 {
		var st syscall.Stat_t
		if syscall.Fstat(fd, &st) == nil {
			fds = append(fds, fd)
		}
	}
	return fds
}

// starve starts a child with room for fewer and fewer more files.
func starve() int {
	once := func() error {
		p, err := proc.Start(proc.Options{Command: "/bin/true"})
		if err == nil {
			p.Stop(time.Minute, time.Minute)
		}
		return err
	}
	if err := once(); err != nil { // the poller has its files now
		fmt.Println(err)
		return 1
	}
	before := len(open())
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		fmt.Println(err)
		return 1
	}
	failed := 0
	for space := 12; space >= 0; space-- {
		limit.Cur = uint64(before + space)
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
			fmt.Println(err)
			return 1
		}
		if once() != nil {
			failed++
		}
		if after := open(); len(after) != before {
			fmt.Println("room for", space, "files: open before", before, "after", after)
			return 1
		}
	}
	if failed < 6 || failed > 12 {
		fmt.Println(failed, "of 13 have failed")
		return 1
	}
	fmt.Println("fine")
	return 0
}

// many starts and stops a thousand children, eight at a time.
func many() int {
	guard := newGuard()
	round := func(n int) error {
		var g errgroup.Group
		g.SetLimit(8)
		for i := range n {
			g.Go(func() error {
				o := proc.Options{Command: "/bin/true"}
				if i%2 == 0 {
					o.Guard = guard
				}
				p, err := proc.Start(o)
				if err != nil {
					return err
				}
				if i%4 < 2 {
					<-p.Done()
				}
				p.Stop(time.Minute, time.Minute)
				return nil
			})
		}
		return g.Wait()
	}
	if err := round(16); err != nil {
		fmt.Println(err)
		return 1
	}
	files, goroutines := len(open()), goruntime.NumGoroutine()
	if err := round(1000); err != nil {
		fmt.Println(err)
		return 1
	}
	for end := time.Now().Add(5 * time.Minute); goruntime.NumGoroutine() > goroutines && time.Now().Before(end); {
		time.Sleep(time.Millisecond) // ones that have done their work are just going
	}
	if f, g := len(open()), goruntime.NumGoroutine(); f > files || g > goroutines {
		fmt.Printf("files %d, then %d; goroutines %d, then %d\n", files, f, goroutines, g)
		return 1
	}
	guard.Close()
	var status syscall.WaitStatus
	if pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil); err != syscall.ECHILD {
		fmt.Println("a child is left:", pid, err)
		return 1
	}
	fmt.Println("fine")
	return 0
}
