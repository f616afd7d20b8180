package runtime_test

import (
	"flag"
	"testing"

	"github.com/mcpctl/mcpctl/test/api"
)

var update = flag.Bool("update", false, "rewrite testdata/api.txt")

// TestAPI holds the exported API of the package to testdata/api.txt: it is a
// semver promise, and a change of it is to be seen in a diff. After an
// intended change: go test ./runtime -run TestAPI -update.
func TestAPI(t *testing.T) { api.Check(t, *update) }
