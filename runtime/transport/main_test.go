package transport_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

func TestMain(m *testing.M) {
	if runtimetest.IsFake() {
		os.Exit(runtimetest.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	goleak.VerifyTestMain(m)
}
