package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
)

// relay is the least that a proxy on standard input and output can do: it
// copies what it is given, both ways, and reads none of it.
func relay(args []string) error {
	if len(args) == 0 {
		return errors.New("relay needs a command")
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	var there sync.WaitGroup
	there.Go(func() {
		copyBytes(in, os.Stdin)
		_ = in.Close()
	})
	copyBytes(os.Stdout, out)
	err = cmd.Wait()
	there.Wait()
	return err
}

// copyBytes copies until either side has ended. It goes through memory, as a
// proxy has to: io.Copy may leave it all to the system.
func copyBytes(w io.Writer, r io.Reader) {
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			if _, werr := w.Write(buf[:n]); werr != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
