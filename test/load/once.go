package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// once starts a server, makes the handshake, calls its tool echo and prints the text.
func once(args []string) (err error) {
	if len(args) < 2 {
		return errors.New("usage: load once TEXT COMMAND ARGS")
	}
	cmd := exec.Command(args[1], args[2:]...)
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
	defer func() { err = errors.Join(err, in.Close(), cmd.Wait()) }()
	text, err := json.Marshal(args[0])
	if err != nil {
		return err
	}
	lines := bufio.NewReader(out)
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"once","version":"1"}}}`
	if _, err := fmt.Fprintln(in, hello); err != nil {
		return err
	}
	if _, err := lines.ReadBytes('\n'); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(in, "%s\n"+`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":%s}}}`+"\n",
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`, text); err != nil {
		return err
	}
	line, err := lines.ReadBytes('\n')
	if err != nil {
		return err
	}
	var answer struct {
		Result struct{ Content []struct{ Text string } }
	}
	if err := json.Unmarshal(line, &answer); err != nil || len(answer.Result.Content) != 1 {
		return fmt.Errorf("another answer: %s", line)
	}
	fmt.Println(answer.Result.Content[0].Text)
	return nil
}
