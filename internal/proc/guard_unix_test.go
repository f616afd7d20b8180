//go:build unix

package proc_test

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/internal/guardian"
	"github.com/mcpctl/mcpctl/internal/proc"
)

// newGuard starts a guard whose guardian is this binary.
func newGuard() *guardian.Guard {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return guardian.New(guardian.Options{
		Path: exe, Args: []string{"mcp-guardian", "-act", "guardian"},
		Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
}

// begin starts a child, and the guardian with it.
func begin(guard *guardian.Guard) {
	if p, err := proc.Start(proc.Options{Command: "true", Guard: guard}); err == nil {
		p.Stop(time.Minute, time.Minute)
	}
}

// storm starts and stops children of all kinds without end, four at a time, and
// says when it has begun. The first of its words is in the environment of all.
func storm(words []string) int {
	guard := newGuard()
	begin(guard)
	fmt.Println("up", guard.PID())
	scripts := []string{
		"exec sleep 60",
		"sleep 60 & sleep 60",
		"trap '' TERM; sleep 60 & sleep 60",
		"setsid sleep 60 & exec sleep 60",
		"trap '' TERM; setsid sh -c 'sleep 60 & sleep 60' & sleep 60 &",
		"while :; do sleep 0.01; done & cat",
		"exit 3",
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			var stored []*proc.Process
			for range 200 {
				p, err := proc.Start(proc.Options{
					Command: "sh", Args: []string{"-c", scripts[rand.IntN(len(scripts))]},
					Env: append(os.Environ(), "STORM="+words[0]), Guard: guard,
				})
				if err != nil {
					fmt.Println(err)
					return
				}
				if stored = append(stored, p); len(stored) > 4 {
					stored[0].Stop(time.Duration(rand.IntN(10))*time.Millisecond, time.Duration(rand.IntN(10))*time.Millisecond)
					stored = stored[1:]
				}
			}
		})
	}
	wg.Wait()
	return 0
}

// keep keeps two children that have cleared their environment, and says who the
// guardian is whenever there is a new one.
func keep(words []string) int {
	guard := newGuard()
	for range 2 {
		cmd := actor("bare=ignore-term+err=up+sleep+"+words[0], "err=up", "eof")
		p, err := proc.Start(proc.Options{Command: cmd.Path, Args: cmd.Args[1:], Guard: guard})
		if err != nil {
			fmt.Println(err)
			return 1
		}
		_, _ = p.Stderr.Read(make([]byte, 1))
	}
	last := 0
	for range 6000 {
		if pid := guard.PID(); pid != 0 && pid != last {
			last = pid
			fmt.Println("up", pid)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return 0
}
