// Package policies is the command mcpctl policy: it shows, checks, tests and explains who
// may do what, and imports the access lists of others.
package policies

import "github.com/mcpctl/mcpctl/cmd/internal/ui"

// Program is what the commands need of the program that they run in.
type Program struct {
	UI *ui.UI
}
