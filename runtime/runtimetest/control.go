package runtimetest

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"

	"github.com/mcpctl/mcpctl/runtime/runtimetest/internal/wire"
)

// Command does what a line says and returns the answer, for servers in other
// processes (fake-mcp -control):
//
//	status              → Status as JSON
//	change KIND         → Change
//	touch URI           → Touch
//	ask METHOD          → AskOutside
//	drop                → Drop
func (s *Server) Command(line string) string {
	word, arg, _ := strings.Cut(strings.TrimSpace(line), " ")
	switch word {
	case "status":
		return string(wire.Marshal(s.Status()))
	case "change":
		s.Change(arg)
	case "touch":
		s.Touch(arg)
	case "ask":
		s.AskOutside(context.Background(), arg) // ends with the connection that is asked
	case "drop":
		s.Drop()
	default:
		return `{"error":"unknown command"}`
	}
	return "{}"
}

// control connects to a test and does what its lines say, until it ends.
func control(s *Server, addr string) error {
	c, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", addr)
	if err != nil {
		return err
	}
	go func() { // ends with the process
		defer c.Close()
		lines := bufio.NewScanner(c)
		for lines.Scan() {
			if _, err := fmt.Fprintln(c, s.Command(lines.Text())); err != nil {
				return
			}
		}
	}()
	return nil
}
