package main_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	goruntime "runtime"

	"github.com/mcpctl/mcpctl/cmd/internal/cli"
	"github.com/mcpctl/mcpctl/test/load/echo"
)

// countVariable names the file into which a counted mcpctl writes where it
// tells its count.
const countVariable = "COUNTED_ADDRESS_FILE"

// counted is mcpctl as it is, beside which a port tells how many allocations
// the process has made.
func counted() {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	go http.Serve(ln, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		var m goruntime.MemStats
		goruntime.ReadMemStats(&m)
		fmt.Fprint(w, m.Mallocs)
	}))
	if file := os.Getenv(countVariable); file != "" {
		if err := os.WriteFile(file, []byte(ln.Addr().String()), 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// loadEcho is the server that load is put on.
func loadEcho() {
	if err := echo.Serve(os.Stdin, os.Stdout, echo.Options{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
