package support_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/support"
	"github.com/mcpctl/mcpctl/test/require"
)

var update = flag.Bool("update", false, "write the support code anew")

// roots are what generated code and its users refer to, directly. A * stands for
// all exported names of a package, or of a file of it.
func roots() map[string][]string {
	return map[string][]string{
		support.Module + "/runtime/codegen": {"*"},
		support.Module + "/runtime": {
			"Caller", "CallOption", "CallOptions", "CallSettings", "Opt", "Some", "Null", "ParseToolResult", "JSON",
			"ToolResult", "PromptResult", "ResourceResult", "Tool", "Prompt", "Resource", "ResourceTemplate",
			"Error", "FieldError", "ToolError", "ResultError", "DriftError", "DriftIgnore", "DriftWarn", "DriftFail",
			"WithProgress", "WithTimeout", "WithMeta", "WithValidation", "WithDrift",
			"format*.go",
		},
	}
}

// TestFresh fails where the packages have changed and support.txt has not; with
// -update it writes the file.
func TestFresh(t *testing.T) {
	t.Parallel()
	c := newCollector(support.Module, "../../../..")
	units, err := c.collect(roots())
	require.NoError(t, err)
	var b bytes.Buffer
	for _, u := range units {
		fmt.Fprintf(&b, "-- %s | %s | %s --\n%s", strings.Join(u.Keys, " "), strings.Join(u.Needs, " "), strings.Join(u.Imports, " "), u.Text)
	}
	old, err := os.ReadFile(support.File)
	switch {
	case err != nil:
		t.Fatal(err)
	case bytes.Equal(old, b.Bytes()):
	case !*update:
		t.Errorf("%s is not what the packages hold now: go generate ./scaffold/gogen/internal/support", support.File)
	default:
		require.NoError(t, os.WriteFile(support.File, b.Bytes(), 0o644))
		t.Logf("%s: %d declarations", support.File, len(units))
	}
	if _, err := c.collect(map[string][]string{support.Module + "/runtime": {"Nothing"}}); err == nil {
		t.Error("a root that is not there: no error")
	}
}
