package clitool

import (
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/clihelp"
)

// TestReads: commands of well-known programs, with the summaries of their helps.
func TestReads(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"kubectl get: Display one or many resources":                true,
		"helm list: list releases":                                  true,
		"git status: Show the working tree status":                  true,
		"git log: Show commit logs":                                 true,
		"docker inspect: Return low-level information":              true,
		"apt show: show package details":                            true,
		"ansible-galaxy info: View more details about a role":       true,
		"jq: Command-line JSON processor":                           true,
		"ls: List information about the FILEs":                      true,
		"npm version: Bump a package version":                       false,
		"uv version: Read or update the project's version":          false,
		"poetry version: Shows the version of the project or bumps": false,
		"go get: add dependencies to current module":                false,
		"dart get: Get the current package's dependencies.":         false,
		"s3cmd get: Get file from bucket":                           false,
		"terraform get: Install or upgrade remote modules":          false,
		"arch: run a program for an architecture":                   false,
		"systemctl start: Start units":                              false,
		"uv tree: Display the dependency tree":                      false,
	} {
		words, summary, _ := strings.Cut(line, ": ")
		tool, sub, _ := strings.Cut(words, " ")
		if got := reads(tool, &clihelp.Command{Path: strings.Fields(sub), Summary: summary}); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}
