//go:build unix

package proc_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/guardian"
	"github.com/mcpctl/mcpctl/internal/proc"
	"github.com/mcpctl/mcpctl/test/require"
)

// act is the life of a process of the tests: it does what the words say, one
// after the other.
//
//	ignore-term       SIGTERM is ignored
//	in, out           closes its standard input, its standard output
//	say=TEXT          writes a line to standard output
//	err=TEXT          writes a line to standard error
//	child=WORDS       starts another actor whose words are separated by "+" (one
//	                  level down by "++"), and goes on when that has written a
//	                  line to its standard error; it inherits the other streams
//	stray=WORDS       the same in a session of its own
//	apart=WORDS       the same in a group of its own
//	group=N+WORDS     the same in the process group N; LEADER, anywhere in the
//	                  words of a child, is the process that starts it
//	bare=WORDS        the same without an environment
//	eof               waits for the end of standard input
//	sleep             waits for a minute, the bound in case nobody ends it
//	exit=N, abort     ends
//	guardian          is the guardian of a Guard
//	storm, starve, many  see the tests of that name
//
// A word that begins with "#" is a token by which a test finds it.
func act(words []string) int {
	for i, word := range words {
		verb, arg, _ := strings.Cut(word, "=")
		switch verb {
		case "ignore-term":
			signal.Ignore(syscall.SIGTERM)
		case "in":
			_ = os.Stdin.Close()
		case "out":
			_ = os.Stdout.Close()
		case "say":
			fmt.Println(strings.ReplaceAll(arg, "PID", strconv.Itoa(os.Getpid())))
		case "err":
			fmt.Fprintln(os.Stderr, strings.ReplaceAll(arg, "PID", strconv.Itoa(os.Getpid())))
		case "child", "stray", "apart", "group", "bare":
			if err := spawn(verb, arg); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 9
			}
		case "eof":
			_, _ = io.Copy(io.Discard, os.Stdin)
		case "sleep":
			time.Sleep(time.Minute)
		case "exit":
			n, _ := strconv.Atoi(arg)
			return n
		case "abort":
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		case "guardian":
			guardian.Run(os.Stdin)
		case "storm":
			return storm(words[i+1:])
		case "keep":
			return keep(words[i+1:])
		case "starve":
			return starve()
		case "many":
			return many()
		}
	}
	return 0
}

// spawn starts another actor and returns when it has written to its standard
// error.
func spawn(verb, arg string) error {
	arg = strings.ReplaceAll(arg, "LEADER", strconv.Itoa(os.Getpid()))
	words := strings.Split(strings.ReplaceAll(arg, "++", "\x00"), "+")
	attr := &syscall.SysProcAttr{Setsid: verb == "stray", Setpgid: verb == "apart"}
	if verb == "group" {
		n, err := strconv.Atoi(words[0])
		if err != nil {
			return err
		}
		attr.Setpgid, attr.Pgid, words = true, n, words[1:]
	}
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], "\x00", "+")
	}
	cmd := actor(words...)
	cmd.SysProcAttr, cmd.Stdin, cmd.Stdout = attr, os.Stdin, os.Stdout
	if verb == "bare" {
		cmd.Env = []string{"GORACE=atexit_sleep_ms=0"}
	}
	up, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	_, err = io.ReadFull(up, make([]byte, 1))
	return err
}

// actor is the command of an actor.
func actor(words ...string) *exec.Cmd {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return exec.Command(exe, append([]string{"-act"}, words...)...)
}

// started starts an actor as a child.
func started(t *testing.T, o proc.Options, words ...string) *proc.Process {
	t.Helper()
	cmd := actor(words...)
	o.Command, o.Args = cmd.Path, cmd.Args[1:]
	if o.Env == nil {
		o.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	}
	p, err := proc.Start(o)
	require.NoError(t, err)
	t.Cleanup(func() { p.Stop(0, 0) })
	return p
}

// line reads one line of what a child writes.
func line(t *testing.T, from io.Reader) string {
	t.Helper()
	var text []byte
	for b := make([]byte, 1); ; {
		n, err := from.Read(b)
		if n > 0 && b[0] == '\n' {
			return string(text)
		}
		if err != nil {
			t.Fatalf("read %q, then %v", text, err)
		}
		text = append(text, b[0])
	}
}
