package ui

import (
	"bytes"
	"os"
	"os/exec"
	"os/signal"
	"runtime"

	"golang.org/x/term"
)

// Page runs show, and has what it writes read in a pager if that is longer than the terminal.
// command is the pager, as a shell runs it; without one, and with NoInput, nothing is paged.
func (u *UI) Page(command string, environ []string, show func() error) error {
	out, isFile := u.Out.(*os.File)
	if command == "" || !u.OutTTY || !u.InTTY || u.NoInput || !isFile {
		return show()
	}
	c, err := u.collect(show)
	_, height, _ := term.GetSize(int(out.Fd())) // 0 where it is not known
	if err != nil || height <= 0 || bytes.Count(c.out.Bytes(), []byte("\n")) < height || !u.paged(command, environ, c.out.Bytes()) {
		if _, failed := u.Out.Write(c.out.Bytes()); err == nil {
			err = failed
		}
	}
	u.live.print(u.Err, c.notes.String())
	return err
}

// paged reports whether a pager has shown a text. The keys that interrupt are the pager's until
// it ends.
func (u *UI) paged(command string, environ []string, text []byte) bool {
	words := []string{"/bin/sh", "-c", command}
	if runtime.GOOS == "windows" {
		words = []string{"cmd", "/c", command}
	}
	cmd := exec.Command(words[0], words[1:]...) //nolint:noctx // its user ends it
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(text), u.Out, u.Err
	cmd.Env = environ
	if cmd.Start() != nil {
		return false
	}
	signal.Ignore(os.Interrupt)
	_ = cmd.Wait() // how a pager ends says nothing about the text
	code := cmd.ProcessState.ExitCode()
	return code != 126 && code != 127 // with which a shell says that there is no pager
}
