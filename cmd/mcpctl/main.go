// Command mcpctl manages Model Context Protocol servers: it finds and adds
// them, calls their tools, generates typed Go clients and serves many of them
// behind one endpoint.
package main

import (
	"os"

	"github.com/mcpctl/mcpctl/cmd/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
